"""Tests shapes that Houdini handles differently, on the double or, under hython, in Houdini
itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from houdini_rig import hou, houdini_host, new_houdini

from callboard.errors import HostError
from callboard.host import USD
from callboard_testing.compliance import Bench
from needed import need


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    new_houdini(windows=False)
    with houdini_host(lambda fn: None) as host:
        yield Bench(host, tmp_path.resolve())


def shape(bench: Bench, tool: str, name: str, **asked: Any) -> Any:
    return bench.call(f"geometry__{tool}", {"name": name, **asked})["shape"]


def chain(path: str) -> list[str]:
    """Return the types of the nodes that make what the object shows, first to last."""
    node, types = hou.node(path).displayNode(), []
    while node is not None:
        types.append(node.type().name())
        node = (node.inputs() or (None,))[0]
    return types[::-1]


def test_changes_are_nodes_that_the_artist_can_take_away(bench: Bench) -> None:
    path = bench.cube("Crate")
    shape(bench, "subdivide", path, levels=1)
    shape(bench, "shade", path, smooth=True)
    shape(bench, "normals", path, side="flip")
    assert chain(path) == ["box", "reverse", "normal", "subdivide"]
    assert bench.get(path)["type"] == "cube"
    told = shape(bench, "subdivide", path, levels=2)
    assert (told["mesh"]["faces"], told["result"]["faces"], told["shading"]) == (6, 96, "smooth")
    shape(bench, "subdivide", path, scheme="none")
    assert chain(path) == ["box", "reverse", "normal"]
    shape(bench, "triangulate", path)
    assert chain(path) == ["box", "reverse", "divide", "normal"]
    assert bench.get(path)["type"] == "geo"


def test_faces_with_their_own_material_keep_their_numbers(bench: Bench) -> None:
    path = bench.cube("Crate")
    bench.call("materials__create", {"name": "lid", "color": "#ff0000"})
    bench.call("materials__assign", {"name": "lid", "objects": [path], "faces": [2]})
    before = chain(path)
    with pytest.raises(HostError, match="would refer to different faces once it is triangulated"):
        shape(bench, "triangulate", path)
    assert chain(path) == before
    assert shape(bench, "normals", path, side="flip")["mesh"]["faces"] == 6


def test_what_shows_nothing_is_told(bench: Bench) -> None:
    bench.call("cameras__create", {"name": "Eye"})
    with pytest.raises(HostError, match="is of type cam and shows no geometry"):
        bench.call("geometry__info", {"name": "Eye"})


def test_primitives_are_polygons_that_lie_and_stand_as_in_other_hosts(bench: Bench) -> None:
    sizes = {
        "cylinder": {"radius": 1.0, "height": 2.0},
        "plane": {"width": 1.0, "depth": 2.0},
        "torus": {"major_radius": 2.0, "minor_radius": 0.5},
    }
    told = {}
    for kind, of in sizes.items():
        made = hou.node(bench.editor.create(kind, kind.capitalize(), of)).displayNode()
        told[kind] = [made.parm(each).evalAsString() for each in ("type", "orient")]
    assert told == {"cylinder": ["poly", "y"], "plane": ["poly", "zx"], "torus": ["poly", "y"]}


def test_simple_shapes_and_colors_of_openusd_become_nodes(bench: Bench) -> None:
    need("pxr")
    file = bench.folder / "shapes.usda"
    file.write_text(_SHAPES, encoding="utf-8")
    bench.port(USD).import_usd(str(file), None)
    told = {}
    for name in ("Ball", "Box", "Can", "Hat"):
        made = hou.node(f"/obj/{name}").displayNode()
        values = {
            parm: each.eval()
            for parm in ("rad", "size", "height", "orient", "cols", "cap")
            if (each := made.parmTuple(parm)) is not None
        }
        told[name] = {"type": made.type().name(), **values}
    tube = {"type": "tube", "cols": (24,), "cap": (1,)}
    assert told == {
        "Ball": {"type": "sphere", "rad": (2.0, 2.0, 2.0), "cols": (24,)},
        "Box": {"type": "box", "size": (3.0, 3.0, 3.0)},
        "Can": {**tube, "rad": (1.5, 1.5), "height": (5.0,), "orient": (0,)},
        "Hat": {**tube, "rad": (0.0, 2.5), "height": (4.0,), "orient": (2,)},
    }
    assert hou.node("/obj/Ball").displayNode().parm("type").evalAsString() == "polymesh"
    # Objects have no shear parameter, so the shear is in the transform that precedes the
    # parameters.
    sheared = hou.node("/obj/Box").localTransform().asTuple()
    assert sheared[:6] == pytest.approx((1, 0, 0, 0, 0.5, 1))
    red = hou.node("/obj/Ball").node(hou.node("/obj/Ball").parm("shop_materialpath").eval())
    assert [red.parm(f"basecolor{each}").eval() for each in "rgb"] == [1, 0, 0]


_SHAPES = """#usda 1.0
(
    metersPerUnit = 1
    upAxis = "Y"
)
def Sphere "Ball" (
    prepend apiSchemas = ["MaterialBindingAPI"]
) {
    double radius = 2
    rel material:binding = </Red>
}
def Cube "Box" {
    double size = 3
    matrix4d xformOp:transform = ((1, 0, 0, 0), (0.5, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))
    uniform token[] xformOpOrder = ["xformOp:transform"]
}
def Cylinder "Can" {
    double radius = 1.5
    double height = 5
    uniform token axis = "X"
}
def Cone "Hat" {
    double radius = 2.5
    double height = 4
    uniform token axis = "Z"
}
def Material "Red" {
    token outputs:surface.connect = </Red/Surface.outputs:surface>
    def Shader "Surface" {
        uniform token info:id = "UsdPreviewSurface"
        color3f inputs:diffuseColor = (1, 0, 0)
        token outputs:surface
    }
}
"""
