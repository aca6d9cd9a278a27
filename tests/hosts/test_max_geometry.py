"""Tests shapes that 3ds Max handles differently, on the double or, under 3dsmaxbatch, in 3ds Max
itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from max_rig import REAL, max_host, new_max, pymxs
from test_max import _xref

from callboard.errors import HostError
from callboard.host import GEOMETRY
from callboard_testing.checks.geometry import volume_of
from callboard_testing.checks.objects import close
from callboard_testing.compliance import Bench

rt = pymxs.runtime


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    new_max(windows=False)
    with max_host(lambda fn: None) as host:
        yield Bench(host, tmp_path.resolve())


def shape(bench: Bench, tool: str, name: str, **asked: Any) -> Any:
    return bench.call(f"geometry__{tool}", {"name": name, **asked})["shape"]


def base(name: str) -> str:
    return str(rt.classOf(rt.getNodeByName(name).baseObject))


def stack(name: str) -> list[str]:
    return [str(rt.classOf(each)) for each in rt.getNodeByName(name).modifiers]


def test_a_primitive_is_read_in_polygons_and_stays_one(bench: Bench) -> None:
    path = bench.cube("Crate")
    rt.setSaveRequired(False)
    around = [str(node.name) for node in rt.objects], int(rt.theHold.GetGlobalPutCount())
    told = bench.call("geometry__info", {"name": path})
    assert told["mesh"] == {"vertices": 8, "edges": 12, "faces": 6, "triangles": 12}
    assert told["closed"] is True
    # 3ds Max makes the object on the ground and then moves it, so its points are around its
    # position.
    points = bench.port(GEOMETRY).mesh(path).points
    assert close([min(each[2] for each in points) + max(each[2] for each in points)], [0.0])
    assert (base("Crate"), rt.getSaveRequired()) == ("Box", False)
    assert ([str(node.name) for node in rt.objects], int(rt.theHold.GetGlobalPutCount())) == around
    # Faces that already have the right direction aren't changed.
    shape(bench, "normals", path, side="outside")
    assert base("Crate") == "Box"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sphere", "cylinder", "cone", "torus", "plane"])
def test_every_primitive_can_be_turned_and_turned_back(bench: Bench, kind: Any) -> None:
    sizes = {
        "sphere": {"radius": 2.0},
        "cylinder": {"radius": 1.0, "height": 3.0},
        "cone": {"radius": 1.0, "height": 3.0},
        "torus": {"major_radius": 3.0, "minor_radius": 1.0},
        "plane": {"width": 2.0, "depth": 2.0},
    }[kind]
    path = bench.editor.create(kind, None, sizes)
    before = volume_of(bench, path)
    assert kind == "plane" or before > 0
    shape(bench, "normals", path, side="flip")
    assert close([volume_of(bench, path)], [-before])
    if kind != "plane":
        shape(bench, "normals", path, side="outside")
        assert close([volume_of(bench, path)], [before])


def test_the_artists_modifiers_stay_above_a_change(bench: Bench) -> None:
    path = bench.cube("Crate")
    for type in ("shell", "bend"):
        bench.call("max_modifiers__add_modifier", {"name": path, "type": type})
    told = shape(bench, "triangulate", path)
    assert (told["mesh"]["faces"], told["result"]) == (12, None)
    assert [each["kind"] for each in told["modifiers"]] == stack("Crate") == ["Bend", "Shell"]
    shape(bench, "shade", path, smooth=True)
    shape(bench, "normals", path, side="flip")
    assert (stack("Crate"), base("Crate")) == (["Bend", "Shell"], "Editable_Poly")


def test_a_turbosmooth_on_top_is_the_subdivision_whoever_made_it(bench: Bench) -> None:
    path = bench.cube("Crate")
    bench.call("max_modifiers__add_modifier", {"name": path, "type": "turbosmooth"})
    told = bench.call("geometry__info", {"name": path})
    assert told["subdivision"] == {"scheme": "catmull_clark", "levels": 1}
    assert (told["result"]["faces"], told["modifiers"]) == (24, [])
    assert shape(bench, "subdivide", path, levels=2)["result"]["faces"] == 96
    assert stack("Crate") == ["TurboSmooth"]
    asked = {"name": path, "index": 1, "enabled": False}
    bench.call("max_modifiers__set_modifier", asked)
    off = bench.call("geometry__info", {"name": path})
    assert off["subdivision"]["scheme"] == "none"
    assert off["result"] == off["mesh"]


def test_a_mesh_is_triangles_and_stays_a_mesh(bench: Bench) -> None:
    path = bench.cube("Crate")
    node = rt.getNodeByName("Crate")
    rt.addModifier(node, rt.Turn_to_Mesh())
    rt.maxOps.CollapseNodeTo(node, 1, True)
    assert bench.call("geometry__info", {"name": path})["mesh"]["faces"] == 12
    assert shape(bench, "shade", path, smooth=True)["shading"] == "smooth"
    shape(bench, "normals", path, side="flip")
    assert base("Crate") == "Editable_mesh"


def test_a_material_of_some_faces_stays_with_them(bench: Bench) -> None:
    path = bench.cube("Crate")
    bench.call("materials__create", {"name": "Lid", "color": "#ff0000"})
    bench.call("materials__assign", {"name": "Lid", "objects": [path], "faces": [2]})
    shape(bench, "triangulate", path)
    faces = bench.port("materials").assigned(path)["Lid"]
    assert list(faces) == [4, 5]


def test_what_has_no_faces_or_not_its_own_is_refused(bench: Bench) -> None:
    lamp = rt.Omnilight(name="Lamp")
    with pytest.raises(HostError, match="is of type omnilight, which has no shape"):
        bench.call("geometry__info", {"name": str(lamp.name)})
    path = _xref(bench)
    before = bench.call("geometry__info", {"name": path})
    for tool, asked in (
        ("triangulate", {}),
        ("normals", {"side": "flip"}),
        ("shade", {"smooth": True}),
    ):
        with pytest.raises(HostError, match="come from another file"):
            shape(bench, tool, path, **asked)
    assert bench.call("geometry__info", {"name": path}) == before
    assert shape(bench, "subdivide", path, levels=1)["result"]["faces"] == 24


@pytest.mark.skipif(REAL, reason="only the double can be given instances")
def test_instances_are_refused(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    path = bench.cube("Crate")
    both = [rt.getNodeByName("Crate"), rt.Box(name="Twin")]
    monkeypatch.setattr(type(rt.refs), "dependentNodes", lambda self, what: both)
    with pytest.raises(HostError, match="one of several instances"):
        shape(bench, "triangulate", path)
    assert base("Crate") == "Box"


@pytest.mark.skipif(REAL, reason="there is no double inside 3ds Max")
def test_the_double_polices_polys_and_meshes() -> None:
    from test_max_double import elsewhere

    new_max(windows=False)
    crate = rt.Box(name="Crate")
    with pytest.raises(RuntimeError, match="isn't of class Editable_Poly"):
        rt.polyop.getNumFaces(crate)
    rt.convertToPoly(crate)
    with pytest.raises(RuntimeError, match="isn't of class Editable_mesh"):
        rt.meshop.getNumFaces(crate)
    for wrong in (
        lambda: rt.polyop.flipNormals(crate, rt.Array(1)),
        lambda: rt.polyop.getFaceVertices(crate, 1),
    ):
        with pytest.raises(AttributeError):
            wrong()
    for number in (0, 7):
        with pytest.raises(RuntimeError, match="no face"):
            rt.polyop.getFaceVerts(crate, number)
    with pytest.raises(AttributeError, match="Unknown property"):
        rt.Turn_to_Poly().maxSize = 3
    with pytest.raises(RuntimeError, match="modal prompt"):
        rt.maxOps.CollapseNodeTo(crate, 1, False)
    with pytest.raises(RuntimeError, match="was called from"):
        elsewhere(lambda: rt.polyop.getNumFaces(crate))
