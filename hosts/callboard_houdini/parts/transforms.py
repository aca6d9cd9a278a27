"""Reads and sets local transforms as translate, rotate (Euler XYZ, degrees) and scale.

An object's parameters have exactly these values, unless the object has a different order, a pivot,
a uniform scale or a pre-transform. Such objects are read and written through their matrix.
"""

from __future__ import annotations

import hou

from callboard.errors import HostError
from callboard.host import Components, Vector
from callboard_houdini.application.names import telling
from callboard_houdini.parts.parms import number, numbers, parm_tuple, set_numbers

#: The parameter of each component.
CHANNELS = {"translate": "t", "rotate": "r", "scale": "s"}
_NEUTRAL = {"p": 0.0, "pr": 0.0, "scale": 1.0}


def read(node: hou.ObjNode) -> Components:
    if not is_plain(node):
        return explode(node.localTransform())
    translate, rotate, scale = (numbers(parm_tuple(node, name)) for name in CHANNELS.values())
    return translate, rotate, scale


def write(
    node: hou.ObjNode, translate: Vector | None, rotate: Vector | None, scale: Vector | None
) -> None:
    """Set the components that aren't None."""
    asked = (translate, rotate, scale)
    with telling(f"move '{node.name()}'"):
        if is_plain(node):
            for name, value in zip(CHANNELS.values(), asked, strict=True):
                if value is not None:
                    set_numbers(parm_tuple(node, name), value)
            return
        parts = node.localTransform().explode(transform_order="srt", rotate_order="xyz")
        for component, value in zip(CHANNELS, asked, strict=True):
            if value is not None:
                parts[component] = hou.Vector3(*value)
        write_matrix(node, build(parts))


def write_matrix(node: hou.ObjNode, wanted: hou.Matrix4) -> None:
    """Set the parameters so that the local transform is ``wanted``. The pre-transform is kept if
    the parameters can produce ``wanted`` with it, and is reset otherwise. A shear, which parameters
    can't express, goes into the pre-transform."""
    node.setParmTransform(wanted * node.preTransform().inverted())
    if _is(node, wanted):
        return
    node.setPreTransform(hou.hmath.identityTransform())
    node.setParmTransform(wanted)
    if not _is(node, wanted):
        node.setPreTransform(node.parmTransform().inverted() * wanted)


def build(parts: dict[str, hou.Vector3]) -> hou.Matrix4:
    return hou.hmath.buildTransform(parts, transform_order="srt", rotate_order="xyz")


def explode(matrix: hou.Matrix4) -> Components:
    parts = matrix.explode(transform_order="srt", rotate_order="xyz")
    translate, rotate, scale = ([float(v) for v in parts[component]] for component in CHANNELS)
    return translate, rotate, scale


def is_plain(node: hou.ObjNode) -> bool:
    if any(node.parmTuple(name) is None for name in CHANNELS.values()):
        return False
    for name, order in (("xOrd", "srt"), ("rOrd", "xyz")):
        setting = node.parm(name)
        if setting is not None and setting.evalAsString() != order:
            return False
    for name, value in _NEUTRAL.items():
        several = node.parmTuple(name)
        if several is not None and any(number(each) != value for each in several):
            return False
    return bool(node.preTransform().isAlmostEqual(hou.hmath.identityTransform()))


def require_plain(node: hou.ObjNode) -> None:
    """Raise HostError unless the object's transform is just its scale, Euler XYZ rotation and
    translation parameters, in that order. Otherwise keys on these parameters would have a different
    meaning."""
    if not is_plain(node):
        raise HostError(
            f"'{node.name()}' has a different transform order, a pivot, a uniform scale or a "
            "pre-transform; animate a parent of it instead"
        )


def _is(node: hou.ObjNode, wanted: hou.Matrix4) -> bool:
    size = max(1.0, *(abs(value) for value in wanted.asTuple()))
    return bool(node.localTransform().isAlmostEqual(wanted, 1e-6 * size))
