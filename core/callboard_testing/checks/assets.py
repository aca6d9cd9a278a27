"""Checks the assets in a folder: the facts about them, and the result of importing one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from callboard.content import Image, Json
from callboard.errors import HostError
from callboard.host import (
    EXCHANGE,
    FILESYSTEM_READ,
    LIGHTS,
    MATERIALS,
    SCENE_MUTATE,
    SCENE_READ,
)
from callboard_testing.checks.materials import picture
from callboard_testing.checks.objects import close, raised
from callboard_testing.checks.trust import check_change

if TYPE_CHECKING:
    from callboard_testing.bench import Bench

_HDR = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 2\n" + bytes((128, 128, 128, 129)) * 2
#: Corners, in millimeters, and faces of a box that is 10 cm wide.
_CORNERS = [(x, y, z) for x in (0, 100) for y in (0, 100) for z in (0, 100)]
_FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


def _library(bench: Bench) -> str:
    """Return a folder with a texture set, an HDRI and a model with a manifest."""
    folder = bench.folder / "assets"
    for name in ("bricks", "skies", "props"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name in ("diff", "nor_gl", "nor_dx", "arm", "disp"):
        picture(folder / "bricks", f"bricks_{name}_1k.png")
    (folder / "skies" / "noon_1k.hdr").write_bytes(_HDR)
    picture(folder / "skies", "noon.png")
    crate: Json = {"kind": "model", "name": "Crate", "licence": "CC0", "author": "Ann"}
    crate |= {"tags": ["wood"], "size": [0.1, 0.1, 0.1], "model": _model(bench, folder / "props")}
    if crate["model"].endswith(".obj"):
        crate |= {"meters_per_unit": 0.001, "up_axis": "Y"}
    (folder / "props" / "asset.json").write_text(json.dumps(crate), encoding="utf-8")
    return str(folder)


def _model(bench: Bench, folder: Path) -> str:
    formats = {each["format"]: each for each in bench.call("exchange__formats")["formats"]}
    if ".usda" in formats["usd"]["import"]:
        points = ", ".join(map(str, _CORNERS))
        indices = [index for face in _FACES for index in face]
        (folder / "crate.usda").write_text(
            '#usda 1.0\n(\n upAxis = "Y"\n metersPerUnit = 0.001\n)\ndef Mesh "Crate"\n{\n'
            f" int[] faceVertexCounts = {[4] * 6}\n int[] faceVertexIndices = {indices}\n"
            f" point3f[] points = [{points}]\n}}\n",
            encoding="utf-8",
        )
        return "crate.usda"
    lines = [f"v {x} {y} {z}" for x, y, z in _CORNERS]
    lines += ["f " + " ".join(str(index + 1) for index in face) for face in _FACES]
    (folder / "crate.obj").write_text("\n".join(["o Crate", *lines, ""]), encoding="utf-8")
    return "crate.obj"


def _state(bench: Bench) -> list[Any]:
    materials = bench.port(MATERIALS)
    reported = [materials.get(path) for path in materials.names()]
    return [*bench.everything(), *reported, bench.port(LIGHTS).environment()]


class Assets:
    needs = (SCENE_READ, SCENE_MUTATE, MATERIALS, LIGHTS, EXCHANGE, FILESYSTEM_READ)

    def test_a_search_tells_what_is_known(self, bench: Bench) -> None:
        folder = _library(bench)
        answer = bench.call("assets__search", {"folder": folder})
        assert [(one["id"], one["kind"]) for one in answer["assets"]] == [
            ("bricks/bricks", "textures"),
            ("props", "model"),
            ("skies/noon_1k.hdr", "hdri"),
        ]
        asked = {"folder": folder, "words": "ann WOOD", "kind": "model"}
        (crate,) = bench.call("assets__search", asked)["assets"]
        assert (crate["name"], crate["licence"], crate["author"]) == ("Crate", "CC0", "Ann")
        assert crate["size"] == [0.1, 0.1, 0.1]
        page = bench.call("assets__search", {"folder": folder, "limit": 1, "offset": 1})
        assert ([one["id"] for one in page["assets"]], page["next_offset"]) == (["props"], 2)

    def test_its_preview_is_a_picture(self, bench: Bench) -> None:
        folder = _library(bench)
        reported = bench.call("assets__get", {"folder": folder, "id": "skies/noon_1k.hdr"})
        assert Path(reported["preview"]).name == "noon.png"
        assert any(isinstance(block, Image) for block in bench.call.content)
        reported = bench.call("assets__get", {"folder": folder, "id": "props"})
        assert reported["preview"] is None
        assert reported["bytes"] == sum(
            Path(each).stat().st_size for each in reported["files"].values()
        )

    def test_every_map_is_connected_as_what_it_is(self, bench: Bench) -> None:
        asked = {"folder": _library(bench), "id": "bricks/bricks", "uv_scale": [2, 3]}
        wall, other = bench.cube("Wall"), bench.cube("Other")
        answer = bench.call("assets__import", {**asked, "objects": ["Wall"]})
        (material,) = answer["created"]
        assert answer["verified"] is True
        assert {*answer["left_out"]} == {"normal_dx", "displacement"}
        textures = bench.port(MATERIALS).get(material)["textures"]
        maps = {"color": "diff", "roughness": "arm", "metalness": "arm", "normal": "nor_gl"}
        assert {slot: Path(one["path"]).name for slot, one in textures.items()} == {
            slot: f"bricks_{name}_1k.png" for slot, name in maps.items()
        }
        spaces = {slot: one["color_space"] for slot, one in textures.items()}
        assert spaces == {**dict.fromkeys(textures, "raw"), "color": "srgb"}
        assert (textures["roughness"]["channel"], textures["metalness"]["channel"]) == ("g", "b")
        assert all(close(one["uv_scale"], [2, 3]) for one in textures.values())
        assert [*bench.port(MATERIALS).assigned(wall)] == [material]
        assert material not in bench.port(MATERIALS).assigned(other)

    def test_a_material_is_called_like_its_asset_as_far_as_it_can_be(self, bench: Bench) -> None:
        folder = Path(_library(bench))
        manifest = {"kind": "textures", "maps": {"color": "bricks_diff_1k.png"}}
        for name, wanted in (("Old Brick (red) 01", "Old_Brick_red_01"), ("3 Bricks", "_3_Bricks")):
            reported = json.dumps({**manifest, "name": name})
            (folder / "bricks" / "asset.json").write_text(reported, encoding="utf-8")
            asked = {"folder": str(folder), "id": "bricks"}
            (material,) = bench.call("assets__import", asked)["created"]
            assert bench.port(MATERIALS).get(material)["name"] == wanted

    def test_an_hdri_surrounds_the_scene_and_stays_where_it_is(self, bench: Bench) -> None:
        folder = _library(bench)
        asked = {"folder": folder, "id": "skies/noon_1k.hdr", "strength": 0.5, "rotate": 30}
        answer = bench.call("assets__import", asked)
        now = bench.port(LIGHTS).environment()
        assert answer["environment"] == now
        assert Path(now["path"]).samefile(Path(folder, "skies", "noon_1k.hdr"))
        assert close([now["strength"], now["rotate"]], [0.5, 30])

    def test_a_model_has_the_size_that_it_has(self, bench: Bench) -> None:
        folder = _library(bench)
        answer = bench.call("assets__import", {"folder": folder, "id": "props"})
        assert close(answer["measured"], [0.1, 0.1, 0.1], 1e-3)
        assert answer["verified"] is True
        manifest = Path(folder, "props", "asset.json")
        wrong = {**json.loads(manifest.read_text("utf-8")), "size": [10, 10, 10]}
        manifest.write_text(json.dumps(wrong), encoding="utf-8")
        answer = bench.call("assets__import", {"folder": folder, "id": "props"})
        assert answer["verified"] is False
        assert "0.01 times as large" in answer["doubt"]

    def test_each_import_is_one_step_that_is_read_back(self, bench: Bench) -> None:
        folder = _library(bench)
        bench.cube("Wall")
        reading = ("names", "get", "users", "assigned", "environment", "formats", "without_uvs")
        for id, kind, capability, more in (
            ("bricks/bricks", "textures", MATERIALS, {"objects": ["Wall"]}),
            ("skies/noon_1k.hdr", "hdri", LIGHTS, {}),
            ("props", "model", EXCHANGE, {}),
        ):
            asked = {"folder": folder, "id": id, **more}
            for tool in ("assets__import", f"assets__import_{kind}"):
                check_change(bench, capability, reading, tool, asked, lambda: _state(bench))

    def test_each_kind_needs_only_what_it_uses(self, bench: Bench) -> None:
        folder = _library(bench)
        ports = dict(bench.host.ports)
        for id, kind, without in (
            ("bricks/bricks", "textures", (EXCHANGE, LIGHTS)),
            ("props", "model", (MATERIALS, LIGHTS)),
        ):
            asked = {"folder": folder, "id": id}
            others = [f"assets__import_{one}" for one in ("hdri", "textures", "model")]
            others.remove(f"assets__import_{kind}")
            for tool in others:
                raised(ValueError, bench.call, tool, asked)
            bench.host.set_ports({key: ports[key] for key in ports if key not in without})
            try:
                answer = bench.call(f"assets__import_{kind}", asked)
            finally:
                bench.host.set_ports(ports)
            assert answer["verified"] is True
            assert answer["asset"]["kind"] == kind

    def test_what_leads_elsewhere_is_refused(self, bench: Bench) -> None:
        folder = Path(_library(bench))
        (bench.folder / "secret.hdr").write_bytes(_HDR)
        (folder / "odd$HOME.hdr").write_bytes(_HDR)
        before = _state(bench)
        manifests = (
            b"{",
            b"[" * 100_000,
            b'{"kind": "hdri"}',
            b'{"kind": "hdri", "hdri": "../../secret.hdr"}',
            json.dumps({"kind": "hdri", "hdri": str(bench.folder / "secret.hdr")}).encode(),
            b'{"kind": "textures", "maps": {"color": "../../secret.hdr"}}',
            b'{"kind": "hdri", "hdri": "asset.json"}',
            b'{"kind": "hdri", "hdri": "%2e%2e/secret.hdr"}',
        )
        for manifest in manifests:
            (folder / "props" / "asset.json").write_bytes(manifest)
            answer = bench.call("assets__search", {"folder": str(folder)})
            assert len(answer["problems"]) == 2, manifest[:80]
            assert not {"props", "odd$HOME.hdr"} & {one["id"] for one in answer["assets"]}
            asked = {"folder": str(folder), "id": "props"}
            raised(HostError, bench.call, "assets__import", asked)
        for asked in (
            {"folder": str(folder), "id": "../secret.hdr"},
            {"folder": str(folder / "nowhere"), "id": "props"},
            {"folder": str(folder), "id": str(folder / "skies" / "noon_1k.hdr")},
            {"id": "props"},
        ):
            raised(HostError, bench.call, "assets__get", asked)
        of_another_kind: Json = {"id": "skies/noon_1k.hdr", "uv_scale": [1, 1]}
        asked = {"folder": str(folder), **of_another_kind}
        raised(ValueError, bench.call, "assets__import", asked)
        assert _state(bench) == before


class Hdris:
    needs = (SCENE_READ, SCENE_MUTATE, LIGHTS, FILESYSTEM_READ)

    def test_one_needs_lights_and_nothing_else(self, bench: Bench) -> None:
        (bench.folder / "noon.hdr").write_bytes(_HDR)
        asked = {"folder": str(bench.folder), "id": "noon.hdr"}
        ports = dict(bench.host.ports)
        bench.host.set_ports({key: ports[key] for key in self.needs})
        try:
            answer = bench.call("assets__import_hdri", asked)
        finally:
            bench.host.set_ports(ports)
        assert answer["verified"] is True
        assert Path(answer["environment"]["path"]).name == "noon.hdr"
