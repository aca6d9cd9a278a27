"""Reads and sets an object's color, which is the color of its own material.

The material is in a small network inside the object. So a copy of the object includes a copy of the
network, and deleting the object deletes the network.
"""

from __future__ import annotations

import hou

from callboard.errors import HostError
from callboard.host import Vector
from callboard_houdini.application.names import telling
from callboard_houdini.parts.assets import refuse_contents
from callboard_houdini.parts.faces import whole
from callboard_houdini.parts.parms import number, numbers, parm_tuple, set_known, set_numbers

_NETWORK, _MATERIAL = "callboard_look", "surface"
#: The color parameters of the materials that come with Houdini. Their values are linear.
_COLORS = ("basecolor", "base_color", "diffuseColor")


def read_color(node: hou.ObjNode) -> list[float] | None:
    """Return linear RGB, or None for a texture or an unknown kind of material."""
    material = whole(node)
    parms = base_color(material) if material is not None else None
    if material is None or parms is None:
        return None
    textured = material.parm("basecolor_useTexture")
    if textured is not None and number(textured):
        return None
    return numbers(parms)


def set_color(node: hou.ObjNode, color: Vector) -> None:
    with telling(f"color '{node.name()}'"):
        slot = node.parm("shop_materialpath")
        if slot is None or node.childTypeCategory() != hou.sopNodeTypeCategory():
            raise HostError(f"'{node.name()}' is of type {node.type().name()}, which has no color")
        material = whole(node)
        if material is None or not _is_inside(material, node) or base_color(material) is None:
            refuse_contents(node)
            material = _make(node)
            slot.set(f"{_NETWORK}/{material.name()}")
        for switch in ("basecolor_useTexture", "basecolor_usePointColor"):
            set_known(material, switch, 0)
        parms = base_color(material)
        if parms is None:
            raise HostError("this Houdini's material has no base color; color it with a script")
        set_numbers(parms, color)


def _make(node: hou.ObjNode) -> hou.OpNode:
    network = node.node(_NETWORK)
    if network is None:
        network = node.createNode("matnet", _NETWORK)
    assert isinstance(network, hou.OpNode)
    return network.createNode("principledshader", _MATERIAL)


def _is_inside(material: hou.OpNode, node: hou.ObjNode) -> bool:
    return bool(material.path().startswith(f"{node.path()}/"))


def base_color(material: hou.OpNode) -> hou.ParmTuple | None:
    for name in _COLORS:
        if material.parmTuple(name) is not None:
            return parm_tuple(material, name)
    return None
