"""Reads and sets an object's color, which is the color of its own material."""

from __future__ import annotations

from maya import cmds

from callboard.errors import HostError
from callboard.host import Vector
from callboard_maya.application.names import bare, telling
from callboard_maya.parts.groups import EVERYBODYS, give, new_for
from callboard_maya.parts.shapes import shape_of

#: The attribute that holds the color, by the material's type. Its values are linear.
COLOR_ATTRIBUTES = {
    "standardSurface": "baseColor",
    "openPBRSurface": "baseColor",
    "aiStandardSurface": "baseColor",
    "usdPreviewSurface": "diffuseColor",
    "lambert": "color",
    "blinn": "color",
    "phong": "color",
    "phongE": "color",
    "surfaceShader": "outColor",
}
COLORABLE = ("mesh", "nurbsSurface", "subdiv")


def read_color(path: str) -> list[float] | None:
    """Return linear RGB, or None if there is a texture, or not exactly one material."""
    shape = shape_of(path)
    groups = _groups(shape) if shape else []
    if len(groups) != 1:
        return None
    attribute = _color_attribute(groups[0])
    if attribute is None or cmds.listConnections(attribute, source=True, destination=False):
        return None
    return [float(value) for value in cmds.getAttr(attribute)[0]]


def set_color(path: str, color: Vector) -> None:
    shape = shape_of(path)
    kind = cmds.nodeType(shape or path)
    if shape is None or kind not in COLORABLE:
        raise HostError(f"'{bare(path)}' is of type {kind}, which has no color")
    with telling(f"color '{bare(path)}'"):
        attribute = _own_color_attribute(path, shape)
        for plug in (
            cmds.listConnections(attribute, source=True, destination=False, plugs=True) or []
        ):
            cmds.disconnectAttr(plug, attribute)
        cmds.setAttr(attribute, *color, type="double3")


def _own_color_attribute(path: str, shape: str) -> str:
    groups = _groups(shape)
    if len(groups) == 1 and groups[0] != EVERYBODYS:
        members = cmds.listConnections(f"{groups[0]}.dagSetMembers", shapes=True) or []
        attribute = _color_attribute(groups[0])
        if len(members) == 1 and attribute is not None:
            return attribute
    name = f"{bare(path).replace(':', '_')}_look"
    material = cmds.shadingNode("standardSurface", asShader=True, name=name, skipSelect=True)
    give(shape, new_for(material), None)
    return f"{material}.baseColor"


def _groups(shape: str) -> list[str]:
    return list(dict.fromkeys(cmds.listConnections(shape, type="shadingEngine") or []))


def _color_attribute(group: str) -> str | None:
    shaders = cmds.listConnections(f"{group}.surfaceShader", source=True, destination=False)
    if not shaders:
        return None
    attribute = COLOR_ATTRIBUTES.get(str(cmds.nodeType(shaders[0])))
    return f"{shaders[0]}.{attribute}" if attribute else None
