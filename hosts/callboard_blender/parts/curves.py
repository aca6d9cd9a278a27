"""Finds animation curves and drivers in every supported version of Blender. Up to 4.3, an action
holds one set of curves. In later versions, an action has a slot for each user."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import bpy

from callboard.host import Json

#: Maximum number of animated values that are named.
MOST_NAMED = 50
#: Why keys have no effect.
_GONE = "it has keys, but isn't there"
#: Prefixes of the transform's channels.
TRANSFORM = ("location", "rotation", "scale", "delta_")


def curves_of(owner: bpy.types.ID) -> list[Any]:
    """Return the F-curves of the owner's action. The list is empty if it has no action."""
    data = getattr(owner, "animation_data", None)
    if data is None or data.action is None:
        return []
    return curves_for(data)


def strip_curves_of(owner: bpy.types.ID) -> list[Any]:
    """Return the F-curves of the strips that play in the owner's non-linear animation."""
    return [curve for strip in strips_of(owner) for curve in curves_for(strip)]


def strips_of(owner: bpy.types.ID) -> list[Any]:
    """Return the strips with an action that play in the owner's non-linear animation."""
    data = getattr(owner, "animation_data", None)
    if data is None or not data.use_nla:
        return []
    alone = [track for track in data.nla_tracks if track.is_solo]
    return [
        strip
        for track in alone or data.nla_tracks
        for strip in track.strips
        if not track.mute and not strip.mute and strip.action is not None
    ]


def unkeyed_channels(obj: bpy.types.Object) -> list[str]:
    """Return the transform channels that differ from the object's own keys at this frame. Such
    values, set without a key, are lost at the next frame and when the file is opened."""
    data = obj.animation_data
    if data is None or data.action is None or (data.use_nla and len(data.nla_tracks)):
        return []
    frame = bpy.context.scene.frame_current_final
    return list(
        dict.fromkeys(
            curve.data_path
            for curve in curves_for(data)
            if curve.data_path.startswith(TRANSFORM)
            and not curve.mute
            and not (curve.group is not None and curve.group.mute)
            and not _near(getattr(obj, curve.data_path)[curve.array_index], curve.evaluate(frame))
        )
    )


def _near(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-4)


def drivers_of(owner: bpy.types.ID | None) -> list[Any]:
    """Return the drivers of the owner's properties, which are usually expressions."""
    data = getattr(owner, "animation_data", None)
    return list(data.drivers) if data is not None else []


def driven_parts(obj: bpy.types.Object) -> Iterator[tuple[bpy.types.ID, bpy.types.ID]]:
    """Yield everything that can have its own drivers, with the datablock that it belongs to: the
    object, its data, its shape keys, and its materials with their node trees."""
    materials = {slot.material for slot in obj.material_slots} - {None}
    for each in (obj, obj.data, getattr(obj.data, "shape_keys", None), *materials):
        if each is not None:
            yield each, each
    yield from ((each.node_tree, each) for each in materials if each.node_tree is not None)


def motion_of(path: str, parts: Mapping[bpy.types.ID, bpy.types.ID]) -> dict[str, Json]:
    """Return ``{action, frames, why?}`` for each value of ``parts`` that has keys and for each
    strip, by its name. ``parts`` maps each part to the datablock that it belongs to. ``frames`` is
    a set, of a strip its first frame and its last. ``why`` says that the value isn't there."""
    moving: dict[str, Json] = {}
    for part, holder in parts.items():
        before = "" if holder.name_full == path else f"{holder.name_full}: "
        for curve in curves_of(part):
            flat = [0.0] * (2 * len(curve.keyframe_points))
            curve.keyframe_points.foreach_get("co", flat)
            entry = moving.get(of := f"{before}{curve.data_path}")
            if entry is None:
                entry = {"action": part.animation_data.action.name_full, "frames": set()}
                moving[of] = entry if has(part, curve.data_path) else {**entry, "why": _GONE}
            moving[of]["frames"].update(flat[::2])
        for strip in strips_of(part):
            frames = {strip.frame_start, strip.frame_end}
            moving[f"{before}strip {strip.name}"] = {
                "action": strip.action.name_full,
                "frames": frames,
            }
    return moving


def motion_json(path: str, parts: Mapping[bpy.types.ID, bpy.types.ID]) -> Json | None:
    """Return ``{path, keys, start, end, of, actions, broken?}`` for the keys of ``parts``, or None
    if they have no keys. ``broken`` names what has keys but isn't there."""
    moving = motion_of(path, parts)
    frames = {frame for each in moving.values() for frame in each["frames"]}
    if not frames:
        return None
    start, end = min(frames), max(frames)
    actions = list(dict.fromkeys(each["action"] for each in moving.values()))[:MOST_NAMED]
    answer = {"path": path, "keys": len(frames), "start": start, "end": end}
    answer |= {"of": list(moving)[:MOST_NAMED], "actions": actions}
    broken = [of for of, each in moving.items() if "why" in each][:MOST_NAMED]
    return {**answer, "broken": broken} if broken else answer


def has(owner: bpy.types.ID, path: str) -> bool:
    """Return whether there is a property at this path."""
    try:
        owner.path_resolve(path, False)
    except ValueError:
        return False
    return True


def own_action(owner: bpy.types.ID) -> None:
    """Give the owner its own copy of a shared action, because the action's keys are about to
    change."""
    data = owner.animation_data
    action = data.action if data is not None else None
    if action is None:
        return
    slot = getattr(data, "action_slot", None)
    if has_slots(action):
        shared = slot is not None and len(slot.users()) > 1
    else:
        shared = action.users - action.use_fake_user > 1
    if shared or action.library is not None:
        use_action(owner, action.copy())


def use_action(owner: bpy.types.ID, copy: bpy.types.Action) -> None:
    """Have the owner use a copy of its action, in the same slot."""
    data = owner.animation_data
    slot = getattr(data, "action_slot", None)
    identifier = slot.identifier if slot is not None else None
    data.action = copy
    if identifier is not None:
        data.action_slot = copy.slots[identifier]


def curves_for(user: Any) -> list[Any]:
    """Return the curves for ``user``, an owner's animation data or a strip. An action with slots
    also lists the curves of its first slot as its own."""
    if not hasattr(user, "action_slot"):
        return list(user.action.fcurves)
    return [
        curve
        for bag in bags_of(user.action)
        if bag.slot == user.action_slot
        for curve in bag.fcurves
    ]


def has_slots(action: bpy.types.Action) -> bool:
    """Return whether the action has slots, as from Blender 4.4."""
    return hasattr(action, "slots")


def has_keys(action: bpy.types.Action) -> bool:
    """Return whether the action has a key, in any slot."""
    holders = bags_of(action) if has_slots(action) else [action]
    return any(len(curve.keyframe_points) for each in holders for curve in each.fcurves)


def bags_of(action: bpy.types.Action) -> list[Any]:
    """Return what holds the curves of each slot of the action, from Blender 4.4."""
    return [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]
