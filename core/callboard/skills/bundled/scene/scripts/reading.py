"""Tools that look and change nothing."""

from __future__ import annotations

from collections.abc import Sized
from fnmatch import fnmatchcase
from typing import Any

from callboard.content import Json


def scene_info(ctx: Any) -> Json:
    info: Json = ctx.port("scene.read").info()
    return info


def list_objects(
    ctx: Any,
    pattern: str | None = None,
    type: str | None = None,
    parent: str | None = None,
    offset: int = 0,
    limit: int = 100,
) -> Json:
    reader = ctx.port("scene.read")
    above = reader.get(parent)["path"] if parent is not None else None
    summaries = reader.summaries()
    if pattern is type is above is None and isinstance(summaries, Sized):
        return _page(list(summaries[offset : offset + limit]), len(summaries), offset)  # type: ignore[index]
    page: list[Json] = []
    total = 0
    for summary in summaries:
        if pattern is not None and not fnmatchcase(summary["name"].lower(), pattern.lower()):
            continue
        if type is not None and summary["type"] != type.lower():
            continue
        if above is not None and summary["parent"] != above:
            continue
        if offset <= total < offset + limit:
            page.append(summary)
        total += 1
    return _page(page, total, offset)


def get_object(ctx: Any, name: str) -> Json:
    entry: Json = ctx.port("scene.read").get(name)
    return entry


def get_selection(ctx: Any) -> Json:
    selection = ctx.port("scene.read").selection()
    return {"selection": selection, "count": len(selection)}


def _page(page: list[Json], total: int, offset: int) -> Json:
    end = offset + len(page)
    answer: Json = {"objects": page, "total": total, "offset": offset}
    return {**answer, "next_offset": end} if page and end < total else answer
