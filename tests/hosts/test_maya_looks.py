"""Cameras and materials where Maya differs, on the double or, under mayapy, on Maya itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from maya import cmds
from maya_rig import maya_host, new_maya

from callboard.errors import HostError
from callboard.hosting.picture_ports import CAMERAS, MATERIALS
from callboard.testing.check_materials import picture
from callboard.testing.compliance import Bench


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
    with pytest.raises(HostError, match="is no camera"):
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
    with pytest.raises(HostError, match="which every new object gets"):
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
    # The picture that both have stays where one of them lets go of it.
    bench.call("materials__set_texture", {"name": copy, "slot": "color", "path": None})
    assert port.get(path)["textures"]["color"]["path"]


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
