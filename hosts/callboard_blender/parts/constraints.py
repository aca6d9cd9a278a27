"""Describes the constraints of objects and bones, and says why one is broken or does nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import bpy

from callboard.host import Json
from callboard_blender.parts.curves import curves_of, drivers_of
from callboard_blender.parts.pointers import named_by

#: Types of constraints that work without a target.
_NEEDS_NONE = ("PIVOT",)
#: What switches the axes of a constraint that copies, limits or inherits a transform.
_AXIS = re.compile("use_(min_|max_|limit_|location_|rotation_|scale_)?[xyz]")


def constraints_of(obj: bpy.types.Object) -> Iterator[tuple[Any, str]]:
    """Yield the constraints of the object, and those of its bones with the bone's name."""
    for each in obj.constraints:
        yield each, ""
    for bone in obj.pose.bones if obj.pose else ():
        for each in bone.constraints:
            yield each, bone.name


def constraint_json(each: Any, bone: str) -> Json:
    """Return a description of the constraint. ``switch`` is the attribute that turns it off,
    ``valid`` is false if it is broken, and ``why`` says why it does nothing, broken or not."""
    path = f'constraints["{each.name}"].mute'
    entry: Json = {
        "name": each.name,
        "type": each.type.lower(),
        "enabled": not each.mute,
        "valid": fault_of(each) is None,
        "switch": f'pose.bones["{bone}"].{path}' if bone else path,
        "influence": each.influence,
        "uses": sorted({one.name_full for one in named_by(each)}),
    }
    if getattr(each, "subtarget", ""):
        entry["bone"] = each.subtarget
    if bone:
        entry["of_bone"] = bone
    why = list(why_idle(each, bone))
    return {**entry, "why": "; ".join(why)} if why else entry


def why_idle(each: Any, bone: str) -> Iterator[str]:
    """Yield every reason why the constraint does nothing."""
    if fault := fault_of(each):
        yield fault
    if each.mute:
        yield "it is muted"
    obj = each.id_data
    if each.influence == 0:
        path = each.path_from_id("influence")
        driven = any(one.data_path == path for one in drivers_of(obj))
        keyed = any(one.data_path == path for one in curves_of(obj))
        by = ", by a driver" if driven else " at this frame, by keys" if keyed else ""
        yield f"its influence is 0{by}"
    axes = _axes(type(each).__name__)
    if axes and not any(getattr(each, key) for key in axes):
        yield "none of its axes is switched on"
    if bone and obj.data.pose_position == "REST":
        yield f"'{obj.name}' is in its rest position"


@cache
def _axes(name: str) -> tuple[str, ...]:
    properties = getattr(bpy.types, name).bl_rna.properties
    return tuple(each.identifier for each in properties if _AXIS.fullmatch(each.identifier))


def fault_of(each: Any) -> str | None:
    """Return why the constraint is broken, or None. Blender's own ``is_valid`` isn't enough,
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
