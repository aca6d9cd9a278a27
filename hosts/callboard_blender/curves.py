"""An object's animation curves, as every supported version of Blender keeps them."""

from __future__ import annotations

from typing import Any

import bpy


def curves_of(obj: bpy.types.Object) -> list[Any]:
    """The F-curves of the object's action; none where it has no action."""
    data = obj.animation_data
    if data is None or data.action is None:
        return []
    action = data.action
    if hasattr(action, "fcurves"):  # until 4.5
        return list(action.fcurves)
    return [
        curve
        for layer in action.layers
        for strip in layer.strips
        for bag in strip.channelbags
        if bag.slot == data.action_slot
        for curve in bag.fcurves
    ]


def drivers_of(obj: bpy.types.Object) -> list[Any]:
    """The drivers, expressions mostly, of the object's own properties."""
    return list(obj.animation_data.drivers) if obj.animation_data is not None else []
