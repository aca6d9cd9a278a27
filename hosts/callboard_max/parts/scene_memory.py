"""What 3ds Max doesn't keep in a scene by itself: an attribute of its root, undone and saved with
the scene. It has materials that nothing has yet, the camera that takes the pictures, and the light
that surrounds the scene."""

from __future__ import annotations

from typing import Any

from pymxs import runtime as rt

from callboard.errors import HostError

_NAME = "callboardScene"
_DEFINITION = (
    f"attributes {_NAME} attribID:#(0x5ca11b0a, 0x2d0c3a71) (parameters main ("
    "materials type:#materialTab tabSizeVariable:true camera type:#node environment type:#node))"
)


def memory() -> Any:
    """The attribute; None where nothing was kept yet."""
    for definition in rt.custAttributes.getDefs(rt.rootNode) or ():
        if str(definition.name).lstrip("#").lower() == _NAME.lower():
            return rt.custAttributes.get(rt.rootNode, definition)
    return None


def lasting_memory() -> Any:
    """The attribute, made where there is none. Raises HostError."""
    kept = memory()
    if kept is None:
        rt.custAttributes.add(rt.rootNode, rt.execute(_DEFINITION))
        kept = memory()
    if kept is None:
        raise HostError("3ds Max keeps no attribute in its scene; do it by a script")
    return kept
