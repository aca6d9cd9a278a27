"""The tools of the ``blender-animation`` skill for keys of single channels."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from callboard.content import Json
from callboard.skill import alike, expect
from callboard_blender.parts.actions import actions_of, own_actions, uses_by
from callboard_blender.parts.curve_keys import keys_json
from callboard_blender.parts.drivers import drives_of


def set_curve_keys(
    ctx: Any, of: str, curve: str, keys: Sequence[Json], kind: str = "objects"
) -> Json:
    ctx.port("scene.mutate")
    editor = ctx.port("structure")
    actions = actions_of([editor.curve_keys.owner(kind, of, curve)])
    changed, owner = editor.curve_keys.set(kind, of, curve, keys)
    there = {each["frame"]: each for each in keys_json(changed, -inf, inf)}
    wanted = {each["frame"]: each for each in keys}
    for frame, key in wanted.items():
        near = min(there.values(), key=lambda each: abs(each["frame"] - frame))
        for part in ("value", "interpolation"):
            if part in key:
                now = near[part]
                right = alike(key[part], now) if part == "value" else key[part] == now
                expect(right, f"the {part} at {frame:g}", key[part], now)
    active = [each for each in uses_by(owner) if each["how"] == "active"]
    doubt = next((each["why"] for each in active if not each["plays"]), None)
    if changed.mute:
        doubt = "the curve is muted"
    answer: Json = {"changed": [of], "curve": drives_of(changed, owner), "keys": len(wanted)}
    answer |= {"total": len(there), "verified": doubt is None}
    return {**answer, **({"doubt": doubt} if doubt else {}), **own_actions(actions)}


def set_interpolation(
    ctx: Any,
    name: str,
    interpolation: str,
    curves: Sequence[str] = (),
    bones: Sequence[str] = (),
    start: float = -inf,
    end: float = inf,
) -> Json:
    ctx.port("scene.mutate")
    editor = ctx.port("structure").curves
    actions = actions_of(editor.parts(name))
    changed = editor.set_interpolation(name, curves, bones, interpolation, start, end)
    named = editor.named(name)
    count = 0
    for label in changed:
        words = [each["interpolation"] for each in keys_json(named[label], start, end)]
        expect({*words} == {interpolation}, f"the interpolation of {label}", interpolation, words)
        count += len(words)
    answer: Json = {"changed": [name], "curves": changed, "keys": count, "verified": True}
    return {**answer, **own_actions(actions)}
