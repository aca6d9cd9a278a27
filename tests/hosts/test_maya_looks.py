"""Tests cameras, materials and lights that Maya handles differently, on the double or, under
mayapy, in Maya itself."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from pathlib import Path
from typing import Any

import pytest
from maya import cmds
from maya_rig import REAL, maya_host, new_maya

from callboard.errors import HostError
from callboard.ports.capability_names import CAMERAS, LIGHTS, MATERIALS
from callboard_testing.checks.materials import picture
from callboard_testing.compliance import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    new_maya(batch=True)
    with maya_host(lambda fn: None) as host:
        yield Bench(host, tmp_path.resolve())


def _camera(bench: Bench, **asked: Any) -> str:
    path: str = bench.call("cameras__create", asked)["created"][0]
    return path


def test_the_cameras_of_each_scene_are_nobodys(bench: Bench) -> None:
    assert bench.call("cameras__list")["total"] == 0
    bench.cube("Cube")
    with pytest.raises(HostError, match="isn't a camera"):
        bench.call("cameras__set", {"name": "Cube", "lens": 50})


def test_only_the_active_one_is_rendered(bench: Bench) -> None:
    first, second = _camera(bench), _camera(bench)
    bench.call("cameras__set", {"name": second, "active": True})
    rendered = [each for each in cmds.ls(type="camera") if cmds.getAttr(f"{each}.renderable")]
    assert cmds.ls(rendered, long=True) == [f"{second}|{second[1:]}Shape"]
    assert (
        bench.call("cameras__set", {"name": second, "active": False})["camera"]["active"] is False
    )
    assert first in bench.port(CAMERAS).names()


@pytest.mark.parametrize(
    ("fit", "wide", "high"),
    [(0, 39.598, 22.895), (1, 39.598, 22.895), (2, 46.214, 26.991), (3, 46.214, 26.991)],
)
def test_the_picture_is_fitted_to_the_film(
    bench: Bench, fit: int, wide: float, high: float
) -> None:
    path = _camera(bench, lens=50, sensor=36)
    cmds.setAttr(f"{path}|{path[1:]}Shape.filmFit", fit)
    assert bench.port(CAMERAS).get(path)["fov"] == pytest.approx([wide, high], abs=0.01)


def test_what_something_else_drives_is_refused(bench: Bench) -> None:
    path, other = _camera(bench, name="One"), _camera(bench, name="Other")
    cmds.connectAttr(f"{other}|OtherShape.focalLength", f"{path}|OneShape.focalLength")
    with pytest.raises(HostError, match="driven by keys or another node"):
        bench.call("cameras__set", {"name": path, "lens": 20})
    bench.call("cameras__set", {"name": path, "fstop": 4})


def _material(bench: Bench, **asked: Any) -> str:
    path: str = bench.call("materials__create", asked)["created"][0]
    return path


def test_the_material_of_every_new_object_is_not_changed(bench: Bench) -> None:
    cube = bench.cube("Cube")
    (everybodys,) = bench.port(MATERIALS).assigned(cube)
    with pytest.raises(HostError, match="gives every new object"):
        bench.call("materials__set", {"name": everybodys, "color": "#f00"})


def test_a_copy_for_one_object_keeps_textures_faces_and_the_selection(bench: Bench) -> None:
    one, two = bench.cube("One"), bench.cube("Two")
    path = _material(bench, name="Both", objects=[one, two])
    asked = {"name": path, "shared": True, "slot": "color", "path": picture(bench.folder)}
    bench.call("materials__set_texture", asked)
    other = _material(bench, name="Part")
    bench.call("materials__assign", {"name": other, "objects": [one], "faces": [0, 1]})
    bench.editor.select([two])
    asked = {"name": path, "objects": [one], "roughness": 0.25}
    copy = bench.call("materials__set", asked)["created"][0]
    port = bench.port(MATERIALS)
    assert port.assigned(one) == {other: [0, 1], copy: [2, 3, 4, 5]}
    assert port.assigned(two) == {path: None}
    assert port.get(copy)["textures"] == port.get(path)["textures"] != {}
    assert bench.reader.selection() == [two]
    # A picture that both materials use stays when one of them drops it.
    bench.call("materials__set_texture", {"name": copy, "slot": "color", "path": None})
    assert port.get(path)["textures"]["color"]["path"]


def test_a_picture_drives_a_color_as_a_color(bench: Bench) -> None:
    path = _material(bench)
    asked = {"name": path, "slot": "color", "path": picture(bench.folder)}
    bench.call("materials__set_texture", asked)
    (shader,) = cmds.ls(path) or [path]
    (source,) = cmds.listConnections(f"{shader}.baseColor", source=True, plugs=True)
    assert source.endswith(".outColor")


def test_a_picture_that_is_replaced_leaves_no_nodes(bench: Bench) -> None:
    path, file = _material(bench), picture(bench.folder)
    before = len(cmds.ls())
    for slot in ("color", "normal", "opacity"):
        for _ in range(2):
            asked = {"name": path, "slot": slot, "path": file}
            bench.call("materials__set_texture", asked)
        bench.call("materials__set_texture", {"name": path, "slot": slot, "path": None})
    assert len(cmds.ls()) == before


def test_what_is_not_a_standard_surface_is_told_and_left_alone(bench: Bench) -> None:
    cube = bench.cube("Cube")
    shader = cmds.shadingNode("lambert", asShader=True, name="Old")
    group = cmds.sets(renderable=True, noSurfaceShader=True, empty=True, name="OldSG")
    cmds.connectAttr(f"{shader}.outColor", f"{group}.surfaceShader")
    cmds.sets(f"{cube}|CubeShape", edit=True, forceElement=group)
    told = bench.call("materials__get", {"name": "Old"})
    assert (told["type"], told["users"], told["roughness"]) == ("lambert", [cube], None)
    with pytest.raises(HostError, match="is of type lambert"):
        bench.call("materials__set", {"name": "Old", "roughness": 0.5})


def test_the_colour_space_is_one_that_the_scene_has(bench: Bench) -> None:
    path = _material(bench)
    asked = {"name": path, "slot": "color", "path": picture(bench.folder)}
    bench.call("materials__set_texture", asked)
    (file,) = cmds.listConnections(f"{path}.baseColor")
    spaces = cmds.colorManagementPrefs(query=True, inputSpaceNames=True)
    assert cmds.getAttr(f"{file}.colorSpace") in spaces
    assert cmds.getAttr(f"{file}.ignoreColorSpaceFileRules")


# -- lights -------------------------------------------------------------------------------------


@pytest.fixture
def lit(bench: Bench) -> Bench:
    try:
        cmds.loadPlugin("mtoa", quiet=True)
    except RuntimeError:
        pytest.skip("this Maya has no Arnold")
    return bench


def _light(bench: Bench, kind: str, **asked: Any) -> str:
    path: str = bench.call("lights__create", {"kind": kind, **asked})["created"][0]
    return path


def _shape(path: str) -> str:
    return f"{path}|{path[1:]}Shape"


def test_lights_come_with_arnold_s_plug_in(bench: Bench) -> None:
    assert LIGHTS not in bench.host.ports
    try:
        bench.host.plug_ins[LIGHTS].load()
    except HostError as error:
        pytest.skip(f"this Maya has no Arnold: {error}")
    assert LIGHTS in bench.host.ports


def test_power_is_watts_in_arnold_s_centimetres(lit: Bench) -> None:
    cmds.currentUnit(linear="m")
    path = _light(lit, "area", name="Key", power=100, size=[2, 1])
    # A square centimeter in square meters.
    assert cmds.getAttr(f"{_shape(path)}.intensity") == pytest.approx(100 / pi / 0.01**2)
    assert cmds.getAttr(f"{path}.scale")[0] == pytest.approx((100.0, 50.0, 1.0))


def test_a_new_light_lights_everything(lit: Bench) -> None:
    for kind in ("point", "dome"):
        path = _light(lit, kind)
        assert path in [
            cmds.ls(each, long=True)[0] for each in cmds.sets("defaultLightSet", query=True)
        ]


def test_a_penumbra_lies_outside_or_inside_the_cone(lit: Bench) -> None:
    path = _light(lit, "spot", angle=40, blend=0.25)
    assert cmds.getAttr(f"{_shape(path)}.coneAngle") == pytest.approx(30)
    assert cmds.getAttr(f"{_shape(path)}.penumbraAngle") == pytest.approx(5)
    cmds.setAttr(f"{_shape(path)}.penumbraAngle", -3)
    told = lit.port(LIGHTS).get(path)
    assert (told["angle"], told["blend"]) == pytest.approx((30, 0.2))


def test_one_that_is_not_normalized_has_no_power_until_it_is_given(lit: Bench) -> None:
    path = _light(lit, "area")
    cmds.setAttr(f"{_shape(path)}.aiNormalize", False)
    assert lit.port(LIGHTS).get(path)["power"] is None
    answer = lit.call("lights__set", {"name": path, "power": 5})
    assert answer["light"]["power"] == pytest.approx(5)


def test_others_are_told_in_maya_s_words(lit: Bench) -> None:
    path = cmds.ls(cmds.shadingNode("ambientLight", asLight=True), long=True)[0]
    told = lit.port(LIGHTS).get(path)
    assert (told["kind"], told["power"], told["exposure"]) == ("ambientlight", None, 0.0)
    with pytest.raises(HostError, match="have no power"):
        lit.call("lights__set", {"name": path, "power": 10})
    lit.call("lights__set", {"name": path, "intensity": 2, "color": [1, 0, 0]})


def test_what_drives_a_light_is_not_overwritten(lit: Bench) -> None:
    path, other = _light(lit, "point", name="One"), _light(lit, "point", name="Other")
    cmds.connectAttr(f"{_shape(other)}.intensity", f"{_shape(path)}.intensity")
    with pytest.raises(HostError, match="driven by keys or another node"):
        lit.call("lights__set", {"name": path, "power": 20})


def test_domes_of_the_artist_s_are_hidden_and_stay(lit: Bench) -> None:
    mine = _light(lit, "dome", name="Mine")
    lit.call("lights__set_environment", {"color": [1, 1, 1], "rotate": 30})
    assert not cmds.getAttr(f"{mine}.visibility")
    assert cmds.getAttr("|Environment.rotate")[0] == pytest.approx((0, 30, 0))
    assert lit.host.undo.undo(lit.call.undo_id)
    assert cmds.getAttr(f"{mine}.visibility")
    assert list(lit.port(LIGHTS).names()) == [mine]


def test_where_z_is_up_the_dome_is_tilted(lit: Bench) -> None:
    cmds.upAxis(axis="z")
    lit.call("lights__set_environment", {"path": picture(lit.folder), "rotate": 30})
    assert cmds.getAttr("|Environment.rotate")[0] == pytest.approx((90, 0, 30))
    told = lit.port(LIGHTS).environment()
    assert (told["kind"], told["rotate"]) == ("image", pytest.approx(30))


# -- attributes -----------------------------------------------------------------------------------


def test_attributes_of_the_shape_are_the_objects_and_choices_have_names(bench: Bench) -> None:
    path = _camera(bench)
    asked = {"name": path, "attribute": "filmFit", "value": "Overscan"}
    bench.call("attributes__set", asked)
    assert cmds.getAttr(f"{_shape(path)}.filmFit") == 3
    with pytest.raises(HostError, match="Fill, Horizontal, Vertical, Overscan"):
        bench.call("attributes__set", {**asked, "value": "Wide"})
    told = bench.call("attributes__get", {"name": path, "attribute": "focalLength"})
    assert (told["type"], told["writable"]) == ("double", True)
    told = bench.call("attributes__get", {"name": path, "attribute": "translate"})
    assert (told["value"], told["writable"]) == ([0, 0, 0], False)
    for attribute, value in (("translate", [1, 2, 3]), ("rotateX", 3.0), ("a.b", 1)):
        asked = {"name": path, "attribute": attribute, "value": value}
        with pytest.raises(HostError, match=r"scene__transform|can't be an attribute"):
            bench.call("attributes__set", asked)


# -- looking ------------------------------------------------------------------------------------


@pytest.mark.skipif(REAL, reason="mayapy has no GUI")
def test_the_artists_view_is_as_it_was_also_when_drawing_fails(tmp_path: Path) -> None:
    new_maya(batch=False)
    with maya_host(lambda fn: None) as host:
        bench = Bench(host, tmp_path.resolve())
        cube = bench.cube("Cube")
        before = _view()
        asked = {"width": 32, "height": 32, "angles": ["top"], "shading": "xray"}
        bench.call("viewport__look", asked)
        with pytest.raises(HostError, match="isn't a camera"):
            bench.call("viewport__look", {**asked, "angles": [], "camera": cube})
        assert _view() == before
        assert bench.reader.names() == [cube]
        rendered = bench.call("viewport__look", {**asked, "shading": "rendered"})
        assert rendered["engine"] == "mayaSoftware"


@pytest.mark.skipif(REAL, reason="mayapy has no GUI")
def test_a_point_of_the_artists_view_is_a_mesh_or_refused(tmp_path: Path) -> None:
    new_maya(batch=False)
    from maya._session import session

    with maya_host(lambda fn: None) as host:
        bench = Bench(host, tmp_path.resolve())
        cube = bench.cube("Cube")
        # The artist's camera is in the middle of the scene.
        bench.editor.set_transform(cube, [0.0, 0.0, -20.0], None, None)
        for unit in ("cm", "m", "in"):
            cmds.currentUnit(linear=unit)
            seen = _pointed_at(bench)
            assert seen["path"] == cube
            assert seen["point"][2] == pytest.approx(bench.reader.get(cube)["bounds"]["max"][2])
        cmds.currentUnit(linear="cm")
        ball = bench.cube("Ball")
        bench.editor.set_transform(ball, [0.0, 0.0, -10.0], None, None)
        session.scene.shape(session.scene.match(ball)[0]).type = "nurbsSurface"
        with pytest.raises(
            HostError, match=r"'Ball' may be in front at that point.* a nurbsSurface"
        ):
            _pointed_at(bench)
        assert _pointed_at(bench, x=0.01)["path"] is None
        bench.editor.set_transform(ball, [0.0, 0.0, -30.0], None, None)
        assert _pointed_at(bench)["path"] == cube
        cmds.setAttr(f"{cube}.visibility", False)
        with pytest.raises(HostError, match="'Ball' may be in front"):
            _pointed_at(bench)


def _pointed_at(bench: Bench, **asked: Any) -> Any:
    before = _view()
    seen = bench.call("viewport__pick", {"width": 64, "height": 32, "x": 0.5, "y": 0.5, **asked})
    assert _view() == before
    return seen


def _view() -> list[Any]:
    """Return the artist's view and undo list."""
    flags = ("camera", "displayAppearance", "xray", "useDefaultMaterial", "grid", "cameras")
    settings = [cmds.modelEditor("modelPanel4", query=True, **{flag: True}) for flag in flags]
    return [*settings, cmds.undoInfo(query=True, undoName=True)]
