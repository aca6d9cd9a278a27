"""The tools of the ``blender-data`` skill."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from fnmatch import fnmatchcase
from time import perf_counter
from typing import Any

from callboard.content import Json
from callboard.skill import expect
from callboard_blender.parts.curves import driver_json
from callboard_blender.parts.data_blocks import drivers

#: Seconds for which one slice of the work may block the main thread.
SLICE = 0.005
#: Maximum number of names in an answer, for each kind.
_MOST = 200


def list(
    ctx: Any,
    kind: str,
    pattern: str | None = None,
    unused: bool = False,
    offset: int = 0,
    limit: int = 200,
) -> Json:
    fitting = [
        each
        for each in _blocks(ctx).of(kind)
        if (pattern is None or fnmatchcase(each.name.lower(), pattern.lower()))
        and not (unused and each.users)
    ]
    data = [_entry(each) for each in fitting[offset : offset + limit]]
    return {"data": data, "total": len(fitting)}


def list_drivers(ctx: Any, broken: bool = False, limit: int = 200) -> Generator[None, None, Json]:
    ctx.port("structure")
    listed: Any = []
    ends = perf_counter() + SLICE
    for each in drivers():
        if each is not None:
            listed.append(driver_json(*each))
        elif perf_counter() >= ends:
            yield
            ends = perf_counter() + SLICE
    wrong = [each for each in listed if not each["valid"]]
    shown = wrong if broken else listed
    return {"drivers": shown[:limit], "total": len(listed), "broken": len(wrong)}


def rename(ctx: Any, kind: str, name: str, new_name: str) -> Json:
    ctx.port("scene.mutate")
    path = _blocks(ctx).rename(kind, name, new_name)
    expect(_blocks(ctx).find(kind, path).name == new_name, "name", new_name, path)
    return {"changed": [path], "verified": True}


def replace(ctx: Any, kind: str, names: Sequence[str], by: str) -> Json:
    ctx.port("scene.mutate")
    blocks = _blocks(ctx)
    kept = blocks.find(kind, by)
    wanted: Any = []
    for name in names:
        known = [each for each in blocks.of(kind) if fnmatchcase(each.name_full, name)]
        exact = [each for each in known if each.name_full == name]
        wanted += [each.name_full for each in exact or known if each != kept] or [name]
    gone = blocks.replace(kind, wanted, by)
    left = {each.name_full for each in blocks.of(kind)}.intersection(gone)
    expect(not left, "what is left", [], sorted(left))
    return {"changed": [by], "removed": gone, "verified": True}


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


def purge(ctx: Any, empty_collections: bool = False) -> Json:
    ctx.port("scene.mutate")
    gone = _blocks(ctx).purge(empty_collections)
    return {
        "removed": {kind: names[:_MOST] for kind, names in gone.items()},
        "count": sum(map(len, gone.values())),
        "verified": True,
    }


def _blocks(ctx: Any) -> Any:
    return ctx.port("structure").blocks


def _entry(each: Any) -> Json:
    entry: Json = {"name": each.name_full, "users": each.users}
    if each.use_fake_user:
        entry["fake_user"] = True
    return {**entry, "library": each.library.filepath} if each.library else entry
