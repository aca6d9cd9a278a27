"""Makes primitives, and recognizes them by the object at the bottom of the modifier stack."""

from __future__ import annotations

from collections.abc import Mapping

from pymxs import runtime as rt

from callboard.host import PrimitiveKind
from callboard_max.application.names import Node

_KINDS = {
    "sphere": "sphere",
    "geosphere": "sphere",
    "box": "cube",
    "plane": "plane",
    "cylinder": "cylinder",
    "cone": "cone",
    "torus": "torus",
}
#: Number of segments around the axis. It is a multiple of four, so that the bounds are those of the
#: round shape.
_AROUND = 32


def create(kind: PrimitiveKind, name: str, of: Mapping[str, float]) -> Node:
    """Make a primitive centered at the origin."""
    if kind == "sphere":
        return rt.Sphere(name=name, radius=of["radius"], segs=_AROUND)
    if kind == "plane":
        # Length is along Y, width along X.
        return rt.Plane(name=name, width=of["width"], length=of["depth"])
    if kind == "torus":
        major, minor = of["major_radius"], of["minor_radius"]
        return rt.Torus(name=name, radius1=major, radius2=minor, segs=_AROUND, sides=16)
    if kind == "cube":
        height = of["size"]
        made = rt.Box(name=name, width=height, length=height, height=height)
    elif kind == "cylinder":
        height = of["height"]
        made = rt.Cylinder(name=name, radius=of["radius"], height=height, sides=_AROUND)
    else:
        height = of["height"]
        made = rt.Cone(name=name, radius1=of["radius"], radius2=0.0, height=height, sides=_AROUND)
    # 3ds Max puts these shapes on the ground. Move the shape and leave its pivot where it is.
    made.objectOffsetPos = rt.Point3(0.0, 0.0, -height / 2)
    return made


def is_geometry(node: Node) -> bool:
    """Return whether the node has a surface. Cameras, lights, helpers and lines have none."""
    return str(rt.superClassOf(node)) == "GeometryClass"


def is_primitive(node: Node) -> bool:
    return str(rt.classOf(node.baseObject)).lower() in _KINDS


def kind_of(node: Node) -> str:
    """Return a primitive's kind or, for any other object, its 3ds Max class in lower case."""
    made_as = str(rt.classOf(node.baseObject)).lower()
    return _KINDS.get(made_as, made_as)
