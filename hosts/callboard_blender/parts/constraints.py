"""Describes the constraints of objects and bones, and says why one doesn't work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy

from callboard.host import Json
from callboard_blender.parts.pointers import named_by

#: Types of constraints that work without a target.
_NEEDS_NONE = ("PIVOT",)


def constraints_of(obj: bpy.types.Object) -> Iterator[tuple[Any, str]]:
    """Yield the constraints of the object, and those of its bones with the bone's name."""
    for each in obj.constraints:
        yield each, ""
    for bone in obj.pose.bones if obj.pose else ():
        for each in bone.constraints:
            yield each, bone.name


def constraint_json(each: Any, bone: str) -> Json:
    """Return a description of the constraint. ``switch`` is the attribute that turns it off, and
    ``why`` says why it doesn't work."""
    path = f'constraints["{each.name}"].mute'
    entry: Json = {
        "name": each.name,
        "type": each.type.lower(),
        "enabled": not each.mute,
        "valid": (why := why_idle(each)) is None,
        "switch": f'pose.bones["{bone}"].{path}' if bone else path,
        "influence": each.influence,
        "uses": sorted({one.name_full for one in named_by(each)}),
    }
    if getattr(each, "subtarget", ""):
        entry["bone"] = each.subtarget
    if bone:
        entry["of_bone"] = bone
    return entry if why is None else {**entry, "why": why}


def why_idle(each: Any) -> str | None:
    """Return why the constraint doesn't work, or None. Blender's own ``is_valid`` isn't enough,
    because it stays true when the target is deleted."""
    named = f"the constraint '{each.name}'"
    if each.type == "ARMATURE":
        if not each.targets or any(one.target is None for one in each.targets):
            return f"{named} has no target"
    elif hasattr(each, "target"):
        if each.target is None:
            return None if each.type in _NEEDS_NONE else f"{named} has no target"
        bone = getattr(each, "subtarget", "")
        if bone and each.target.type == "ARMATURE" and bone not in each.target.data.bones:
            return f"{named} names the bone '{bone}', which '{each.target.name}' doesn't have"
    elif hasattr(each, "clip"):
        if each.clip is None and not each.use_active_clip:
            return f"{named} has no movie clip"
    elif hasattr(each, "cache_file") and each.cache_file is None:
        return f"{named} has no cache file"
    return None if each.is_valid else f"Blender marks {named} as not working"
