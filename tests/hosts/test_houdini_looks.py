"""Tests cameras, lights and materials that Houdini handles differently, on the double or, under
hython, in Houdini itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from needed import need

need("pxr")

from houdini_rig import REAL, hou, houdini_host, new_houdini

from callboard.errors import HostError
from callboard.ports.capability_names import CAMERAS, LIGHTS, MATERIALS
from callboard_testing.checks.materials import picture
from callboard_testing.compliance import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    new_houdini(windows=False)
    with houdini_host(lambda fn: None) as host:
        yield Bench(host, tmp_path.resolve())


def _camera(bench: Bench, **asked: Any) -> str:
    path: str = bench.call("cameras__create", asked)["created"][0]
    return path


def test_the_picture_is_as_wide_as_the_aperture(bench: Bench) -> None:
    path = _camera(bench, lens=50, sensor=36)
    hou.node(path).parmTuple("res").set((1000, 1000))
    assert bench.port(CAMERAS).get(path)["fov"] == pytest.approx([39.598, 39.598], abs=0.01)


@pytest.mark.parametrize(
    ("unit", "millimeters"), [("mm", 1.0), ("m", 1000.0), ("nm", 1e-6), ("in", 25.4), ("ft", 304.8)]
)
def test_a_lens_is_in_millimeters_in_every_unit(
    bench: Bench, unit: str, millimeters: float
) -> None:
    path = _camera(bench)
    hou.node(path).parm("focal").set(2.0)
    hou.node(path).parm("focalunits").set(unit)
    assert bench.port(CAMERAS).get(path)["lens"] == pytest.approx(2 * millimeters)


def test_a_colour_replaces_the_picture_of_the_objects_own_material(bench: Bench) -> None:
    path = bench.cube("Painted")
    bench.editor.set_color(path, [1, 0, 0])
    hou.node(path).parm("shop_materialpath").evalAsNode().parm("basecolor_useTexture").set(1)
    assert bench.get(path)["color"] is None
    bench.editor.set_color(path, [0, 1, 0])
    assert bench.get(path)["color"] == pytest.approx([0, 1, 0])


@pytest.mark.skipif(REAL, reason="the available colour spaces depend on the installation")
def test_a_colour_space_that_a_text_menu_does_not_offer_is_written(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    shader = hou._types.TYPES["Vop"]["principledshader::2.0"].parms
    spaces = hou._types.Parm("auto", menu=("auto", "ACEScg"), kind="String")
    monkeypatch.setitem(shader, "basecolor_textureColorSpace", spaces)
    file = picture(bench.folder)
    path = bench.call("materials__create", {"name": "Wood"})["created"][0]
    asked = {"name": path, "slot": "color", "path": file, "color_space": "srgb"}
    bench.call("materials__set_texture", asked)
    assert hou.node(path).parm("basecolor_textureColorSpace").evalAsString() == "sRGB"
    assert bench.port(MATERIALS).get(path)["textures"]["color"]["color_space"] == "srgb"


def test_a_lens_is_in_millimetres_whatever_the_camera_counts_in(bench: Bench) -> None:
    path = _camera(bench)
    node = hou.node(path)
    node.parm("focalunits").set("in")
    node.parm("aperture").set(1.0)
    bench.call("cameras__set", {"name": path, "lens": 50.8})
    assert node.parm("focal").eval() == pytest.approx(2.0)
    assert bench.port(CAMERAS).get(path)["sensor"] == pytest.approx(25.4)


def test_the_artists_camera_is_the_active_one_until_another_is_marked(bench: Bench) -> None:
    mine = hou.node("/obj").createNode("cam", "mine")
    assert bench.port(CAMERAS).get("mine")["active"] is True
    other = _camera(bench, active=True)
    assert bench.port(CAMERAS).get("mine")["active"] is False
    bench.call("cameras__set", {"name": "mine", "active": True})
    assert bench.port(CAMERAS).get(other)["active"] is False
    assert bench.port(CAMERAS).get(mine.path())["active"] is True


def test_what_is_keyed_is_refused(bench: Bench) -> None:
    path = _camera(bench)
    key = hou.Keyframe()
    key.setFrame(1)
    key.setValue(35.0)
    hou.node(path).parm("focal").setKeyframe(key)
    with pytest.raises(HostError, match="has keys or an expression"):
        bench.call("cameras__set", {"name": path, "lens": 50})
    bench.call("cameras__set", {"name": path, "fstop": 4})


# -- lights ---------------------------------------------------------------------------------------


def test_a_spots_cone_fades_inside_of_its_angle(bench: Bench) -> None:
    asked = {"kind": "spot", "name": "Lamp", "angle": 40, "blend": 0.25}
    bench.call("lights__create", asked)
    node = hou.node("/obj/Lamp")
    assert (node.parm("coneangle").eval(), node.parm("conedelta").eval()) == (30.0, 5.0)
    bench.call("lights__set", {"name": "Lamp", "blend": 0.5})
    assert (node.parm("coneangle").eval(), node.parm("conedelta").eval()) == (20.0, 10.0)


def test_one_that_is_not_normalized_has_no_power_until_it_is_given(bench: Bench) -> None:
    bench.call("lights__create", {"kind": "area", "name": "Key"})
    hou.node("/obj/Key").parm("normalizearea").set(0)
    assert bench.port(LIGHTS).get("Key")["power"] is None
    answer = bench.call("lights__set", {"name": "Key", "power": 5})
    assert answer["light"]["power"] == pytest.approx(5)


def test_an_environment_of_the_artists_is_switched_off_and_stays(bench: Bench) -> None:
    mine = hou.node("/obj").createNode("envlight", "mine")
    bench.call("lights__set_environment", {"color": [1, 0, 0], "rotate": 30})
    assert mine.parm("light_enable").eval() == 0
    assert bench.port(LIGHTS).environment()["rotate"] == 30
    bench.call("lights__set_environment", {"strength": 2})
    assert len(bench.port(LIGHTS).names()) == 2
    with pytest.raises(HostError, match="can't add a sky"):
        bench.call("lights__set_environment", {"sun_elevation": 30})


@pytest.mark.parametrize(
    ("kind", "type"), [("sun", "sun"), ("point", "sphere"), ("spot", "sphere"), ("area", "grid")]
)
def test_a_new_light_has_a_width(bench: Bench, kind: str, type: str) -> None:
    path = bench.call("lights__create", {"kind": kind})["created"][0]
    assert hou.node(path).parm("light_type").evalAsString() == type


def test_a_light_that_is_keyed_is_refused(bench: Bench) -> None:
    bench.call("lights__create", {"kind": "point", "name": "Lamp"})
    key = hou.Keyframe()
    key.setFrame(1)
    key.setValue(0.5)
    hou.node("/obj/Lamp").parm("light_colorr").setKeyframe(key)
    with pytest.raises(HostError, match="has keys or an expression"):
        bench.call("lights__set", {"name": "Lamp", "color": [1, 1, 1]})
    bench.call("lights__set", {"name": "Lamp", "power": 4})


def test_a_width_makes_a_light_of_the_artists_one_that_has_it(bench: Bench) -> None:
    for kind, width in (("distant", {"angle": 3}), ("point", {"size": 0.5})):
        mine = hou.node("/obj").createNode("hlight", f"my_{kind}")
        mine.parm("light_type").set(kind)
        bench.call("lights__set", {"name": f"my_{kind}", "power": 4})
        assert mine.parm("light_type").evalAsString() == kind
        bench.call("lights__set", {"name": f"my_{kind}", **width})
        assert mine.parm("light_type").evalAsString() in ("sun", "sphere")


# -- materials ------------------------------------------------------------------------------------


def _material(bench: Bench, **asked: Any) -> str:
    path: str = bench.call("materials__create", asked)["created"][0]
    return path


def test_new_materials_are_in_the_scenes_own_network(bench: Bench) -> None:
    path = _material(bench, name="Red", color=[1, 0, 0], objects=[bench.cube("Cube")])
    assert path == "/mat/Red"
    assert hou.node("/obj/Cube").parm("shop_materialpath").evalAsString() == path
    assert bench.get("Cube")["color"] == pytest.approx([1, 0, 0])


def test_the_colour_of_one_object_is_a_material_too(bench: Bench) -> None:
    cube = bench.cube("Cube")
    bench.call("scene__set_material_color", {"name": cube, "color": [0, 1, 0]})
    (own,) = bench.port(MATERIALS).assigned(cube)
    assert bench.port(MATERIALS).get(own)["color"] == pytest.approx([0, 1, 0])
    copy = bench.editor.duplicate(cube, "Copy")
    assert list(bench.port(MATERIALS).assigned(copy)) != [own]
    # A material inside an object belongs to that object alone.
    with pytest.raises(HostError, match="belongs to another object"):
        bench.call("materials__assign", {"name": own, "objects": [bench.cube("Other")]})


def test_faces_are_given_a_material_and_the_shape_stays_what_it_was(bench: Bench) -> None:
    cube = bench.cube("Cube")
    part, whole = _material(bench), _material(bench)
    bench.call("materials__assign", {"name": part, "objects": [cube], "faces": [1, 2]})
    assert bench.get(cube)["type"] == "cube"
    assert bench.port(MATERIALS).assigned(cube) == {part: [1, 2]}
    bench.call("materials__assign", {"name": whole, "objects": [cube]})
    assert bench.port(MATERIALS).assigned(cube) == {whole: None}
    assert [node.name() for node in hou.node(cube).children()] == ["box1"]


def test_what_the_artist_gave_faces_is_told(bench: Bench) -> None:
    cube, part = bench.cube("Cube"), _material(bench)
    node = hou.node(cube)
    giving = node.createNode("material", "mine")
    giving.setInput(0, node.node("box1"))
    giving.parm("group1").set("3")
    giving.parm("shop_materialpath1").set(part)
    giving.setDisplayFlag(True)
    assert bench.port(MATERIALS).assigned(cube) == {part: [3]}
    assert bench.call("materials__get", {"name": part})["users"] == [cube]


def test_what_is_wired_is_refused(bench: Bench) -> None:
    path = _material(bench)
    node = hou.node(path)
    wired = hou.node("/mat").createNode("constant")
    node.setInput(node.inputNames().index("rough"), wired)
    told = bench.port(MATERIALS).get(path)
    assert (told["roughness"], told["textures"]["roughness"]["path"]) == (None, None)
    with pytest.raises(HostError, match="is wired to another node"):
        bench.call("materials__set", {"name": path, "roughness": 0.5})
    bench.call("materials__set", {"name": path, "metalness": 1})


def test_a_colour_is_not_tinted_by_the_points_colours(bench: Bench) -> None:
    path = _material(bench)
    switch = hou.node(path).parm("basecolor_usePointColor")
    switch.set(1)
    bench.call("materials__set", {"name": path, "color": [1, 0, 0]})
    assert switch.eval() == 0


def test_pictures_of_one_material_share_their_scale(bench: Bench) -> None:
    path, file = _material(bench), picture(bench.folder)
    asked = {"name": path, "path": file, "uv_scale": [2, 3]}
    bench.call("materials__set_texture", {**asked, "slot": "color"})
    with pytest.raises(HostError, match="share their uv_scale"):
        bench.call("materials__set_texture", {**asked, "slot": "roughness", "uv_scale": [1, 1]})
    with pytest.raises(HostError, match="leave out channel"):
        bench.call("materials__set_texture", {**asked, "slot": "opacity", "channel": "a"})
    bench.call("materials__set_texture", {**asked, "slot": "roughness", "channel": "g"})


def test_of_other_types_only_the_name_is_told(bench: Bench) -> None:
    cube = bench.cube("Cube")
    other = hou.node("/mat").createNode("constant", "Other")
    hou.node(cube).parm("shop_materialpath").set(other.path())
    told = bench.port(MATERIALS).get("Other")
    assert (told["type"], told["color"], told["roughness"]) == ("constant", None, None)
    with pytest.raises(HostError, match="materials__create"):
        bench.call("materials__set", {"name": "Other", "roughness": 0.5})


# -- looking ------------------------------------------------------------------------------------


@pytest.mark.skipif(REAL, reason="hython has no GUI")
def test_the_artists_view_is_as_it_was_also_when_drawing_fails(tmp_path: Path) -> None:
    new_houdini(windows=True)
    with houdini_host(lambda fn: None) as host:
        bench = Bench(host, tmp_path.resolve())
        cube, mine = bench.cube("Cube"), _camera(bench)
        hou.session.view_camera = mine
        before = _view()
        asked = {"width": 32, "height": 32, "angles": ["top"], "shading": "xray"}
        bench.call("viewport__look", asked)
        with pytest.raises(HostError, match="isn't a camera"):
            bench.call("viewport__look", {**asked, "angles": [], "camera": cube})
        assert _view() == before
        assert bench.reader.names() == [cube, mine]
        hou.session.view_camera = ""
        bench.call("viewport__look", asked)
        assert hou.session.view_camera == ""
        rendered = bench.call("viewport__look", {**asked, "shading": "rendered"})
        assert rendered["engine"] == "ifd"


@pytest.mark.skipif(REAL, reason="hython has no GUI")
def test_a_point_of_the_artists_view_is_an_object(tmp_path: Path) -> None:
    new_houdini(windows=True)
    with houdini_host(lambda fn: None) as host:
        bench = Bench(host, tmp_path.resolve())
        cube = bench.cube("Cube")
        before, asked = _view(), {"width": 64, "height": 32, "y": 0.5}
        seen = bench.call("viewport__pick", {**asked, "x": 0.5})
        assert seen["path"] == cube
        assert seen["point"] == pytest.approx([0.0, 0.0, 1.0])
        assert bench.call("viewport__pick", {**asked, "x": 0.01})["path"] is None
        assert _view() == before
        # Look through a camera that points the other way.
        mine = hou.node("/obj").createNode("cam", "mine")
        mine.parmTuple("t").set((0.0, 0.0, -9.0))
        hou.session.view_camera = mine.path()
        assert bench.call("viewport__pick", {**asked, "x": 0.5})["path"] is None
        mine.parmTuple("r").set((0.0, 180.0, 0.0))
        seen = bench.call("viewport__pick", {**asked, "x": 0.5})
        assert seen["point"] == pytest.approx([0.0, 0.0, -1.0])
        mine.parm("projection").set("ortho")
        with pytest.raises(HostError, match="'mine' isn't a perspective camera"):
            bench.call("viewport__pick", {**asked, "x": 0.5})


def _view() -> list[Any]:
    """Return the artist's view."""
    session = hou.session
    modes = {kind: mode for kind, mode in session.view_modes.items() if mode.name() != "SmoothWire"}
    return [session.view_camera, session.view_from, modes, session.view_materials]
