"""Tools for modifiers, which stay live, and for text and curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callboard.content import Json
from callboard.errors import WrongArgument
from callboard.skill import MODIFIERS, expect, expect_that, expect_turned

from ._readback import alike, done, refuse_endless


def modify(
    ctx: Any, name: str, kind: str | None = None, modifier: str | None = None, **values: Any
) -> Json:
    port, editor = ctx.port("geometry"), ctx.port("modelling")
    ctx.port("scene.mutate")
    before = port.info(name)
    if (kind is None) == (modifier is None):
        raise WrongArgument("give kind for a new modifier, or modifier for an existing one")
    if modifier is not None:
        kind = _entry(before, modifier)["kind"]
    takes = MODIFIERS.get(kind or "")
    if takes is None:
        raise WrongArgument(
            f"'{modifier}' is of kind {kind}, whose values callboard doesn't support"
        )
    if unfit := [each for each in values if each not in takes]:
        can = ", ".join(takes) or "no values"
        raise WrongArgument(f"a {kind} modifier has no {', '.join(unfit)}; it takes {can}")
    if kind == "boolean" and modifier is None and "other" not in values:
        raise WrongArgument("a boolean needs other, the object to combine with")
    if "other" in values:
        values["other"] = port.info(values["other"])["path"]
    if "count" in values:
        there = 1 if modifier is None else _entry(before, modifier).get("count")
        refuse_endless(before, values["count"] / (there or 1))
    if kind == "subdivide":
        if modifier is None and "levels" in values:
            values.setdefault("render_levels", values["levels"])
        _refuse_endless_levels(before, modifier, values)
    if modifier is None:
        modifier = editor.add_modifier(name, kind, values)
    elif values:
        editor.set_modifier(name, modifier, values)
    else:
        raise WrongArgument("give at least one value to set")
    info = port.info(name)
    expect_that(modifier in _names(info), "the modifier isn't there")
    entry = _entry(info, modifier)
    for key, value in values.items():
        expect(alike(value, entry.get(key)), key, value, entry.get(key))
    added = len(info["modifiers"]) > len(before["modifiers"])
    idle = added and info["result"] == before["result"] and kind != "triangulate"
    doubt = f"the {kind} doesn't change the shape; check that the objects meet and have edges"
    return done(info, doubt=doubt if idle else None, modifier=modifier)


def remove_modifier(ctx: Any, name: str, modifier: str) -> Json:
    port, editor = ctx.port("geometry"), ctx.port("modelling")
    ctx.port("scene.mutate")
    _entry(port.info(name), modifier)
    editor.remove_modifier(name, modifier)
    info = port.info(name)
    expect_that(modifier not in _names(info), "the modifier is still there")
    return done(info)


def apply(ctx: Any, name: str) -> Json:
    port, editor = ctx.port("geometry"), ctx.port("modelling")
    ctx.port("scene.mutate")
    before = port.info(name)
    if not before["modifiers"]:
        raise WrongArgument(f"'{name}' has no modifiers to apply")
    editor.apply_modifiers(name)
    info = port.info(name)
    expect_that(info["mesh"] == before["result"], "the mesh isn't what the modifiers showed")
    expect_that(len(info["modifiers"]) < len(before["modifiers"]), "the modifiers are still there")
    return done(info)


def create_text(ctx: Any, text: str, name: str | None = None, **given: Any) -> Json:
    return _created(ctx, "text", {"text": text}, name, given)


def create_curve(
    ctx: Any, points: Sequence[Sequence[float]], name: str | None = None, **given: Any
) -> Json:
    return _created(ctx, "curve", {"points": [*points]}, name, given)


def _created(ctx: Any, kind: str, what: Json, name: str | None, given: Json) -> Json:
    port, editor = ctx.port("geometry"), ctx.port("modelling")
    placer, reader = ctx.port("scene.mutate"), ctx.port("scene.read")
    place = {key: given.pop(key) for key in ("translate", "rotate") if key in given}
    (asked,) = what.values()
    make = editor.create_text if kind == "text" else editor.create_curve
    path = make(name, asked, given)
    info = port.info(path)
    there = info[kind]
    for key, value in given.items():
        expect(alike(value, there[key]), key, value, there[key])
    if kind == "text":
        expect_that(there["text"] == asked, "the text differs")
    else:
        same = len(there["points"]) == len(asked) and all(map(alike, asked, there["points"]))
        expect_that(same, "the points differ")
    if place:
        placer.set_transform(path, place.get("translate"), place.get("rotate"), None)
        there = reader.get(path)
        for key, value in place.items():
            if key == "rotate":
                expect_turned(value, there[key])
            else:
                expect_that(alike(value, there[key]), "the place differs")
    return done(info, created=[path])


def _refuse_endless_levels(before: Json, modifier: str | None, values: Json) -> None:
    """Raise HostError when a subdivision, in views or in renders, would have too many faces."""
    shown = 0 if modifier is None else _entry(before, modifier)["levels"]
    wanted = [values[each] for each in ("levels", "render_levels") if each in values]
    refuse_endless(before, 4.0 ** (max(wanted, default=shown) - shown))


def _names(info: Json) -> list[str]:
    return [each["name"] for each in info["modifiers"]]


def _entry(info: Json, modifier: str) -> Json:
    for each in info["modifiers"]:
        if each["name"] == modifier:
            entry: Json = each
            return entry
    there = ", ".join(_names(info)) or "none"
    raise WrongArgument(f"'{info['path']}' has no modifier '{modifier}'; it has: {there}")
