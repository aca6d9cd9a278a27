"""A host opens exactly the path that was checked. Every path argument of every tool is tested on
the hosts that run here, in every spelling that some application reads as a different path."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from callboard.ground.png import Picture, encode
from callboard.host_kit.misread_paths import from_elsewhere, holds_variable, misread_by_usd
from callboard.workspace.fields import WORKSPACE_PATH
from callboard_testing.fake_client import FakeClient
from e2e.serving import Program, callboard, environment
from needed import need

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="these are spellings on POSIX"),
]

#: Paths that some application reads as leading from the root to the folder next to it. ``{name}``
#: is a file.
LEAVES = [
    "x\\..\\..\\out\\{name}",
    "x\\..\\../../out/{name}",
    "\\..\\out\\{name}",
    "..\\out\\{name}",
    "../out/{name}",
    "a/../../out/{name}",
    "workspace://../out/{name}",
    "workspace://a\\..\\..\\out\\{name}",
    "workspace://%2e%2e/out/{name}",
    "workspace://..%5cout%5c{name}",
    "link/{name}",
    "workspace://link/{name}",
    "{root}/link/{name}",
    "{root}/../out/{name}",
    "{root}/deep/../../out/{name}",
    "{root}/x\\..\\..\\out\\{name}",
    "file://{root}/x%5C..%5C..%5Cout%5C{name}",
    "file://{root}/../out/{name}",
    "//../out/{name}",
    "//{root}/../out/{name}",
    "//out/{name}",
    "\\\\..\\out\\{name}",
    "C:\\..\\..\\out\\{name}",
    "C:/../../out/{name}",
    "C:\\x/../../../out/{name}",
    "{root}/down/../../out/{name}",
    "{out}/{name}",
]
#: Paths in which some application would replace parts. Each must stay inside or be refused.
ODD = [
    "~/{name}",
    "$OUT/{name}",
    "${{OUT}}/{name}",
    "%OUT%/{name}",
    "`echo x`/{name}",
    "x####{name}",
    "<UDIM>{name}",
    "%04d{name}",
    "{{blend_dir}}{name}",
    "aside.usda:SDF_FORMAT_ARGS:a=b/{name}",
    "x.usdz[{name}",
    "anon:{name}",
    "{long}{name}",
    " {name}",
    "{name} ",
    "{name}/",
    "\u202e{name}",
]
NAMES = {
    "usd": "secret.usda",
    "check": "secret.usda",
    "file": "secret.{scene}",
    "exchange": "secret.{exchange}",
    "scene": "secret.{scene}",
    "render": "secret.png",
    "materials": "secret.png",
    "lights": "secret.png",
}
SCENE = {"openusd": "usda", "blender": "blend"}
EXCHANGE = {"openusd": "usda", "blender": "obj"}
SECRET_OBJ = "o TopSecret\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
SECRET = '#usda 1.0\n(\n    defaultPrim = "TopSecret"\n)\ndef Xform "TopSecret" {}\n'


@pytest.fixture(scope="module", params=["openusd", "blender"])
def kind(request: pytest.FixtureRequest) -> str:
    needs = {"openusd": "pxr", "blender": "bpy"}[request.param]
    need(needs)
    return str(request.param)


class Place:
    """A root, a folder next to it that no call may reach, and a running host."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        self.root, self.out = folder / "root", folder / "out"
        for each in (self.root / "deep", self.root / "x", self.out / "deep" / "er"):
            each.mkdir(parents=True)
        (self.root / "link").symlink_to(self.out)
        (self.root / "down").symlink_to(self.out / "deep" / "er")
        (self.out / "secret.usda").write_text(SECRET, encoding="utf-8")
        (self.out / "secret.obj").write_text(SECRET_OBJ, encoding="utf-8")
        (self.out / "secret.png").write_bytes(encode(Picture(1, 1, bytes((255, 0, 0)))))
        (self.root / "aside.usda:SDF_FORMAT_ARGS:a=b").mkdir()
        self.client: FakeClient

    def spelled(self, pattern: str, name: str) -> str:
        return pattern.format(name=name, root=self.root, out=self.out, long="x" * 1000 + "/../")

    def outside(self) -> dict[str, bytes | None]:
        return {
            str(path): path.read_bytes() if path.is_file() else None
            for path in sorted(self.out.parent.rglob("*"))
            if self.root not in path.parents and "home" not in path.parts
        }

    def open_anew(self) -> None:
        """Open the saved scene again, without imports and environments, which slow down renders."""
        opened = self.call(
            "scene__open_file", {"path": f"scene.{SCENE[self.kind]}", "discard_changes": True}
        )
        assert not opened["result"]["isError"], opened

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = self.client.request(
            "tools/call", {"name": tool, "arguments": dict(arguments)}
        )
        return answer


@pytest.fixture(scope="module")
def place(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp(kind)
    made = Place(kind, folder)
    command = callboard("serve", "--host", kind, "--root", str(made.root), "--roots-policy")
    env = {**environment(folder / "home"), "OUT": str(made.out), "HOME": str(made.out)}
    with (
        Program([*command, "strict"], env) as program,
        FakeClient(program.url, program.token) as client,
    ):
        made.client = client
        made.call("scene__create_primitive", {"kind": "cube"})
        made.call("materials__create", {"name": "Look"})
        # Blender reads two slashes as the folder of the scene.
        saved = made.call("scene__save_file", {"path": f"scene.{SCENE[kind]}"})
        assert not saved["result"]["isError"], saved
        for rare in ("check", "exchange", "lights", "materials", "usd"):
            made.call("skills__load", {"name": rare})
        yield made


def file_name(tool: str, kind: str) -> str:
    return NAMES[tool.partition("__")[0]].format(scene=SCENE[kind], exchange=EXCHANGE[kind])


def path_tools(place: Place) -> dict[str, dict[str, Any]]:
    """Return, for every tool with a path, the name of its path argument, and further arguments that
    make the tool quick."""
    quick = {"width": 16, "height": 16, "frames": 1, "discard_changes": True}
    needed = {"materials__set_texture": {"name": "Look", "slot": "color"}}
    tools = {}
    for tool in place.client.request("tools/list")["result"]["tools"]:
        if tool.get("_meta", {}).get("dcc", {}).get("missing_capabilities"):
            continue
        properties = tool["inputSchema"].get("properties", {})
        paths = [n for n, p in properties.items() if p.get("format") == WORKSPACE_PATH]
        if paths:
            (path,) = paths
            rest = {name: value for name, value in quick.items() if name in properties}
            rest |= needed.get(tool["name"], {})
            tools[tool["name"]] = {"argument": path, "rest": rest}
    return tools


@pytest.mark.parametrize("patterns", [LEAVES, ODD], ids=["leaves", "odd"])
def test_nothing_outside_the_root_is_read_or_written(place: Place, patterns: list[str]) -> None:
    tools = path_tools(place)
    wanted = {"usd__export_usd", "usd__import_usd", "scene__open_file", "scene__save_file"}
    wanted |= {"materials__set_texture", "lights__set_environment"}
    wanted |= {"exchange__import", "exchange__export"}
    if place.kind == "blender":
        wanted |= {"render__still", "render__turntable"}
    assert wanted <= set(tools)
    before = place.outside()
    passed = []
    for pattern in patterns:
        if patterns is ODD:  # Many of these calls succeed.
            place.open_anew()
        for tool, how in tools.items():
            name = file_name(tool, place.kind)
            written = place.spelled(pattern, name)
            answer = place.call(tool, {how["argument"]: written, **how["rest"]})
            told = json.dumps(answer)
            assert "TopSecret" not in told, (tool, written)
            assert place.outside() == before, (tool, written)
            if "result" in answer and not answer["result"]["isError"]:
                passed.append((tool, written))
    if patterns is LEAVES:
        # Only paths that every application reads as inside the root may be accepted.
        assert passed == []


def test_a_plain_path_passes_for_every_tool_that_writes(place: Place) -> None:
    place.open_anew()
    for tool, how in path_tools(place).items():
        if not any(word in tool for word in ("export", "save", "still", "turntable")):
            continue
        name = file_name(tool, place.kind)
        for written in (name, f"workspace://deep/{name}", f"{place.root}/x/{name}"):
            if tool == "render__still":
                place.call("scene__create_primitive", {"kind": "cube"})
            answer = place.call(tool, {how["argument"]: written, **how["rest"]})
            assert not answer["result"]["isError"], (tool, written, answer)


@pytest.mark.parametrize(
    ("reason", "path"),
    [
        (from_elsewhere("C:\\x.ma", posix=True), "C:\\x.ma"),
        (from_elsewhere("C:/x.ma", posix=True), "C:/x.ma"),
        (from_elsewhere("a\\b.ma", posix=True), "a\\b.ma"),
        (misread_by_usd("/a/b.usda:SDF_FORMAT_ARGS:x=y/c.usda"), "format arguments"),
        (misread_by_usd("/a/b.usdz[c.usda"), "inside a package"),
        (holds_variable("/a/$HOME/b.ma", "Maya"), "a variable"),
        (holds_variable("~/b.ma", "Maya"), "a home"),
    ],
)
def test_what_is_misread_is_told_with_what_to_do(reason: str | None, path: str) -> None:
    assert reason is not None, path
    assert "; " in reason


@pytest.mark.parametrize("path", ["/a/b.usda", "C:\\a\\b.usda", "/a/b####.png", "/a/~b/c.ma"])
def test_what_is_read_as_it_is_written_passes(path: str) -> None:
    assert from_elsewhere(path, posix=not path.startswith("C:")) is None
    assert misread_by_usd(path) is None
    assert holds_variable(path, "Maya") is None
