"""Makes Arnold's light. In 3ds Max it is one class with many shapes."""

from __future__ import annotations

from typing import Any

from pymxs import runtime as rt

from callboard.errors import HostError
from callboard_max.application.names import Node
from callboard_max.parts.driven_values import has

#: Values of ``shapeType``.
SHAPES = {"point": 0, "sun": 1, "spot": 2, "area": 3, "dome": 6}
_DISK = 4
_KINDS = {number: kind for kind, number in SHAPES.items()} | {_DISK: "area", 5: "cylinder"}


def is_arnold(node: Node) -> bool:
    return has(node, "shapeType") and has(node, "quadX")


def is_quad(node: Node) -> bool:
    return int(node.shapeType) == SHAPES["area"]


def kind_of(node: Node) -> str:
    number = int(node.shapeType)
    return _KINDS.get(number, f"shape {number}")


def make(kind: str, name: str) -> Node:
    """Make a light. Raises HostError when the plug-in isn't loaded."""
    try:
        light: Any = rt.Arnold_Light
    except AttributeError:
        raise HostError(
            "lights need Arnold, whose plug-in isn't loaded; install MAXtoA, which comes"
            " with 3ds Max, or make a light with a script"
        ) from None
    node = light(name=name)
    node.shapeType, node.targeted = SHAPES[kind], False
    node.usePreset = node.useKelvin = False
    node.useColor, node.color = True, rt.Color(255, 255, 255)
    node.normalize, node.exposure, node.intensity = True, 0.0, 1.0
    return node
