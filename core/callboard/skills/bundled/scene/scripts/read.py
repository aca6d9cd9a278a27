"""Tools that read the scene and change nothing."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sized
from time import perf_counter
from typing import Any

from callboard.content import Json
from callboard.skill import covered

from ._pattern import matcher

# A change to the scene between two slices doesn't restart the list. Otherwise, the list would never
# be completed while an artist works.
#: Seconds that one slice of a search holds the main thread.
SLICE = 0.005
#: Number of objects between two checks of the clock.
STRETCH = 50


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
    details: bool = False,
) -> Generator[None, None, Json]:
    """List objects in slices, because a search of a whole scene is slow and the host must stay
    responsive."""
    reader = ctx.port("scene.read")
    page = yield from _listed(ctx, reader, pattern, type, parent, offset, limit)
    if details:
        page["objects"] = yield from _whole(reader, page["objects"])
    return covered(reader, page)


def _listed(
    ctx: Any,
    reader: Any,
    pattern: str | None,
    type: str | None,
    parent: str | None,
    offset: int,
    limit: int,
) -> Generator[None, None, Json]:
    above = reader.get(parent)["path"] if parent is not None else None
    summaries = reader.summaries()
    count = len(summaries) if isinstance(summaries, Sized) else None
    if pattern is type is above is None and count is not None:
        return _page(list(summaries[offset : offset + limit]), count, offset)
    fits = None if pattern is None else matcher(pattern)
    kind = type and type.lower()
    page: list[Json] = []
    total = seen = 0
    slice_ends = perf_counter() + SLICE
    for stretch in _stretches(summaries, count):
        if fits is not None and hasattr(stretch, "named"):
            stretch = stretch.named(fits)
        for summary in stretch:
            if fits is not None and not (fits(summary["name"]) or summary["path"] == pattern):
                continue
            if kind is not None and summary["type"] != kind:
                continue
            if above is not None and summary["parent"] != above:
                continue
            if offset <= total < offset + limit:
                page.append(summary)
            total += 1
        seen += STRETCH
        if perf_counter() >= slice_ends and count is not None and seen < count:
            ctx.progress(seen, count, f"looked at {seen} of {count} objects")
            yield
            slice_ends = perf_counter() + SLICE
    return _page(page, total, offset)


def _stretches(summaries: Any, count: int | None) -> Iterable[Any]:
    """Return the summaries in parts. Summaries without a length are a single part, which is valid
    only while the scene is unchanged."""
    if count is None:
        return [summaries]
    return (summaries[at : at + STRETCH] for at in range(0, count, STRETCH))


def get_object(ctx: Any, name: str, detail: bool = False) -> Json:
    reader = ctx.port("scene.read")
    entry = _with_details(reader, name)
    whole = getattr(reader, "whole", None)
    return {**entry, **whole(entry["path"], users=True)} if detail and whole is not None else entry


def _whole(reader: Any, summaries: list[Json]) -> Generator[None, None, list[Json]]:
    """Return the objects' entries, or the summary of an object that has been removed in the
    meantime."""
    entries = []
    slice_ends = perf_counter() + SLICE
    for summary in summaries:
        try:
            entries.append(_with_details(reader, summary["path"]))
        except LookupError:
            entries.append(summary)
        if perf_counter() >= slice_ends:
            yield
            slice_ends = perf_counter() + SLICE
    return entries


def _with_details(reader: Any, name: str) -> Json:
    entry: Json = reader.get(name)
    more = getattr(reader, "details", None)
    return entry if more is None else {**entry, **more(entry["path"])}


def get_selection(ctx: Any) -> Json:
    selection = ctx.port("scene.read").selection()
    return {"selection": selection, "count": len(selection)}


def _page(page: list[Json], total: int, offset: int) -> Json:
    end = offset + len(page)
    answer: Json = {"objects": page, "total": total, "offset": offset}
    return {**answer, "next_offset": end} if page and end < total else answer
