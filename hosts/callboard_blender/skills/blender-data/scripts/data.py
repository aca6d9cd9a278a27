"""The tools of the ``blender-data`` skill."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase, translate
from typing import Any

import bpy

from callboard.content import Json
from callboard.errors import WrongArgument
from callboard.skill import alike, expect, in_slices
from callboard_blender.parts.collection_facts import collection_json, in_layers
from callboard_blender.parts.constraints import constraint_json, constraints_of
from callboard_blender.parts.data_blocks import collections, drivers, kind_named
from callboard_blender.parts.driver_trial import tried
from callboard_blender.parts.drivers import driver_json, is_named
from callboard_blender.parts.file_modifiers import file_modifier_json, value_of
from callboard_blender.parts.property_values import plain
from callboard_blender.parts.rig_changes import READ
from callboard_blender.parts.setting_paths import place_of, settings_of
from callboard_blender.parts.settings import (
    choices_json,
    determined,
    differing,
    is_default,
    misplaced,
    refusal,
    setting_json,
)
from callboard_blender.parts.unused_data import scenes_of

#: Maximum number of names in an answer for each kind, and of users of a datablock.
_MOST_NAMED, _MOST = 200, 5
#: Maximum number of parts that are shown of a long value.
_FEW = 16


def list(
    ctx: Any,
    kind: str,
    pattern: str | None = None,
    unused: bool = False,
    offset: int = 0,
    limit: int = 200,
    users_limit: int = _MOST,
) -> Json:
    kind = kind_named(kind)
    blocks = _blocks(ctx).of(kind)
    scenes = scenes_of() if kind == "objects" else None
    fitting = [
        each
        for each in blocks
        if (pattern is None or pattern == each.name_full or _fits(each.name, pattern))
        and not (unused and (each.users if scenes is None else each in scenes))
    ]
    page = fitting[offset : offset + limit]
    data = [_entry(each) for each in page]
    told = {each for each in page if scenes is None or each not in scenes}
    users = bpy.data.user_map(subset=told) if told else {}
    layers = in_layers() if kind == "collections" else None
    for entry, each in zip(data, page, strict=True):
        if layers is not None:
            entry |= collection_json(each, layers.get(each, []))
        if scenes is not None:
            entry["scenes"] = scenes.get(each, [])
            if each.data is not None:
                entry["data"] = each.data.name_full
        if each in told:
            entry |= _used_by(users.get(each, ()), users_limit)
    return {"data": data, "total": len(fitting)}


def list_drivers(
    ctx: Any, broken: bool = False, idle: bool = False, limit: int = 200
) -> Generator[None, None, Json]:
    ctx.port("structure")
    listed = yield from _listed(_drivers())
    doing_nothing = [each for each in listed if not each["works"]]
    return _judged("drivers", listed, doing_nothing, broken, idle, limit)


def list_constraints(
    ctx: Any, broken: bool = False, idle: bool = False, values: bool = False, limit: int = 200
) -> Generator[None, None, Json]:
    ctx.port("structure")
    listed = yield from _listed(_constraints(values))
    doing_nothing = [each for each in listed if "why" in each]
    return _judged("constraints", listed, doing_nothing, broken, idle, limit)


def _judged(
    word: str,
    listed: Sequence[Json],
    doing_nothing: Sequence[Json],
    broken: bool,
    idle: bool,
    limit: int,
) -> Json:
    """Return the answer about what can be broken or do nothing: all of it, or one of these."""
    wrong = [each for each in listed if not each["valid"]]
    told = wrong if broken else doing_nothing if idle else listed
    return {
        word: told[:limit],
        "total": len(listed),
        "broken": len(wrong),
        "idle": len(doing_nothing),
    }


def list_modifiers(
    ctx: Any,
    type: str | None = None,
    modifier: str | None = None,
    objects: Sequence[str] = (),
    where: Json | None = None,
    values: Sequence[str] = (),
    offset: int = 0,
    limit: int = 200,
) -> Json:
    editor = ctx.port("structure").modifiers
    fitting = editor.chosen(type, modifier, objects, where or {}, values)
    keys, scenes = dict.fromkeys((*values, *(where or {}))), scenes_of()
    page = [
        {**file_modifier_json(obj, each, keys), "scenes": scenes.get(obj, [])}
        for obj, each in fitting[offset : offset + limit]
    ]
    return {"modifiers": page, "total": len(fitting)}


def set_modifiers(
    ctx: Any,
    values: Json,
    type: str | None = None,
    modifier: str | None = None,
    objects: Sequence[str] = (),
    where: Json | None = None,
) -> Json:
    ctx.port("scene.mutate")
    if type is None and modifier is None and not objects:
        raise WrongArgument("give type, modifier or objects, so that not every modifier is set")
    editor = ctx.port("structure").modifiers
    chosen = editor.chosen(type, modifier, objects, where or {}, values)
    if not chosen:
        raise WrongArgument("no modifier fits; blender_data__list_modifiers lists them")
    changed, skipped = editor.set(chosen, values)
    entries, scenes = [], scenes_of()
    for (obj, each), was in changed:
        for key, asked in values.items():
            now = value_of(each, key)
            right = asked == now or (_numbers(asked) and alike(asked, now))
            expect(right, f"{key} of '{each.name}' of '{obj.name}'", asked, now)
        entry = file_modifier_json(obj, each, values)
        entries.append({**entry, "was": was, "scenes": scenes.get(obj, [])})
    answer: Json = {
        "changed": sorted({each["of"] for each in entries}),
        "modifiers": entries[:_MOST_NAMED],
        "count": len(entries),
        "already": len(chosen) - len(changed) - len(skipped),
        "verified": True,
    }
    if skipped:
        answer |= {"skipped": skipped[:_MOST_NAMED], "skipped_count": len(skipped)}
    return answer


def get_values(
    ctx: Any,
    of: str,
    kind: str = "objects",
    pattern: str = "*",
    differs: bool = False,
    offset: int = 0,
    limit: int = 100,
) -> Json:
    kind = kind_named(kind)
    block = ctx.port("structure").values.block(kind, of)
    told: Json = {"of": block.name_full, "kind": kind}
    if block.library is not None:
        told["library"] = block.library.filepath
    start = re.split(r"[*?]", pattern.lower())[0]
    if start == pattern.lower():
        return {**told, "values": [_setting(block, pattern)], "total": 1}
    # Brackets are part of a path, as in modifiers["Bevel"].width.
    fits = re.compile(translate(pattern.lower().replace("[", "[[]"))).match
    fitting = [
        path
        for path, place in settings_of(block, start)
        if fits(path.lower()) and not (refusal(place) or (differs and is_default(place)))
    ]
    end = offset + limit
    told |= {
        "values": [_setting(block, path) for path in fitting[offset:end]],
        "total": len(fitting),
    }
    return {**told, "next_offset": end} if end < len(fitting) else told


def set_values(ctx: Any, of: str, values: Json, kind: str = "objects") -> Json:
    ctx.port("scene.mutate")
    settings = ctx.port("structure").values
    block = settings.block(kind_named(kind), of)
    path = block.name_full
    settings.set(block, values)
    entries = []
    for each, asked in values.items():
        entry = _setting(block, each)
        expect(_as_asked(asked, entry), each, asked, entry["value"])
        entries.append(entry)
    doubts = [each["doubt"] for each in entries if "doubt" in each]
    answer: Json = {"changed": [path], "values": entries, "verified": not doubts}
    if doubts:
        answer["doubt"] = doubts[0]
    shared = {place_of(block, each).holder for each in values}
    shared = {each for each in shared if not isinstance(each, bpy.types.Object)}
    users = bpy.data.user_map(subset=shared) if shared else {}
    using = {one for each in users.values() for one in each}
    return {**answer, **_used_by(using)} if using else answer


def _setting(block: Any, path: str) -> Json:
    """Describe a setting: its value, what it can be, and why it can't be set, if so."""
    place = place_of(block, path)
    told = setting_json(place)
    value = told["value"]
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) > _FEW:
        told |= {"value": value[:_FEW], "count": told.get("count", len(value))}
    linked = "it is linked, so only its own file can change it" if place.holder.library else None
    why = refusal(place) or linked or determined(place)
    may = {"why": why} if why else choices_json(place)
    doubt = misplaced(place)
    return {"path": path, **told, **may, **({"doubt": doubt} if doubt else {})}


def _as_asked(asked: Any, entry: Json) -> bool:
    now = entry["value"]
    if isinstance(now, Sequence) and not isinstance(now, str):
        if not isinstance(asked, Sequence):
            return False
        same = now == asked[:_FEW] or (entry["type"] == "enum" and now == sorted(asked))
        return same or (_numbers(asked) and alike(asked[:_FEW], now))
    # The name of linked data may be given without its library.
    named = "refers_to" in entry and f"{now}".startswith(f"{asked} [")
    return now == asked or named or (_numbers(asked) and alike(asked, now))


def _drivers() -> Iterator[Json | None]:
    scenes = scenes_of()
    for each in drivers():
        yield None if each is None else {**driver_json(*each), **_scenes(each[1], scenes)}


def _constraints(values: bool) -> Iterator[Json | None]:
    scenes = scenes_of()
    for obj in [*bpy.data.objects]:
        with suppress(ReferenceError):  # The object may have been removed by now.
            for each, bone in constraints_of(obj):
                entry = constraint_json(each, bone)
                entry |= {"values": differing(each)} if values else {}
                yield {"of": obj.name_full, **entry, **_scenes(obj, scenes)}
        yield None


def _scenes(block: Any, scenes: Any) -> Json:
    return {"scenes": scenes.get(block, [])} if isinstance(block, bpy.types.Object) else {}


def _listed(entries: Iterator[Json | None]) -> Generator[None, None, Any]:
    """List the entries, in slices. None marks a place to pause."""
    listed: Any = []

    def read() -> Generator[None, None, None]:
        for each in entries:
            if each is not None:
                listed.append(each)
            yield

    yield from in_slices(read())
    return listed


def rename(ctx: Any, kind: str, name: str, new_name: str) -> Json:
    ctx.port("scene.mutate")
    kind = kind_named(kind)
    path = _blocks(ctx).rename(kind, name, new_name)
    expect(_blocks(ctx).find(kind, path).name == new_name, "name", new_name, path)
    return {"changed": [path], "verified": True}


def set_file(ctx: Any, path: str, new_path: str | None = None) -> Json:
    ctx.port("scene.mutate")
    changed, now = _blocks(ctx).set_file(path, new_path)
    return {"changed": changed, "path": now, "verified": True}


def show_scene(ctx: Any, name: str) -> Json:
    ctx.port("scene.mutate")
    blocks = _blocks(ctx)
    before = blocks.show_scene(name)
    wanted = blocks.find("scenes", name).name_full
    info = ctx.port("scene.read").info()
    expect(info["scene"] == wanted, "the shown scene", wanted, info["scene"])
    return {"scene": wanted, "before": before, "objects": info["object_count"], "verified": True}


def set_output(ctx: Any, path: str) -> Json:
    ctx.port("scene.mutate")
    ctx.port("filesystem.write")
    blocks = _blocks(ctx)
    shown = ctx.port("scene.read").info()["scene"]
    return {"scene": shown, "path": blocks.set_output(path), "verified": True}


def purge(
    ctx: Any, empty_collections: bool = False, fake_users: bool = False, dry_run: bool = False
) -> Json:
    ctx.port("scene.mutate")
    gone, kept = ctx.port("structure").unused.purge(empty_collections, fake_users, dry_run)
    left = {} if dry_run else {kind: _names(kind).intersection(gone[kind]) for kind in gone}
    expect(not any(left.values()), "what is left", {}, left)
    answer: Json = {
        "would_remove" if dry_run else "removed": _first(gone),
        "count": sum(map(len, gone.values())),
        "verified": True,
    }
    return {**answer, "kept": _first(kept)} if kept else answer


def remove(ctx: Any, kind: str, names: Sequence[str]) -> Json:
    ctx.port("scene.mutate")
    kind = kind_named(kind)
    gone, along = ctx.port("structure").unused.remove(kind, names)
    left = {each: _names(each).intersection(one) for each, one in {**along, kind: gone}.items()}
    expect(not any(left.values()), "what is left", {}, left)
    answer: Json = {"removed": gone, "verified": True}
    return {**answer, "removed_with": _first(along)} if along else answer


def set_driver(ctx: Any, of: str, drives: str, mute: bool | None = None, **asked: str) -> Json:
    ctx.port("scene.mutate")
    if mute is None and not asked.keys() & {"target", "property", "formula"}:
        raise WrongArgument("give at least one of target, property, formula, mute")
    rigs = ctx.port("structure").rigs
    if "target_kind" in asked:
        asked["target_kind"] = _driven(asked["target_kind"])
    curve, holder = rigs.set_driver(of, drives, mute=mute, **asked)
    entry = {**driver_json(curve, holder), **_scenes(holder, scenes_of())}
    expect(mute in (None, curve.mute), "mute", mute, curve.mute)
    wanted, told = asked.get("formula"), entry["expression"]
    expect(wanted in (None, told), "the expression", wanted, told)
    target = asked.get("target")
    expect(target is None or target in entry["uses"], "the target", target, entry["uses"])
    doubt = {} if mute or entry["works"] else {"doubt": entry["why"]}
    return {"changed": [entry["of"]], "driver": entry, "verified": not doubt, **doubt}


def try_driver(ctx: Any, of: str, drives: str, values: dict[str, float]) -> Json:
    curve, holder = ctx.port("structure").rigs.driver(of, drives)
    value, used = tried(curve, values)
    return {"value": value, "variables": used, "driver": driver_json(curve, holder)}


def add_driver(
    ctx: Any,
    of: str,
    drives: str,
    variables: Sequence[Json],
    kind: str = "objects",
    type: str = "scripted",
    formula: str | None = None,
) -> Json:
    ctx.port("scene.mutate")
    if type != "scripted" and formula is not None:
        raise WrongArgument("only a scripted driver has a formula")
    if type == "scripted" and formula is None and len(variables) > 1:
        raise WrongArgument("give formula, or a type that joins the variables, such as sum")
    maker = ctx.port("structure").new_drivers
    reading = [
        {**each, "target_kind": _driven(each.get("target_kind", "objects"))} for each in variables
    ]
    curve, holder, value = maker.add(_driven(kind), of, drives, reading, type, formula)
    entry = driver_json(curve, holder)
    expect(entry["valid"], "the driver", "working", entry.get("why"))
    told = [each["name"] for each in entry["variables"]]
    asked = [each["name"] for each in variables]
    expect(told == asked, "the variables", asked, told)
    answer: Json = {
        "changed": [entry["of"]],
        "driver": entry,
        "value": plain(value),
        "verified": entry["works"],
        **({} if entry["works"] else {"doubt": entry["why"]}),
    }
    if isinstance(holder, bpy.types.Object):
        return answer
    users = bpy.data.user_map(subset={holder}).get(holder, ())
    return {**answer, **_used_by(users)}


def remove_driver(ctx: Any, of: str, drives: str) -> Json:
    ctx.port("scene.mutate")
    ctx.port("structure").rigs.remove_driver(of, drives)
    left = [
        each for each in drivers() if each and each[1].name_full == of and is_named(each[0], drives)
    ]
    expect(not left, "the driver", "gone", "there")
    return {"changed": [of], "verified": True}


def set_constraint(
    ctx: Any,
    name: str,
    target: str,
    constraint: str | None = None,
    kind: str | None = None,
    **bones: str,
) -> Json:
    ctx.port("scene.mutate")
    if constraint is None and kind is None:
        raise WrongArgument("give constraint, the name of one that is there, or kind to add one")
    rigs = ctx.port("structure").rigs
    obj, each = rigs.set_constraint(name, constraint, kind, target, **bones)
    of_bone = bones.get("of_bone", "")
    entry = constraint_json(each, of_bone)
    others = [one.name for one, bone in constraints_of(obj) if one != each and bone == of_bone]
    answer: Json = {"changed": [obj.name_full], "constraint": entry, "verified": True}
    return {**answer, "others": others} if others else answer


def remove_constraint(ctx: Any, name: str, constraint: str, of_bone: str | None = None) -> Json:
    ctx.port("scene.mutate")
    path = ctx.port("structure").rigs.remove_constraint(name, constraint, of_bone)
    there = [
        (each.name, bone or None)
        for each, bone in constraints_of(_blocks(ctx).find("objects", path))
    ]
    expect((constraint, of_bone) not in there, constraint, "gone", "there")
    return {"changed": [path], "verified": True}


def _names(kind: str) -> set[str]:
    return {each.name_full for each in dict(collections())[kind]}


def _driven(kind: str) -> str:
    """Return the kind of what a driver is to drive or read."""
    named = kind_named(kind)
    if named not in READ:
        raise WrongArgument(f"drivers can't use {kind} here, only {', '.join(READ)}")
    return named


def _first(names: dict[str, Any]) -> Json:
    return {kind: each[:_MOST_NAMED] for kind, each in names.items()}


def _numbers(value: Any) -> bool:
    """Return whether the value is a number with a fraction, or several numbers."""
    parts = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    return any(isinstance(each, float) for each in parts)


def _used_by(users: Iterable[Any], most: int = _MOST) -> Json:
    names = sorted(each.name_full for each in users)
    more = {"used_by_more": len(names) - most} if len(names) > most else {}
    return {"used_by": names[:most], **more}


def _fits(name: str, pattern: str) -> bool:
    return fnmatchcase(name.lower(), pattern.lower())


def _blocks(ctx: Any) -> Any:
    return ctx.port("structure").blocks


def _entry(each: Any) -> Json:
    entry: Json = {"name": each.name_full, "users": each.users}
    if each.use_fake_user:
        entry["fake_user"] = True
    return {**entry, "library": each.library.filepath} if each.library else entry
