"""Poly Haven's assets, from a server on this machine that speaks its API. The faults that Poly
Haven lists for other integrations don't occur here, and no response from a server can redirect a
download to another location."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from callboard.content import Image
from callboard.errors import HostError
from callboard.ground.held_folder import make_missing
from callboard.ports.capability_names import NETWORK
from callboard_testing.bench import Bench
from callboard_testing.fake_host import FakeHost
from docs.blocks import blocks
from needed import need
from poly_haven import FILES, HDR, PNG, PolyHaven, poly_haven
from serving import served

need("pxr")


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[PolyHaven, Any]]:
    monkeypatch.setenv("no_proxy", "*")
    with poly_haven() as both:
        yield both


@pytest.fixture
def haven(web: tuple[PolyHaven, Any]) -> PolyHaven:
    return web[0]


@pytest.fixture
def bench(web: tuple[PolyHaven, Any], tmp_path: Path) -> Bench:
    from callboard_openusd.host import OpenUsdHost

    host = OpenUsdHost(lambda fn: None)
    host.set_ports({**host.ports, NETWORK: web[1]})
    return Bench(host, tmp_path)


def _download(bench: Bench, id: str, **more: Any) -> Any:
    folder = bench.folder / "haven"
    folder.mkdir(exist_ok=True)
    return bench.call("assets__download", {"id": id, "folder": str(folder), **more})


def _import(bench: Bench, id: str, **more: Any) -> Any:
    asked = {"id": f"{id}_1k", "folder": str(bench.folder / "haven"), **more}
    return bench.call("assets__import", asked)


@pytest.fixture(autouse=True)
def _folders_are_made() -> Iterator[None]:
    """Allow folders to be made, as in a call that writes below a root."""
    token = make_missing.set(lambda folder: Path(folder).mkdir(parents=True, exist_ok=True))
    yield
    make_missing.reset(token)


def test_a_search_tells_the_same_as_of_a_folder(bench: Bench, haven: PolyHaven) -> None:
    answer = bench.call("assets__search_online", {"words": "wood", "previews": 2})
    assert [(one["id"], one["kind"]) for one in answer["assets"]] == [
        ("noon", "hdri"),
        ("bricks", "textures"),
        ("crate", "model"),
    ]
    crate = answer["assets"][2]
    assert (crate["licence"], crate["author"], crate["provider"]) == (
        "CC0",
        "Ann Author",
        "poly_haven",
    )
    assert crate["size"] == [0.5, 0.5, 0.5]
    assert answer["credit"] == "Powered by Poly Haven"
    assert sum(isinstance(block, Image) for block in bench.call.content) == 2
    haven.instead["/info/noon"] = (500, {}, b"")
    bench.call("assets__search_online", {"words": "wood", "previews": 2})
    assert sum(isinstance(block, Image) for block in bench.call.content) == 1


def test_a_texture_set_has_its_normals_connected_and_no_map_of_directx(bench: Bench) -> None:
    told = _download(bench, "bricks")
    assert {*told["files"]} == {"color", "normal", "roughness"}
    bench.cube("Wall")
    answer = _import(bench, "bricks", objects=["Wall"])
    textures = bench.port("materials").get(answer["created"][0])["textures"]
    assert Path(textures["normal"]["path"]).name == "bricks_nor_gl_1k.png"
    spaces = {slot: one["color_space"] for slot, one in textures.items()}
    assert spaces == {"color": "srgb", "normal": "raw", "roughness": "raw"}


def test_an_hdri_stays_where_the_scene_looks_for_it(bench: Bench) -> None:
    kept = _download(bench, "noon")["files"]["hdri"]
    environment = _import(bench, "noon")["environment"]
    assert Path(environment["path"]).samefile(kept)
    assert Path(kept).read_bytes() == HDR


def test_the_artists_own_environment_stays_in_the_file(bench: Bench) -> None:
    from pxr import UsdLux

    stage = bench.host.stage  # type: ignore[attr-defined]
    UsdLux.DomeLight.Define(stage, "/World/MySky").CreateIntensityAttr(3.0)
    _download(bench, "noon")
    _import(bench, "noon")
    mine = UsdLux.DomeLight(stage.GetPrimAtPath("/World/MySky"))
    assert mine.GetIntensityAttr().Get() == 3.0
    assert not mine.GetTextureFileAttr().Get()
    bench.host.undo.undo(bench.call.undo_id)  # type: ignore[union-attr,arg-type]
    assert bench.port("lights").environment()["path"] is None


def test_a_model_has_its_size_in_a_scene_in_centimetres(bench: Bench) -> None:
    assert bench.reader.info()["units_per_meter"] == pytest.approx(100)
    _download(bench, "crate", format="usd")
    answer = _import(bench, "crate")
    assert answer["measured"] == pytest.approx([0.5, 0.5, 0.5])
    assert answer["verified"] is True


def test_what_is_there_is_not_fetched_again(bench: Bench, haven: PolyHaven) -> None:
    assert _download(bench, "noon")["downloaded"] is True
    (listed,) = bench.call("assets__search", {"folder": str(bench.folder / "haven")})["assets"]
    assert (listed["author"], listed["licence"]) == ("Ann Author", "CC0")
    before = len([path for path in haven.asked if path.endswith(".hdr")])
    assert _download(bench, "noon")["downloaded"] is False
    assert len([path for path in haven.asked if path.endswith(".hdr")]) == before


def test_a_link_in_its_place_is_not_followed(bench: Bench) -> None:
    """A link to another folder isn't mistaken for an asset that was downloaded before."""
    _download(bench, "noon")
    inside, outside = bench.folder / "haven" / "noon_1k", bench.folder / "outside"
    inside.rename(outside)
    try:
        inside.symlink_to(outside, target_is_directory=True)
    except OSError:
        pytest.skip("links can't be made here")
    with pytest.raises(HostError, match="link"):
        _download(bench, "noon")


HOSTILE = [
    {"url": "https://elsewhere.example/noon_1k.hdr"},
    {"url": "https://dl.polyhaven.org.elsewhere.example/noon_1k.hdr"},
    {"url": "https://dl.polyhaven.org@elsewhere.example/noon_1k.hdr"},
    {"url": "http://dl.polyhaven.org/noon_1k.hdr"},
    {"url": "file:///etc/passwd.hdr"},
    {"url": f"{FILES}/file/noon.exe"},
    {"url": f"{FILES}/file/..%2f..%2fnoon.hdr"},
    {"url": f"{FILES}/file/ph-assets/HDRIs/hdr/1k/noon_1k.hdr\r\nX: y/a.hdr"},
    {"url": 7},
    {"size": 10},
    {"size": 10**9},
    {"size": -1},
    {"size": True},
    {"md5": "0" * 32},
    {"md5": None},
]


@pytest.mark.parametrize("change", HOSTILE, ids=str)
def test_a_file_that_is_not_as_described_is_refused(
    bench: Bench, haven: PolyHaven, change: dict[str, Any]
) -> None:
    haven.trees["noon"]["hdri"]["1k"]["hdr"].update(change)
    with pytest.raises(HostError):
        _download(bench, "noon")
    assert [*(bench.folder / "haven").iterdir()] == []


def test_what_stands_before_an_address_leads_nowhere_else(web: tuple[PolyHaven, Any]) -> None:
    # Python reads both as addresses of the server itself. The end of the second one would be
    # another server.
    for url in (f"HTTPS{FILES.removeprefix('https')}/a", f"{' ' * 13}{FILES}/a"):
        with pytest.raises(HostError, match="not a server that callboard may contact"):
            next(web[1].fetch(url, 10))


@pytest.mark.parametrize(
    "name",
    [
        *("../out.png", "/etc/out.png", "a/../../out.png", "C:\\out.png", "x.sh", "a/$HOME.png"),
        *(".x.png", "crate_1k.gltf", "CRATE.BIN", "a/b/c/d/e.png", "", "con\0.png", "ä.png"),
    ],
)
def test_a_name_that_leads_out_or_means_something_else_is_refused(
    bench: Bench, haven: PolyHaven, name: str
) -> None:
    included = haven.trees["crate"]["gltf"]["1k"]["gltf"]["include"]
    included[name] = included["textures/crate_diff_1k.png"]
    with pytest.raises(HostError):
        _download(bench, "crate")
    assert [path.name for path in bench.folder.rglob("*")] == ["haven"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_server_is_refused(
    bench: Bench, haven: PolyHaven, status: int
) -> None:
    path = "/file/ph-assets/HDRIs/hdr/1k/noon_1k.hdr"
    elsewhere = {"Location": "http://127.0.0.1:9/noon_1k.hdr"}
    haven.instead[path] = (status, elsewhere, b"")
    with pytest.raises(HostError, match="another server"):
        _download(bench, "noon")
    haven.bodies["/moved.hdr"] = HDR
    haven.instead[path] = (status, {"Location": "/moved.hdr"}, b"")
    assert _download(bench, "noon")["downloaded"] is True


@pytest.mark.parametrize(
    "answer",
    [
        (500, {}, b"broken"),
        (200, {}, b"<html>"),
        (200, {}, b"[" * 100_000),
        (200, {}, b'["a list"]'),
        (200, {"Content-Length": "99999999999"}, b"{}"),
        (200, {"Content-Length": "no number"}, b"{}"),
    ],
    ids=lambda answer: str(answer)[:40],
)
def test_an_answer_that_is_none_is_an_error_in_words(
    bench: Bench, haven: PolyHaven, answer: Any
) -> None:
    haven.instead["/info/noon"] = answer
    with pytest.raises(HostError, match=r"Poly Haven|polyhaven"):
        _download(bench, "noon")


def test_what_ends_too_early_is_not_kept(bench: Bench, haven: PolyHaven) -> None:
    path = "/file/ph-assets/HDRIs/hdr/1k/noon_1k.hdr"
    haven.instead[path] = (200, {"Content-Length": str(len(HDR))}, HDR[:-3])
    with pytest.raises(HostError, match=r"wrong size or MD5|can't be read"):
        _download(bench, "noon")
    assert [*(bench.folder / "haven").iterdir()] == []


def test_more_than_was_allowed_is_not_begun(bench: Bench, haven: PolyHaven) -> None:
    haven.trees["noon"]["hdri"]["1k"]["hdr"]["size"] = 2_000_000
    with pytest.raises(HostError, match="max_megabytes"):
        _download(bench, "noon", max_megabytes=1)
    assert not [path for path in haven.asked if path.endswith(".hdr")]


def _reaching(network: Any) -> FakeHost:
    host = FakeHost()
    host.set_ports({**host.ports, NETWORK: network})
    return host


def test_it_may_be_allowed_from_the_start(web: tuple[PolyHaven, Any]) -> None:
    reaching = partial(_reaching, web[1])
    with served(reaching, skills=True) as server:
        why = server.app.capabilities.in_words([NETWORK])
        assert "off until the artist switches it on" in why
        assert "--allow network" in why
    with served(reaching, skills=True, allow=[NETWORK]) as server, server.client() as client:
        assert client.call("assets__search_online")["structuredContent"]["total"] == 3
        server.app.capabilities.withdraw(NETWORK)
        call = {"name": "assets__search_online", "arguments": {}}
        assert client.request("tools/call", call)["error"]["code"] == -32001


def test_it_is_off_until_the_artist_allows_it(web: tuple[PolyHaven, Any], tmp_path: Path) -> None:
    reaching = partial(_reaching, web[1])
    with served(reaching, skills=True, roots=[str(tmp_path)]) as server, server.client() as client:
        call = {"name": "assets__search_online", "arguments": {}}
        refused = client.request("tools/call", call)["error"]
        assert (refused["code"], refused["data"]["missing"]) == (-32001, ["network"])
        assert web[0].asked == []
        server.app.capabilities.restore(NETWORK)
        assert client.call("assets__search_online")["structuredContent"]["total"] == 3
        asked = {"id": "noon", "folder": "workspace://assets/poly_haven"}
        told = client.call("assets__download", asked)["structuredContent"]
        kept = tmp_path.resolve() / "assets" / "poly_haven" / "noon_1k"
        assert {path.name for path in kept.iterdir()} == {
            "noon_1k.hdr",
            "asset.json",
            "preview.png",
        }
        manifest = json.loads((kept / "asset.json").read_text("utf-8"))
        assert manifest["source"] == told["asset"]["source"]


def test_the_call_on_the_page_of_assets_brings_a_floor(
    web: tuple[PolyHaven, Any], bench: Bench, tmp_path: Path
) -> None:
    (block,) = (one for one in blocks("docs/assets.md") if "elsewhere" in one.words)
    tool, arguments = block.words.split()[0], json.loads(block.text)
    pictures = {"Diffuse": "floor_diff_2k.png", "Rough": "floor_rough_2k.png"}
    files = {name: web[0].file(f"Textures/png/2k/{file}", PNG) for name, file in pictures.items()}
    tree = {name: {"2k": {"png": file}} for name, file in files.items()}
    web[0].add("brick_floor_003", 1, tree, dimensions=[2000, 2000])
    settings = {"skills": True, "allow": [NETWORK], "roots": [str(tmp_path)]}
    with served(partial(_reaching, web[1]), **settings) as server, server.client() as client:
        client.call(tool, arguments)
        made = tmp_path / "assets" / "poly_haven" / "brick_floor_003_2k"
        kept = {path.name for path in made.iterdir()}
        assert kept == {*pictures.values(), "preview.png", "asset.json"}
    asked = {"folder": str(made.parent), "id": made.name}
    assert bench.call("assets__import", asked)["created"]
