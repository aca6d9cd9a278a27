"""The tools of the ``blender-animation`` skill."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from itertools import islice
from math import inf
from typing import Any

import bpy

from callboard.content import Json
from callboard.errors import WrongArgument
from callboard.skill import alike, expect, in_slices
from callboard_blender.parts.actions import (
    action_json,
    actions_of,
    own_actions,
    sharers,
    strips_json,
    used_by,
    uses_by,
    uses_of_actions,
)
from callboard_blender.parts.curve_changes import curve_json
from callboard_blender.parts.curve_choice import Which
from callboard_blender.parts.curve_keys import keys_json
from callboard_blender.parts.nla import active_json, strip_json, track_json

#: Maximum number of curves that an answer to a change describes, of strips and of sharers.
_MOST = 50
#: Maximum number of keys that an answer describes.
_MOST_KEYS = 2_000


def list_actions(
    ctx: Any,
    pattern: str | None = None,
    plays: bool | None = None,
    offset: int = 0,
    limit: int = 200,
) -> Generator[None, None, Json]:
    ctx.port("structure")
    uses: defaultdict[Any, list[Json]] = defaultdict(list)
    listed: list[Json] = []

    def read() -> Generator[None, None, None]:
        for each in uses_of_actions():
            if each is not None:
                uses[each[0]].append(each[1])
            yield
        for action in [*bpy.data.actions]:
            with suppress(ReferenceError):  # The action may have been removed by now.
                if pattern is None or fnmatchcase(action.name.lower(), pattern.lower()):
                    listed.append(action_json(action, uses[action]))
            yield

    yield from in_slices(read())
    told = [each for each in listed if plays in (None, each["plays"])]
    return {
        "actions": told[offset : offset + limit],
        "total": len(told),
        "playing": sum(each["plays"] for each in told),
    }


def list_curves(
    ctx: Any,
    name: str,
    modified: bool = False,
    curves: Sequence[str] = (),
    bones: Sequence[str] = (),
    action: str | None = None,
    slot: str | None = None,
    missing: bool = False,
    keys: bool = False,
    start: float = -inf,
    end: float = inf,
    offset: int = 0,
    limit: int = 200,
) -> Json:
    editor, which = ctx.port("structure").curves, Which(name, curves, bones, action, slot, missing)
    fitting = [each for each in editor.chosen(which) if not modified or each.curve.modifiers]
    answer: Json = {"curves": [], "total": len(fitting)}
    left = _MOST_KEYS
    for each in fitting[offset : offset + limit]:
        entry = curve_json(each.label, each.curve)
        if each.missing:
            entry["missing"] = True
        if keys:
            there = keys_json(each.curve, start, end)
            entry["points"] = there[:left]
            left -= len(entry["points"])
            if len(entry["points"]) < len(there):
                entry["points_left_out"] = len(there) - len(entry["points"])
        answer["curves"].append(entry)
    if action is not None:
        return {**answer, **used_by(editor.action(which))}
    parts = _parts(ctx, name)
    if strips := [*islice(strips_json(parts), _MOST)]:
        answer["strips"] = strips
    shared = [
        {"action": action, "of": part.name_full, "shared_by": sharers(part)[:_MOST]}
        for part, action in actions_of(parts).items()
        if sharers(part)
    ]
    return {**answer, "shared": shared} if shared else answer


def add_modifier(
    ctx: Any,
    name: str,
    type: str,
    values: Json | None = None,
    curves: Sequence[str] = (),
    bones: Sequence[str] = (),
) -> Json:
    ctx.port("scene.mutate")
    before, actions = _modifiers(ctx, name), actions_of(_parts(ctx, name))
    changed = ctx.port("structure").curves.add_modifier(
        Which(name, curves, bones), type, values or {}
    )
    now = _modifiers(ctx, name)
    for label in changed:
        expect(len(now[label]) == len(before[label]) + 1, f"modifiers of {label}", "more", "not")
        _expect_values(label, values or {}, type, now[label])
    return _told(ctx, name, changed, actions)


def set_modifier(
    ctx: Any,
    name: str,
    type: str,
    values: Json,
    number: int | None = None,
    curves: Sequence[str] = (),
    bones: Sequence[str] = (),
) -> Json:
    ctx.port("scene.mutate")
    editor, actions = ctx.port("structure").curves, actions_of(_parts(ctx, name))
    changed = editor.set_modifier(Which(name, curves, bones), type, number, values)
    now = _modifiers(ctx, name)
    for label in changed:
        _expect_values(label, values, type, now[label])
    return _told(ctx, name, changed, actions)


def remove_modifier(
    ctx: Any,
    name: str,
    type: str,
    number: int | None = None,
    curves: Sequence[str] = (),
    bones: Sequence[str] = (),
) -> Json:
    ctx.port("scene.mutate")
    before, actions = _modifiers(ctx, name), actions_of(_parts(ctx, name))
    which = Which(name, curves, bones)
    changed = ctx.port("structure").curves.remove_modifier(which, type, number)
    now = _modifiers(ctx, name)
    for label in changed:
        expect(len(now[label]) == len(before[label]) - 1, f"modifiers of {label}", "fewer", "not")
    return _told(ctx, name, changed, actions)


def move_keys(
    ctx: Any,
    name: str,
    offset: float = 0,
    scale: float = 1,
    pivot: float | None = None,
    curves: Sequence[str] = (),
    bones: Sequence[str] = (),
    action: str | None = None,
    slot: str | None = None,
) -> Json:
    ctx.port("scene.mutate")
    if offset == 0 and scale == 1:
        raise WrongArgument("give offset or scale")
    which = Which(name, curves, bones, action, slot)
    editor, actions = ctx.port("structure").curves, actions_of(_parts(ctx, name))
    told = editor.move_keys(which, offset, scale, pivot)
    return {**told, "verified": True, **editor.change_json(which, actions)}


def set_track(
    ctx: Any,
    of: str,
    kind: str = "objects",
    track: str | None = None,
    strip: str | None = None,
    **values: Any,
) -> Json:
    ctx.port("scene.mutate")
    if not values:
        raise WrongArgument("give at least one value to set, such as mute")
    editor = ctx.port("structure").nla
    part, there, inside = editor.set(kind, of, track, strip, values)
    if inside is not None:
        now = strip_json(inside)
    else:
        now = active_json(part.animation_data) if there is None else track_json(there)
    for key, value in values.items():
        expect(key == "slot" or _same(value, now[key]), key, value, now[key])
    uses = uses_by(part)
    meant = [each for each in uses if (each.get("track"), each.get("strip")) == (track, strip)]
    if strip is None and track is not None:
        meant = [each for each in uses if each.get("track") == track]
    silent = not any(each["plays"] for each in meant)
    off = values.get("mute") or values.get("nla") is False or values.get("influence") == 0
    why = "; ".join(dict.fromkeys(each["why"] for each in meant if "why" in each))
    doubt = {"doubt": f"it doesn't play: {why}"} if meant and silent and not off else {}
    return {"changed": [of], "now": now, "uses": uses, "verified": not doubt, **doubt}


def _same(asked: Any, now: Any) -> bool:
    if isinstance(asked, bool | str) or now is None:
        return bool(asked == now)
    return bool(alike(asked, now))


def _parts(ctx: Any, name: str) -> dict[Any, Any]:
    parts: dict[Any, Any] = ctx.port("structure").curves.parts(name)
    return parts


def _modifiers(ctx: Any, name: str) -> dict[str, Any]:
    named = ctx.port("structure").curves.named(Which(name))
    return {label: curve_json(label, each)["modifiers"] for label, each in named.items()}


def _expect_values(label: str, asked: Json, kind: str, modifiers: Sequence[Json]) -> None:
    """Check that one of the modifiers of this type has the values."""
    for key, value in asked.items():
        actual = [each[key] for each in modifiers if each["type"] == kind]
        number = isinstance(value, int | float) and not isinstance(value, bool)
        right = any(alike(value, one) if number else value == one for one in actual)
        expect(right, f"{key} of {label}", value, actual)


def _told(ctx: Any, name: str, changed: Sequence[str], actions: Mapping[Any, str]) -> Json:
    named = ctx.port("structure").curves.named(Which(name))
    answer: Json = {
        "changed": [name],
        "curves": [curve_json(label, named[label]) for label in changed[:_MOST]],
        "count": len(changed),
        "verified": True,
    }
    return {**answer, **own_actions(actions)}
