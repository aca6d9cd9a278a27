"""Tools that change groups and the scene as a whole. Each checks the result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from callboard.content import Json
from callboard.errors import HostError, WrongArgument
from callboard.skill import compose, done, expect

from .read import group_json

#: Maximum number of other objects that one call shows or hides.
MOST_OTHERS = 5000


def new_scene(ctx: Any, discard_changes: bool = False) -> Json:
    port, reader = ctx.port("structure"), ctx.port("scene.read")
    ctx.port("scene.mutate")
    if not discard_changes and reader.info()["modified"]:
        raise WrongArgument(
            "the scene has unsaved changes; save it with scene__save_file, or pass "
            "discard_changes: true"
        )
    port.new()
    info = reader.info()
    expect(info["object_count"] == 0, "the number of objects", 0, info["object_count"])
    expect(info["file"] is None, "the scene's file", None, info["file"])
    return {"object_count": 0, "verified": True}


def create_empty(
    ctx: Any,
    name: str | None = None,
    translate: Sequence[float] | None = None,
    rotate: Sequence[float] | None = None,
    scale: Sequence[float] | None = None,
) -> Json:
    port, reader, editor = ctx.port("structure"), ctx.port("scene.read"), ctx.port("scene.mutate")
    path = port.create_empty(name)
    expect(path in reader.names(), path, "there", "not there")
    asked = {"translate": translate, "rotate": rotate, "scale": scale}
    if any(value is not None for value in asked.values()):
        editor.set_transform(path, translate, rotate, scale)
    entry = reader.get(path)
    still = {"translate": [0, 0, 0], "rotate": [0, 0, 0], "scale": [1, 1, 1]}
    wanted = [still[key] if value is None else value for key, value in asked.items()]
    there = [entry[key] for key in asked]
    # Different Euler angles can describe the same rotation.
    same = all(_close(a, b) for a, b in zip(compose(*wanted), compose(*there), strict=True))
    expect(same, "its place", wanted, there)
    doubt = entry.get("doubt")
    answer: Json = {"changed": [], "created": [path], "verified": doubt is None, "object": entry}
    return answer if doubt is None else {**answer, "doubt": doubt}


def set_visibility(
    ctx: Any,
    objects: Sequence[str],
    visible: bool,
    with_groups: bool = False,
    others: bool = False,
) -> Json:
    port, reader = ctx.port("structure"), ctx.port("scene.read")
    ctx.port("scene.mutate")
    paths = [reader.get(name)["path"] for name in dict.fromkeys(objects)]
    if others:
        paths = _all_but(reader, paths)
    fixed = getattr(port, "fixed", lambda path: None)
    refused = [{"path": path, "why": why} for path in paths if (why := fixed(path))]
    if refused and len(refused) == len(paths):
        raise HostError(refused[0]["why"])
    unfit = {each["path"] for each in refused}
    paths = [path for path in paths if path not in unfit]
    switches = getattr(port, "switches", None)
    before = {path: switches(path) for path in paths} if switches is not None else {}
    show_groups = getattr(port, "show_groups", None) if visible and with_groups else None
    shown = [] if show_groups is None else [each for path in paths for each in show_groups(path)]
    views_only = [path for path in paths if getattr(port, "in_views_only", _never)(path)]
    for path in paths:
        port.set_visible(path, visible)
    doubt = None
    for path in paths:
        entry = reader.get(path)
        doubt = doubt or done("object", entry, asked=["visible"]).get("doubt")
        expect(entry["visible"] is visible, f"visible of {path}", visible, entry["visible"])
    if views_only:
        doubt = doubt or (
            f"{', '.join(views_only[:5])} {'are' if len(views_only) > 1 else 'is'} linked, so only"
            " this file's views changed; in pictures, the object's own file decides"
        )
    if switches is not None:
        paths = [path for path in paths if switches(path) != before[path]]
    answer: Json = {"changed": [*paths, *dict.fromkeys(shown)], "created": []}
    answer["verified"] = doubt is None
    answer |= {"refused": refused} if refused else {}
    return answer if doubt is None else {**answer, "doubt": doubt}


def _all_but(reader: Any, kept: Sequence[str]) -> list[str]:
    """Return all objects except the given ones and their ancestors. Hiding an ancestor would hide
    the given ones too."""
    parents = {each["path"]: each["parent"] for each in reader.summaries()}
    staying: set[str | None] = {None}
    for path in kept:
        above: str | None = path
        while above not in staying:
            staying.add(above)
            above = parents.get(above or "")
    wanted = [path for path in parents if path not in staying]
    if not wanted:
        raise WrongArgument("the scene has no other objects")
    if len(wanted) > MOST_OTHERS:
        raise WrongArgument(
            f"{len(wanted)} other objects are more than {MOST_OTHERS}; name them in several calls"
        )
    return wanted


def _never(path: str) -> bool:
    return False


def create_group(
    ctx: Any, name: str | None = None, objects: Sequence[str] = (), move: bool = False
) -> Json:
    port, paths = _port_and_paths(ctx, objects)
    path = port.create_group(name)
    if paths:
        port.add(path, paths)
    left = _leave_others(port, path, paths) if move else []
    group = _group(port, path)
    expect(set(port.members(path)) == set(paths), "its objects", paths, group["objects"])
    return {"changed": left, "created": [path], "verified": True, "group": group}


def add_to_group(ctx: Any, name: str, objects: Sequence[str], move: bool = False) -> Json:
    port, paths = _port_and_paths(ctx, objects)
    path = port.add(name, paths)
    left = _leave_others(port, path, paths) if move else []
    group = _group(port, path)
    missing = [each for each in paths if each not in port.members(path)]
    expect(not missing, "its objects", paths, group["objects"])
    return {"changed": [path, *left], "created": [], "verified": True, "group": group}


def _leave_others(port: Any, path: str, objects: Sequence[str]) -> list[str]:
    """Remove the objects from all groups except this one. Return the groups that they were in."""
    left = []
    for other in port.groups():
        held = set(objects).intersection(port.members(other)) if other != path else ()
        if held:
            port.remove(other, sorted(held))
            left.append(other)
    if hasattr(port, "leave_top"):
        port.leave_top(objects)
    return left


def remove_from_group(
    ctx: Any, name: str, objects: Sequence[str] = (), delete_empty: bool = False
) -> Json:
    port, paths = _port_and_paths(ctx, objects)
    if not (paths or delete_empty):
        raise WrongArgument("name objects to remove, or pass delete_empty: true")
    delete: Any = getattr(port, "delete_group", None)
    if delete_empty and delete is None:
        raise HostError(
            "callboard can't delete groups in this application yet; ask the artist to do it"
        )
    group = _group(port, port.remove(name, paths))
    left = [path for path in paths if path in port.members(group["path"])]
    expect(not left, f"the group, without {', '.join(paths[:5])}", "so", group["objects"])
    if delete_empty and not group["count"]:
        delete(group["path"])
        expect(group["path"] not in port.groups(), group["path"], "deleted", "still there")
        group["deleted"] = True
    return {"changed": [group["path"]], "created": [], "verified": True, "group": group}


def _port_and_paths(ctx: Any, objects: Sequence[str]) -> tuple[Any, list[str]]:
    ctx.port("scene.mutate")
    reader = ctx.port("scene.read")
    return ctx.port("structure"), [reader.get(name)["path"] for name in dict.fromkeys(objects)]


def _group(port: Any, path: str) -> Json:
    names = port.groups()
    expect(path in names, path, "a group", "none")
    return group_json(port, path, names[path])


def _close(a: Sequence[float], b: Sequence[float]) -> bool:
    return all(math.isclose(x, y, rel_tol=1e-3, abs_tol=1e-4) for x, y in zip(a, b, strict=True))
