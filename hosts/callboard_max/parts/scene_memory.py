"""An attribute of the scene's root for data that 3ds Max doesn't store in a scene: unused
materials, the camera for pictures, and the light that surrounds the scene. Changes to the attribute
are undone and saved with the scene."""

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
    """Return the attribute, or None when nothing has been stored yet."""
    for definition in rt.custAttributes.getDefs(rt.rootNode) or ():
        if str(definition.name).lstrip("#").lower() == _NAME.lower():
            return rt.custAttributes.get(rt.rootNode, definition)
    return None


def lasting_memory() -> Any:
    """Return the attribute, after adding it if it is missing. Raises HostError if 3ds Max can't add
    it."""
    kept = memory()
    if kept is None:
        rt.custAttributes.add(rt.rootNode, rt.execute(_DEFINITION))
        kept = memory()
    if kept is None:
        raise HostError("3ds Max could not add an attribute to its scene; use a script")
    return kept
