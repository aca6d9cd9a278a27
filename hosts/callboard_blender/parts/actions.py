"""Finds what uses each action of the file, over which frames, and whether it plays there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import bpy

from callboard.host import Json
from callboard_blender.parts.constraints import constraints_of, why_idle
from callboard_blender.parts.curves import curves_for, has_keys
from callboard_blender.parts.data_blocks import collections
from callboard_blender.parts.drivers import drives_of
from callboard_blender.parts.unused_data import unused

#: Maximum number of curves that are named for each strip.
_MOST = 50


def uses_of_actions() -> Iterator[tuple[Any, Json] | None]:
    """Yield each action with one use of it, and None after each datablock of the file. A use is
    ``{by, kind, how, …, plays, why?}``."""
    loose = unused(bpy.data.user_map(), fake_users=False)
    for kind, data in collections():
        for block in [*data]:
            with suppress(ReferenceError):  # The datablock may have been removed by now.
                named: Json = {"by": block.name_full, "kind": kind}
                if kind == "shape_keys" and block.user is not None:
                    named["of"] = block.user.name_full
                away = [f"no scene uses '{block.name_full}'"] if block in loose else []
                for each in (block, getattr(block, "node_tree", None)):
                    animation = getattr(each, "animation_data", None)
                    for action, _, use, why in _uses(animation) if animation is not None else ():
                        yield action, _use({**named, **use}, [*away, *why])
                for action, use, why in _by_constraints(block) if kind == "objects" else ():
                    yield action, _use({**named, **use}, [*away, *why])
            yield None


def uses_by(part: bpy.types.ID) -> list[Json]:
    """Return ``{action, how, …, plays, why?}`` for the active action and each strip of ``part``,
    those that don't play included."""
    animation = getattr(part, "animation_data", None)
    return [
        {"action": action.name_full, **_use(use, why)}
        for action, _, use, why in (_uses(animation) if animation is not None else ())
    ]


def strips_json(parts: Mapping[bpy.types.ID, bpy.types.ID]) -> Iterator[Json]:
    """Yield ``{of, action, track, strip, frames, curves, plays, why?}`` for each strip of
    ``parts``, which maps each part to the datablock that it belongs to."""
    for part, holder in parts.items():
        animation = getattr(part, "animation_data", None)
        for action, strip, use, why in _uses(animation) if animation is not None else ():
            if use["how"] == "strip":
                told = {"of": holder.name_full, "action": action.name_full, **_use(use, why)}
                curves = [drives_of(each, part) for each in curves_for(strip)]
                yield {**told, "curves": curves[:_MOST]}


def sharers(part: bpy.types.ID) -> list[str]:
    """Return the names of other datablocks that use the active action of ``part`` in the same
    slot."""
    animation = getattr(part, "animation_data", None)
    if animation is None or animation.action is None:
        return []
    if hasattr(animation, "action_slot"):
        slot = animation.action_slot
        users = [] if slot is None else slot.users()
    else:
        users = bpy.data.user_map(subset={animation.action})[animation.action]
    return sorted({each.name_full for each in users if each != part})


def actions_of(parts: Iterable[bpy.types.ID]) -> dict[bpy.types.ID, str]:
    """Return the name of the active action of each part that has one."""
    return {
        part: part.animation_data.action.name_full
        for part in parts
        if getattr(part, "animation_data", None) is not None and part.animation_data.action
    }


def own_actions(before: Mapping[bpy.types.ID, str]) -> Json:
    """Return ``{own_actions}``, the copies that the parts got of actions that they shared.
    ``before`` is what :func:`actions_of` returned before the change."""
    copies = [each for part, each in actions_of(before).items() if each != before[part]]
    return {"own_actions": copies} if copies else {}


def used_by(action: bpy.types.Action) -> Json:
    """Return ``{used_by}``, the names of all that uses the action."""
    users = bpy.data.user_map(subset={action}).get(action, ())
    return {"used_by": sorted(each.name_full for each in users)[:_MOST]}


def action_json(action: Any, uses: list[Json]) -> Json:
    """Return ``{name, frames, fake_user, plays, why?, uses, …}``. ``frames`` is None if the action
    has no keys."""
    users = {each["by"] for each in uses}
    others = bpy.data.user_map(subset={action}).get(action, ())
    uses = uses + [
        {"by": each.name_full, "how": "refers to it", "plays": False}
        for each in sorted(others, key=lambda one: str(one.name_full))
        if each.name_full not in users
    ]
    first, last = action.curve_frame_range
    slots = [_slot_name(each) for each in getattr(action, "slots", ())]
    entry: Json = {
        "name": action.name_full,
        "frames": [first, last] if has_keys(action) else None,
        "fake_user": action.use_fake_user,
        "plays": any(each["plays"] for each in uses),
        "uses": uses,
    }
    if not entry["plays"]:
        kept = "only a fake user keeps it" if action.use_fake_user else "saving will drop it"
        reasons = dict.fromkeys(each["why"] for each in uses if "why" in each)
        entry["why"] = "; ".join(reasons) or f"nothing uses it, and {kept}"
    if action.use_frame_range:
        entry["manual_frames"] = [action.frame_start, action.frame_end]
    if action.asset_data is not None:
        entry["asset"] = True
    if action.library is not None:
        entry["library"] = action.library.filepath
    return {**entry, "slots": slots} if len(slots) > 1 else entry


def _use(use: Json, why: list[str]) -> Json:
    return {**use, "plays": not why, **({"why": "; ".join(why)} if why else {})}


def _uses(animation: Any) -> Iterator[tuple[Any, Any, Json, list[str]]]:
    """Yield the uses of actions by animation data: the action, the animation data or strip that
    uses it, a description, and the reasons why it doesn't play."""
    alone = [each.name for each in animation.nla_tracks if each.is_solo and animation.use_nla]
    if (action := animation.action) is not None:
        why = [f"the track '{name}' plays alone" for name in alone]
        weak = animation.use_nla and len(animation.nla_tracks) and not animation.action_influence
        why += [*_silent(animation), *(["its influence is 0"] if weak else [])]
        editing = {"edits_strip": True} if animation.use_tweak_mode else {}
        yield (
            action,
            animation,
            {"how": "active", **editing, **_slot(animation), **_keys(animation)},
            why,
        )
    aside = getattr(animation, "action_tweak_storage", None)
    if aside is not None:
        why = ["it is set aside while a strip is edited"]
        yield aside, animation, {"how": "active before a strip was edited"}, why
    for track in animation.nla_tracks:
        off = [] if animation.use_nla else ["the non-linear animation is switched off"]
        off += [f"the track '{name}' plays alone" for name in alone if name != track.name]
        off += [f"the track '{track.name}' is muted"] if track.mute else []
        for strip, why in _strips(track.strips, off):
            told = {"how": "strip", "track": track.name, "strip": strip.name}
            frames = [strip.frame_start, strip.frame_end]
            yield strip.action, strip, {**told, **_slot(strip), "frames": frames}, why


def _strips(strips: Any, off: list[str]) -> Iterator[tuple[Any, list[str]]]:
    """Yield the strips that have an action, also those inside of meta strips, with the reasons why
    they don't play."""
    for strip in strips:
        why = [*off, *([f"the strip '{strip.name}' is muted"] if strip.mute else [])]
        # If it isn't animated, Blender computes the influence, which is 0 outside of the strip.
        keyed = any(len(each.keyframe_points) for each in strip.fcurves)
        if strip.use_animated_influence and not keyed and not strip.influence:
            why.append(f"the influence of the strip '{strip.name}' is 0")
        if strip.action is not None:
            yield strip, [*why, *_silent(strip)]
        yield from _strips(strip.strips, why)


def _silent(user: Any) -> Iterator[str]:
    """Yield why the action does nothing for ``user``, which is animation data or a strip."""
    if hasattr(user, "action_slot") and user.action_slot is None:
        yield "no slot of the action is chosen"
    elif not (curves := curves_for(user)):
        yield "the action has no keys for it"
    elif all(each.mute or (each.group is not None and each.group.mute) for each in curves):
        yield "all its curves are muted"


def _slot(user: Any) -> Json:
    """Return the slot, if the action has several."""
    slot = getattr(user, "action_slot", None)
    several = slot is not None and len(user.action.slots) > 1
    return {"slot": _slot_name(slot)} if several else {}


def _slot_name(slot: Any) -> str:
    return str(slot.name_display)


def _keys(animation: Any) -> Json:
    """Return the frames of the first and the last key."""
    ranges = [each.range() for each in curves_for(animation) if len(each.keyframe_points)]
    if not ranges:
        return {}
    return {"frames": [min(each[0] for each in ranges), max(each[1] for each in ranges)]}


def _by_constraints(obj: bpy.types.Object) -> Iterator[tuple[Any, Json, list[str]]]:
    for each, bone in constraints_of(obj):
        if getattr(each, "action", None) is not None:
            told = {"how": "constraint", "constraint": each.name}
            of = {"bone": bone} if bone else {}
            frames = [each.frame_start, each.frame_end]
            yield each.action, {**told, **of, "frames": frames}, list(why_idle(each, bone))
