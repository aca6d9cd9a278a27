"""Materials where 3ds Max differs, on the double or, under 3dsmaxbatch, on 3ds Max itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from max_rig import REAL, max_host, new_max, pymxs

from callboard.errors import HostError
from callboard.host import AmbiguousName
from callboard.hosting.picture_ports import MATERIALS
from callboard.testing.compliance import Bench

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
    return next(each for each in holder.kept if each.name == name)


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


@pytest.mark.skipif(REAL, reason="keys are set by the double")
def test_what_has_keys_is_refused(bench: Bench) -> None:
    path = _material(bench, objects=[bench.cube("Cube")])
    material = _node("Cube").material
    pymxs.session.controllers[(rt.getHandleByAnim(material), "roughness")] = "Bezier_Float"
    with pytest.raises(HostError, match="keys"):
        bench.call("materials__set", {"name": path, "roughness": 0.5})
    assert material.roughness == 0.5
    bench.call("materials__set", {"name": path, "metalness": 1})
