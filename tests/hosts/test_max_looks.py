"""Tests cameras, lights and materials that 3ds Max handles differently. The tests use 3ds Max
itself under 3dsmaxbatch, and the double otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from math import atan, degrees, pi, radians, tan
from pathlib import Path
from typing import Any

import pytest
from max_rig import REAL, max_host, new_max, pymxs

from callboard.errors import HostError
from callboard.host import RENDER, AmbiguousName
from callboard.ports.capability_names import CAMERAS, LIGHTS, MATERIALS
from callboard_testing.compliance import Bench

rt = pymxs.runtime


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    new_max(windows=False)
    with max_host(lambda fn: None) as host:
        yield Bench(host, tmp_path.resolve())


def _material(bench: Bench, **asked: Any) -> str:
    path: str = bench.call("materials__create", asked)["created"][0]
    return path


def _node(name: str) -> Any:
    return rt.getNodeByName(name)


def test_one_that_nothing_has_is_there_and_one_that_a_node_has_is_there_once(bench: Bench) -> None:
    bench.cube("Cube")
    _material(bench, name="Spare")
    _material(bench, name="Used", objects=["Cube"])
    assert [*bench.port(MATERIALS).names()] == ["Spare", "Used"]


def test_faces_make_a_primitive_an_editable_poly(bench: Bench) -> None:
    path = _material(bench, objects=[bench.cube("Cube")])
    asked = {"name": _material(bench, name="Part"), "objects": ["Cube"], "faces": [1]}
    bench.call("materials__assign", asked)
    assert bench.get("Cube")["type"] == "editable_poly"
    assert bench.host.undo.undo(bench.call.undo_id)
    assert bench.get("Cube")["type"] == "cube"
    assert [*bench.port(MATERIALS).assigned("Cube")] == [path]


def test_below_modifiers_faces_are_refused_with_what_to_do(bench: Bench) -> None:
    bench.cube("Cube")
    rt.addModifier(_node("Cube"), rt.Bend())
    asked = {"name": _material(bench), "objects": ["Cube"], "faces": [1]}
    with pytest.raises(HostError, match="collapse it"):
        bench.call("materials__assign", asked)
    assert bench.get("Cube")["type"] == "cube"


def test_a_part_of_a_shared_one_is_changed_for_one_object_alone(bench: Bench) -> None:
    red = _material(bench, name="Red", color=[1, 0, 0])
    both = [bench.cube("One"), bench.cube("Two")]
    several = rt.Multimaterial(numsubs=2)
    several.materialList = rt.Array(_by_name("Red"), None)
    for name in ("One", "Two"):
        _node(name).material = several
    assert bench.call("materials__get", {"name": red})["users"] == both
    asked = {"name": red, "objects": ["One"], "color": [0, 1, 0]}
    copy = bench.call("materials__set", asked)["created"][0]
    assert [*bench.port(MATERIALS).assigned("One")] == [copy]
    assert [*bench.port(MATERIALS).assigned("Two")] == [red]


def _by_name(name: str) -> Any:
    holder = rt.custAttributes.get(rt.rootNode, rt.custAttributes.getDefs(rt.rootNode)[0])
    return next(each for each in holder.materials if each.name == name)


def test_materials_of_one_name_are_told_apart(bench: Bench) -> None:
    for name in ("One", "Two"):
        bench.cube(name)
        _node(name).material = rt.PhysicalMaterial(name="Same")
    with pytest.raises(AmbiguousName) as told:
        bench.call("materials__set", {"name": "Same", "roughness": 0.5})
    first = next(iter(bench.port(MATERIALS).assigned("One")))
    assert first in str(told.value)
    bench.call("materials__set", {"name": first, "roughness": 0.25})
    assert _node("One").material.roughness == 0.25
    assert _node("Two").material.roughness == 0


def test_a_roughness_that_is_told_as_gloss_is_turned_round(bench: Bench) -> None:
    path = _material(bench, objects=[bench.cube("Cube")])
    _node("Cube").material.roughness_inv = True
    bench.call("materials__set", {"name": path, "roughness": 0.25})
    assert _node("Cube").material.roughness == 0.75


def test_a_map_that_is_switched_off_decides_nothing(bench: Bench) -> None:
    path = _material(bench, objects=[bench.cube("Cube")], color=[1, 0, 0])
    material = _node("Cube").material
    material.base_color_map = rt.Checker()
    assert bench.port(MATERIALS).get(path)["color"] is None
    material.base_color_map_on = False
    told = bench.port(MATERIALS).get(path)
    assert (told["color"], told["textures"]) == ([1.0, 0.0, 0.0], {})


def test_of_other_types_only_the_colour_is_told(bench: Bench) -> None:
    bench.cube("Cube")
    _node("Cube").material = rt.Standardmaterial(name="Old")
    told = bench.port(MATERIALS).get("Old")
    assert (told["type"], told["roughness"]) == ("Standardmaterial", None)
    assert told["color"] == pytest.approx([150 / 255] * 3)
    with pytest.raises(HostError, match="materials__create"):
        bench.call("materials__set", {"name": "Old", "roughness": 0.5})


@pytest.mark.skipif(REAL, reason="only the double sets such keys")
def test_what_has_keys_is_refused(bench: Bench) -> None:
    path = _material(bench, objects=[bench.cube("Cube")])
    material = _node("Cube").material
    pymxs.session.controllers[(rt.getHandleByAnim(material), "roughness")] = "Bezier_Float"
    with pytest.raises(HostError, match="keys"):
        bench.call("materials__set", {"name": path, "roughness": 0.5})
    assert material.roughness == 0.5
    pymxs.session.controllers[(rt.getHandleByAnim(material), "emit_luminance")] = "Bezier_Float"
    with pytest.raises(HostError, match="emit_luminance"):
        bench.call("materials__set", {"name": path, "emission_strength": 2})
    bench.call("materials__set", {"name": path, "metalness": 1})


# -- cameras and lights ---------------------------------------------------------------------------


def _camera(bench: Bench, **asked: Any) -> str:
    path: str = bench.call("cameras__create", asked)["created"][0]
    return path


def test_the_angle_of_a_new_camera_is_that_of_its_lens(bench: Bench) -> None:
    path = _camera(bench, lens=50, sensor=36)
    across, down = bench.port(CAMERAS).get(path)["fov"]
    assert across == pytest.approx(39.598, abs=1e-3)
    assert down == pytest.approx(degrees(2 * atan(tan(radians(across) / 2) * 480 / 640)))


def test_other_cameras_have_a_lens_and_no_f_stop(bench: Bench) -> None:
    rt.Freecamera(name="Old", fov=39.598)
    assert bench.port(CAMERAS).get("Old")["lens"] == pytest.approx(50, abs=0.01)
    bench.call("cameras__set", {"name": "Old", "lens": 100, "clip": [1, 50]})
    assert _node("Old").fov == pytest.approx(20.408, abs=0.01)
    assert _node("Old").farclip == 50
    with pytest.raises(HostError, match="cameras__create"):
        bench.call("cameras__set", {"name": "Old", "fstop": 4})


def test_the_active_camera_renders_and_a_copy_of_it_is_not_active(bench: Bench) -> None:
    first, second = _camera(bench, name="First"), _camera(bench, name="Second")
    bench.call("cameras__set", {"name": second, "active": True})
    bench.editor.duplicate(second, "Copy")
    active = [each["path"] for each in bench.call("cameras__list")["cameras"] if each["active"]]
    assert active == [second] == [bench.port(RENDER).camera_path(bench.port(RENDER).camera())]
    bench.editor.delete([second])
    assert bench.port(CAMERAS).get(first)["active"]


@pytest.mark.skipif(REAL, reason="only the double can be without Arnold")
def test_without_arnold_lights_say_what_is_missing(bench: Bench) -> None:
    pymxs.session.arnold = False
    for tool, asked in (("create", {"kind": "point"}), ("set_environment", {"color": "#fff"})):
        with pytest.raises(HostError, match="MAXtoA"):
            bench.call(f"lights__{tool}", asked)
    assert bench.call("lights__list")["total"] == 0


def test_other_lights_are_told_and_not_set(bench: Bench) -> None:
    rt.Omnilight(name="Old")
    told = bench.port(LIGHTS).get("Old")
    assert (told["kind"], told["power"], told["intensity"]) == ("omnilight", None, 1.0)
    with pytest.raises(HostError, match="Omnilight"):
        bench.call("lights__set", {"name": "Old", "power": 10})


def test_power_is_watts_whatever_the_scene_counts_in(bench: Bench) -> None:
    bench.call("lights__create", {"kind": "area", "name": "Key", "power": 100})
    # A square inch in square meters.
    assert _node("Key").intensity == pytest.approx(100 / pi / 0.0254**2, rel=1e-4)


def test_one_that_is_not_normalized_has_no_power_until_it_is_given(bench: Bench) -> None:
    bench.call("lights__create", {"kind": "area", "name": "Key"})
    _node("Key").normalize = False
    assert bench.port(LIGHTS).get("Key")["power"] is None
    assert bench.call("lights__set", {"name": "Key", "power": 5})["light"]["power"] == (
        pytest.approx(5, rel=1e-4)
    )


def test_domes_and_the_environment_map_of_the_artist_are_switched_off_and_stay(
    bench: Bench,
) -> None:
    mine = rt.Arnold_Light(name="Mine", shapeType=6)
    rt.environmentMap, rt.useEnvironmentMap = rt.Checker(), True
    bench.call("lights__set_environment", {"color": [1, 1, 1]})
    assert not mine.on
    assert not rt.useEnvironmentMap
    assert rt.environmentMap is not None
    assert bench.host.undo.undo(bench.call.undo_id)
    assert mine.on
    assert rt.useEnvironmentMap


def test_a_picture_that_cant_be_read_leaves_the_environment_alone(
    bench: Bench, tmp_path: Path
) -> None:
    mine = rt.Arnold_Light(name="Mine", shapeType=6)
    rt.environmentMap, rt.useEnvironmentMap = rt.Checker(), True
    with pytest.raises(HostError, match=r"bad\.hdr"):
        bench.port(LIGHTS).set_environment({"path": str(tmp_path / "bad.hdr")})
    assert rt.useEnvironmentMap
    assert mine.on
    assert len(bench.port(LIGHTS).names()) == 1
