"""In OpenUSD, faults of meshes, files and whole stages are reported with their locations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from needed import need

need("pxr")

from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade, Vt

from callboard_openusd.host import OpenUsdHost
from callboard_testing.bench import Bench

_CORNERS = [(x, y, z) for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]
_BOX = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(OpenUsdHost(lambda fn: None), tmp_path)


def stage(bench: Bench) -> Usd.Stage:
    host = bench.host
    assert isinstance(host, OpenUsdHost)
    return host.stage


def box(bench: Bench, name: str, faces: list[tuple[int, ...]] = _BOX) -> UsdGeom.Mesh:
    mesh = UsdGeom.Mesh.Define(stage(bench), f"/World/{name}")
    mesh.CreatePointsAttr(Vt.Vec3fArray([Gf.Vec3f(*each) for each in _CORNERS]))
    mesh.CreateFaceVertexCountsAttr([len(face) for face in faces])
    mesh.CreateFaceVertexIndicesAttr([index for face in faces for index in face])
    mesh.CreateExtentAttr([(0, 0, 0), (1, 1, 1)])
    return mesh


def run(bench: Bench, *rules: str) -> list[tuple[str, str]]:
    findings = bench.call("check__run", {"rules": list(rules)})["findings"]
    return sorted((each["rule"], each["object"].rsplit("/", 1)[-1]) for each in findings)


def test_a_frequent_fault_leaves_room_for_the_others(bench: Bench) -> None:
    for number in range(5):
        box(bench, f"Flat{number}", [*_BOX, (0, 1, 1)])
    box(bench, "Inside", [face[::-1] for face in _BOX])
    rules = {"rules": ["zero_faces", "inside_out"], "limit": 2}
    answer = bench.call("check__run", rules)
    assert answer["by_rule"] == {"zero_faces": 5, "inside_out": 1}
    assert {each["rule"] for each in answer["findings"]} == {"zero_faces", "inside_out"}


def test_each_fault_of_a_mesh_is_told_with_its_object(bench: Bench) -> None:
    box(bench, "Right")
    box(bench, "Inside", [face[::-1] for face in _BOX])
    box(bench, "Turned", [face[::-1] for face in _BOX]).CreateOrientationAttr("leftHanded")
    box(bench, "Flipped", [_BOX[0][::-1], *_BOX[1:]])
    box(bench, "Wall", [*_BOX, (0, 1, 7, 6)])
    box(bench, "Flat", [*_BOX, (0, 1, 1)])
    box(bench, "Many", [(0, 1, 3, 7, 6)])
    assert run(bench, "non_manifold", "inside_out", "zero_faces", "ngons") == [
        ("inside_out", "Flipped"),
        ("inside_out", "Inside"),
        ("ngons", "Many"),
        ("non_manifold", "Flat"),
        ("non_manifold", "Wall"),
        ("zero_faces", "Flat"),
    ]


@pytest.mark.parametrize("interpolation", ["faceVarying", "vertex"])
def test_uvs_are_read_as_they_are_stored(bench: Bench, interpolation: str) -> None:
    box(bench, "None")
    mesh = box(bench, "All")
    primvar = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar(
        "st", Sdf.ValueTypeNames.TexCoord2fArray, interpolation
    )
    if interpolation == "faceVarying":
        beside = [(u + 2.0 * n, v) for n in range(6) for u, v in ((0, 0), (1, 0), (1, 1), (0, 1))]
        primvar.Set(Vt.Vec2fArray([Gf.Vec2f(*each) for each in beside]))
        expected = [("uvs_missing", "None")]
    else:
        primvar.Set(Vt.Vec2fArray([Gf.Vec2f(each[0], each[1]) for each in _CORNERS]))
        expected = [("uvs_missing", "None"), ("uvs_overlap", "All")]
    assert run(bench, "uvs_missing", "uvs_overlap") == expected


def test_a_texture_that_is_missing_and_one_without_colour_space(bench: Bench) -> None:
    there = bench.folder / "there.png"
    there.write_bytes(b"picture")
    for name, path, space in (("Gone", "gone.png", "raw"), ("There", str(there), None)):
        shader = UsdShade.Shader.Define(stage(bench), f"/World/Looks/{name}")
        shader.CreateIdAttr("UsdUVTexture")
        shader.CreateInput("file", Sdf.ValueTypeNames.Asset).Set(path)
        if space is not None:
            shader.CreateInput("sourceColorSpace", Sdf.ValueTypeNames.Token).Set(space)
    expected = [("color_space", "There"), ("missing_files", "Gone")]
    assert run(bench, "missing_files", "color_space") == expected


def test_a_scene_of_the_wrong_size_is_told(bench: Bench) -> None:
    bench.cube("Planet", 9_000_000.0)
    assert run(bench, "units") == [("units", "")]


def test_small_boxes_are_compared_with_each_other_and_with_very_wide_ones(bench: Bench) -> None:
    def placed(name: str, place: tuple[float, ...], size: tuple[float, ...] = (1, 1, 1)) -> None:
        moved = UsdGeom.XformCommonAPI(box(bench, name))
        moved.SetTranslate(place)
        moved.SetScale(size)

    UsdGeom.SetStageUpAxis(stage(bench), UsdGeom.Tokens.z)
    placed("Pillar", (-60, 0, 0))
    placed("Floor", (-50, -50, -0.1), (100, 100, 0.1))
    placed("Roof", (-59.5, -50, 1), (110, 100, 0.1))
    placed("Lamp", (0, 0, 1.1))
    placed("Kite", (0, 0, 5))
    for number in range(30):
        placed(f"Crate{number}", (3 * number - 45, 7 * number % 40, 0), (1, 1, 0.9))
    placed("Inside", (3 * 7 - 44.5, 7 * 7 % 40, 0), (1, 1, 0.9))
    assert run(bench, "floating", "interpenetrating") == [
        ("floating", "Kite"),
        ("interpenetrating", "Crate7"),
    ]


def test_openusds_own_validators_are_asked(bench: Bench) -> None:
    need("pxr.UsdValidation")
    stage(bench).GetRootLayer().ClearDefaultPrim()
    findings = bench.call("check__run", {"rules": ["validators"]})["findings"]
    assert "validators:MissingDefaultPrim" in [each["rule"] for each in findings]


def test_a_file_is_checked_without_being_opened(bench: Bench) -> None:
    path = bench.folder / "bare.usda"
    path.write_text('#usda 1.0\ndef Xform "A" {}\n', encoding="utf-8")
    before = bench.everything()
    answer = bench.call("check__usd_file", {"path": str(path)})
    assert "validators:MissingDefaultPrim" in answer["by_rule"]
    assert bench.everything() == before


def test_material_and_camera_are_compared(bench: Bench) -> None:
    bench.cube("Crate", 2.0)
    bench.cube("Behind", 2.0)
    bench.editor.set_transform("Behind", [0.0, 0.0, 90.0], None, None)
    camera = UsdGeom.Camera.Define(stage(bench), "/World/Camera")
    UsdGeom.XformCommonAPI(camera).SetTranslate((0, 0, 30))
    bench.call("materials__create", {"name": "Wood"})
    asked: list[dict[str, Any]] = [
        {"name": "Crate", "seen": True, "material": "Wood"},
        {"name": "Behind", "seen": True},
    ]
    told = bench.call("check__compare", {"objects": asked})["differences"]
    assert [(each["object"][-6:], each["what"]) for each in told] == [
        ("/Crate", "material"),
        ("Behind", "seen"),
    ]
    bench.call(told[0]["fix"]["tool"], told[0]["fix"]["arguments"])
    del asked[1]
    assert bench.call("check__compare", {"objects": asked})["matches"]


def test_a_large_mesh_is_left_out_and_named(bench: Bench) -> None:
    mesh = box(bench, "Large")
    count = 500_001
    mesh.GetFaceVertexCountsAttr().Set(Vt.IntArray(count, 3))
    answer = bench.call("check__run", {"rules": ["ngons"]})
    assert answer["not_checked"] == ["/World/Large"]
