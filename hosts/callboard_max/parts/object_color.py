"""Reads and sets an object's color, which is the color of its own material. 3ds Max stores colors
from 0 to 255."""

from __future__ import annotations

from typing import Any

from pymxs import runtime as rt

from callboard.errors import HostError
from callboard.host import Vector
from callboard_max.application.names import Node, telling
from callboard_max.parts.driven_values import has
from callboard_max.parts.shapes import is_geometry, kind_of

#: The color and texture properties of the materials that 3ds Max ships.
_COLORS = (
    ("base_color", "base_color_map"),
    ("baseColor", "baseColor_map"),
    ("diffuseColor", "diffuseColor_map"),
    ("diffuse", "diffuseMap"),
)


def read_color(node: Node) -> list[float] | None:
    """Return linear RGB, or None if there is a texture or no material of a known kind."""
    return color_of(node.material)


def color_of(material: Any) -> list[float] | None:
    """Return a material's color as :func:`read_color` does."""
    properties = _color_of(material)
    if properties is None:
        return None
    color, texture = properties
    if has(material, texture) and getattr(material, texture) is not None:
        return None
    value = getattr(material, color)
    return [float(part) / 255 for part in (value.r, value.g, value.b)]


def set_color(node: Node, color: Vector) -> None:
    if not is_geometry(node):
        raise HostError(f"'{node.name}' is of type {kind_of(node)}, which has no color")
    with telling(f"color '{node.name}'"):
        material = node.material
        properties = _color_of(material)
        if properties is None or len(list(rt.refs.dependentNodes(material))) != 1:
            material = rt.PhysicalMaterial(name=f"{node.name}_look")
            node.material = material
            properties = _color_of(material)
        if properties is None:
            raise HostError("this 3ds Max has no physical material; color the object with a script")
        name, texture = properties
        if has(material, texture):
            setattr(material, texture, None)
        setattr(material, name, rt.Color(*(float(value) * 255 for value in color)))


def _color_of(material: Any) -> tuple[str, str] | None:
    if material is None:
        return None
    return next((pair for pair in _COLORS if has(material, pair[0])), None)
