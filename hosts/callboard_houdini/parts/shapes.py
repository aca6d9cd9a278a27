"""Makes primitives, and recognizes them by the node that makes the geometry that an object
shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import hou

from callboard.host import PrimitiveKind
from callboard_houdini.application.names import root, type_of
from callboard_houdini.parts.parms import number, parm, parm_tuple, set_known, set_numbers

_KINDS = {"sphere": "sphere", "box": "cube", "grid": "plane", "torus": "torus"}
#: Nodes after which a primitive is still considered a primitive.
_SAME_SHAPE = ("material", "normal", "reverse", "subdivide")
#: Number of points around the axis. It is a multiple of four, so that the bounds are those of the
#: round shape.
_AROUND = 24


def create(kind: PrimitiveKind, name: str, of: Mapping[str, float]) -> hou.ObjNode:
    """Make a geometry object at the top of the scene with one node inside."""
    made = root().createNode("geo", name)
    assert isinstance(made, hou.ObjNode)
    for left in made.children():
        left.destroy()
    if kind == "sphere":
        shape = _add(made, "sphere", "polymesh", [of["radius"]] * 3, "rad")
        set_known(shape, "rows", _AROUND // 2 + 1)
        set_known(shape, "cols", _AROUND)
    elif kind == "cube":
        shape = _add(made, "box", "poly", [of["size"]] * 3, "size")
    elif kind == "plane":
        shape = _add(made, "grid", "poly", [of["width"], of["depth"]], "size", "zx")
        set_known(shape, "rows", 2)
        set_known(shape, "cols", 2)
    elif kind == "torus":
        sizes = [of["major_radius"], of["minor_radius"]]
        shape = _add(made, "torus", "poly", sizes, "rad", "y")
        set_known(shape, "rows", _AROUND)
        set_known(shape, "cols", _AROUND)
    else:
        top = of["radius"] if kind == "cylinder" else 0.0
        shape = _add(made, "tube", "poly", [top, of["radius"]], "rad", "y")
        parm(shape, "height").set(of["height"])
        set_known(shape, "cols", _AROUND)
        set_known(shape, "cap", 1)
    made.moveToGoodPosition(move_inputs=False, move_outputs=False, move_unconnected=False)
    return made


def _add(
    inside: hou.ObjNode,
    type: str,
    made_of: str,
    sizes: Sequence[float],
    parms: str,
    orient: str | None = None,
) -> hou.SopNode:
    shape = inside.createNode(type)
    assert isinstance(shape, hou.SopNode)
    parm(shape, "type").set(made_of)
    set_numbers(parm_tuple(shape, parms), sizes)
    if orient is not None:
        parm(shape, "orient").set(orient)
    shape.setDisplayFlag(True)
    shape.setRenderFlag(True)
    return shape


def shown(node: hou.ObjNode) -> hou.SopNode | None:
    """Return the inner node whose geometry the object shows."""
    displayed = node.displayNode()
    return displayed if isinstance(displayed, hou.SopNode) else None


def show(node: hou.SopNode) -> None:
    """Make the object show and render this node."""
    node.setDisplayFlag(True)
    node.setRenderFlag(True)


def geometry(node: hou.ObjNode) -> hou.Geometry | None:
    """Return the cooked geometry that the object shows, or None when there is none or it can't be
    cooked."""
    made_by = shown(node) if type_of(node) == "geo" else None
    if made_by is None:
        return None
    try:
        cooked = made_by.geometry()
    except hou.OperationFailed:
        return None
    if cooked is None or cooked.intrinsicValue("pointcount") == 0:
        return None
    return cooked


def count_of(shape: hou.Geometry) -> int:
    """Return how many primitives the geometry has."""
    count = shape.intrinsicValue("primitivecount")
    assert isinstance(count, int)
    return count


def kind_of(node: hou.ObjNode) -> str:
    """Return a primitive's kind, or else Houdini's type of the object, in lower case."""
    of_object = type_of(node)
    made_by = shown(node) if of_object == "geo" else None
    while made_by is not None and type_of(made_by) in _SAME_SHAPE:
        wired = made_by.inputs()
        made_by = wired[0] if wired and isinstance(wired[0], hou.SopNode) else None
    if made_by is not None:
        maker = type_of(made_by)
        if maker == "tube":
            top, bottom = (number(each) for each in parm_tuple(made_by, "rad"))
            return "cone" if top == 0 or bottom == 0 else "cylinder"
        if maker in _KINDS:
            return _KINDS[maker]
    return of_object.lower()
