"""The tools of the ``blender-animation`` skill for the keys of channels."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from callboard.content import Json
from callboard.errors import WrongArgument
from callboard.skill import alike, expect
from callboard_blender.parts.actions import actions_of, own_actions, uses_by
from callboard_blender.parts.curve_choice import Which
from callboard_blender.parts.curve_keys import keys_json
from callboard_blender.parts.drivers import drives_of

#: Maximum number of curves that an answer names.
_MOST_NAMED = 200


def set_curve_keys(
    ctx: Any,
    of: str,
    curve: str,
    keys: Sequence[Json],
    kind: str = "objects",
    action: str | None = None,
    slot: str | None = None,
) -> Json:
    ctx.port("scene.mutate")
    editor = ctx.port("structure")
    if action is not None:
        which = Which(of, [curve], (), action, slot)
        label, changed = editor.curves.set_keys(which, keys)
        answer = {"curve": label, **_expect_keys(changed, keys), "verified": True}
        return {**answer, **editor.curves.change_json(which, {})}
    actions = actions_of([editor.curve_keys.owner(kind, of, curve)])
    changed, owner = editor.curve_keys.set(kind, of, curve, keys)
    counts = _expect_keys(changed, keys)
    active = [each for each in uses_by(owner) if each["how"] == "active"]
    doubt = next((each["why"] for each in active if not each["plays"]), None)
    if changed.mute:
        doubt = "the curve is muted"
    answer = {"changed": [of], "curve": drives_of(changed, owner), **counts}
    answer["verified"] = doubt is None
    return {**answer, **({"doubt": doubt} if doubt else {}), **own_actions(actions)}


def _expect_keys(changed: Any, keys: Sequence[Json]) -> Json:
    """Check that the curve has these keys. Return how many they are, and how many it has."""
    there = {each["frame"]: each for each in keys_json(changed, -inf, inf)}
    wanted = {each["frame"]: each for each in keys}
    for frame, key in wanted.items():
        near = min(there.values(), key=lambda each: abs(each["frame"] - frame))
        for part in ("value", "interpolation"):
            if part in key:
                now = near[part]
                right = alike(key[part], now) if part == "value" else key[part] == now
                expect(right, f"the {part} at {frame:g}", key[part], now)
    return {"keys": len(wanted), "total": len(there)}


def set_interpolation(
    ctx: Any,
    name: str,
    interpolation: str,
    curves: Sequence[str] = (),
    bones: Sequence[str] = (),
    start: float = -inf,
    end: float = inf,
    action: str | None = None,
    slot: str | None = None,
) -> Json:
    ctx.port("scene.mutate")
    editor, which = ctx.port("structure").curves, Which(name, curves, bones, action, slot)
    actions = actions_of(editor.parts(name))
    changed = editor.set_interpolation(which, interpolation, start, end)
    named = editor.named(which)
    count = 0
    for label in changed:
        words = [each["interpolation"] for each in keys_json(named[label], start, end)]
        expect({*words} == {interpolation}, f"the interpolation of {label}", interpolation, words)
        count += len(words)
    answer: Json = {"curves": changed, "keys": count, "verified": True}
    return {**answer, **editor.change_json(which, actions)}


def delete_curves(
    ctx: Any,
    name: str,
    curves: Sequence[str] = (),
    bones: Sequence[str] = (),
    missing: bool = False,
    action: str | None = None,
    slot: str | None = None,
    start: float = -inf,
    end: float = inf,
) -> Json:
    ctx.port("scene.mutate")
    if not curves and not bones and not missing:
        raise WrongArgument("give curves, bones or missing, so that not every channel is deleted")
    which = Which(name, curves, bones, action, slot, missing)
    editor = ctx.port("structure").curves
    actions = actions_of(editor.parts(name))
    told = editor.delete(which, start, end)
    now = editor.named(which)
    for label in told["curves"]:
        if label in told["removed"]:
            expect(label not in now, label, "gone", "there")
        else:
            expect(not keys_json(now[label], start, end), f"keys of {label}", "gone", "there")
    told |= {"total": len(told["removed"]), "left": len(now), "verified": True}
    told["removed"] = told["removed"][:_MOST_NAMED]
    told["curves"] = told["curves"][:_MOST_NAMED]
    return {**told, **editor.change_json(which, actions)}


def copy_keys(
    ctx: Any,
    name: str,
    source: str | float,
    target: str | float,
    curves: Sequence[str] = (),
    bones: Sequence[str] = (),
    action: str | None = None,
    slot: str | None = None,
) -> Json:
    ctx.port("scene.mutate")
    for each in (source, target):
        if isinstance(each, str) and each not in ("first", "last"):
            raise WrongArgument(f"'{each}' must be first, last or a frame")
    which = Which(name, curves, bones, action, slot)
    editor = ctx.port("structure").curves
    actions = actions_of(editor.parts(name))
    told = editor.copy_keys(which, source, target)
    now = editor.named(which)
    for label, each in told.items():
        keys = keys_json(now[label], each["frame"] - 1e-3, each["frame"] + 1e-3)
        expect(any(alike(each["value"], key["value"]) for key in keys), label, each["value"], keys)
    different = [label for label, e in told.items() if not alike(e.get("was", inf), e["value"])]
    return {
        "curves": different[:_MOST_NAMED],
        "count": len(different),
        "already": len(told) - len(different),
        "verified": True,
        **editor.change_json(which, actions),
    }
