"""Under ``strict``, a file inside a root can't lead out of it through the files that it names.
Tested on the hosts that run here, through an agent's tools."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callboard_testing.fake_client import FakeClient
from e2e.serving import Program, callboard, environment
from hosts.test_exact_paths import Place
from needed import need

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="it makes links"),
]
HERE = Path(__file__).parent
BLENDS = (
    *("out-linked", "relative-out-linked", "out-packed-up", "relative-out-packed-up"),
    *("out-through", "relative-out-through", "out-by-link", "relative-out-by-link"),
    *("out-textured", "out-sequenced", "out-sequence", "out-tiles"),
)
FINE = ("in-linked", "relative-in-linked", "in-packed-up", "in-textured", "in-packed")


def serving(kind: str, place: Place, *more: str) -> Program:
    options = ("--host", kind, "--root", str(place.root), "--roots-policy", "strict", *more)
    return Program(callboard("serve", *options), environment(place.root.parent / "home"))


def text_of(answer: dict[str, Any]) -> str:
    assert answer["result"]["isError"], answer
    return str(answer["result"]["content"][0]["text"])


@pytest.fixture(scope="module")
def blends(tmp_path_factory: pytest.TempPathFactory) -> Place:
    need("bpy")
    place = Place("blender", tmp_path_factory.mktemp("blends"))
    program = [sys.executable, str(HERE / "leading_blends.py"), str(place.root)]
    subprocess.run(program, check=True, capture_output=True, timeout=120, env={**os.environ})
    return place


@pytest.fixture(scope="module")
def blender(blends: Place) -> Iterator[Place]:
    with serving("blender", blends) as program, FakeClient(program.url, program.token) as client:
        blends.client = client
        yield blends


@pytest.mark.parametrize("name", BLENDS)
def test_blender_opens_nothing_that_leads_out(blender: Place, name: str) -> None:
    answer = blender.call("scene__open_file", {"path": f"{name}.blend", "discard_changes": True})
    refusal = text_of(answer)
    assert "outside of the workspace" in refusal
    assert "TopSecret" not in refusal
    listed = blender.call("scene__list_objects", {})
    assert "TopSecret" not in str(listed)


@pytest.mark.parametrize("name", FINE)
def test_blender_opens_what_stays_inside(blender: Place, name: str) -> None:
    answer = blender.call("scene__open_file", {"path": f"{name}.blend", "discard_changes": True})
    assert not answer["result"]["isError"], answer


@pytest.mark.parametrize("tool", ["render__still", "render__turntable"])
def test_a_render_writes_no_output_of_the_scene_outside(blender: Place, tool: str) -> None:
    opened = {"path": "in-outputs.blend", "discard_changes": True}
    assert not blender.call("scene__open_file", opened)["result"]["isError"]
    before = blender.outside()
    small = {"path": "picture.png", "width": 16, "height": 16}
    if tool == "render__turntable":
        small["frames"] = 1
    answer = blender.call(tool, small)["result"]
    assert not answer["isError"], answer
    assert sorted(answer["structuredContent"]["left_out"]) == ["output 0", "output 1", "output 3"]
    assert blender.outside() == before
    assert list((blender.root / "inside").iterdir())


def test_a_frame_whose_name_is_a_link_is_not_written_through(blender: Place) -> None:
    opened = {"path": "in-linked.blend", "discard_changes": True}
    assert not blender.call("scene__open_file", opened)["result"]["isError"]
    (blender.root / "turn_0001.png").symlink_to(blender.out / "turned.png")
    before = blender.outside()
    small = {"path": "turn_####.png", "width": 16, "height": 16, "frames": 1}
    answer = blender.call("render__turntable", small)
    assert "error" in answer or answer["result"]["isError"], answer
    assert blender.outside() == before


def test_what_the_artist_opened_is_not_rendered_either(blends: Place) -> None:
    scene = str(blends.root / "out-textured.blend")
    with (
        serving("blender", blends, "--scene", scene) as program,
        FakeClient(program.url, program.token) as client,
    ):
        for tool, path in (("render__still", "a.png"), ("usd__export_usd", "a.usda")):
            params = {"name": tool, "arguments": {"path": path}}
            answer = client.request("tools/call", params)
            assert "outside of the workspace" in text_of(answer), tool


USED = {
    "reference": 'def "a" (\n references = @../out/secret.usda@</TopSecret>\n)\n{\n}\n',
    "sublayer": "(\n subLayers = [@{out}/secret.usda@]\n)\n",
    "through a file inside": "(\n subLayers = [@./sublayer.usda@]\n)\n",
}


@pytest.fixture(scope="module", params=["openusd", "blender"])
def stages(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[Place]:
    need({"openusd": "pxr", "blender": "bpy"}[request.param])
    place = Place(request.param, tmp_path_factory.mktemp("stages"))
    for name, body in USED.items():
        text = "#usda 1.0\n" + body.replace("{out}", str(place.out))
        (place.root / f"{name}.usda").write_text(text, encoding="utf-8")
    with (
        serving(request.param, place) as program,
        FakeClient(program.url, program.token) as client,
    ):
        place.client = client
        yield place


@pytest.mark.parametrize("name", USED)
def test_no_stage_leads_out(stages: Place, name: str) -> None:
    tools = ["usd__import_usd", "usd__read_stage_metadata"]
    if stages.kind == "openusd":
        tools.append("scene__open_file")
    for tool in tools:
        answer = stages.call(tool, {"path": f"{name}.usda"})
        refusal = text_of(answer)
        assert "outside of the workspace" in refusal
        assert "TopSecret" not in refusal
    assert "TopSecret" not in str(stages.call("scene__list_objects", {}))


def test_a_stage_that_the_artist_opened_is_not_exported_with_what_is_outside(
    tmp_path: Path,
) -> None:
    need("pxr")
    place = Place("openusd", tmp_path)
    scene = place.root / "a.usda"
    scene.write_text("#usda 1.0\n(\n subLayers = [@../out/secret.usda@]\n)\n", encoding="utf-8")
    with (
        serving("openusd", place, "--scene", str(scene)) as program,
        FakeClient(program.url, program.token) as client,
    ):
        place.client = client
        answer = place.call("usd__export_usd", {"path": "flat.usda"})
        assert "outside of the workspace" in text_of(answer)
        assert not (place.root / "flat.usda").exists()
