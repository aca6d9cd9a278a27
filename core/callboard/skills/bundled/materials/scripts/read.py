"""Tools that read materials."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from fnmatch import fnmatchcase
from time import perf_counter
from typing import Any

from callboard.content import Json

#: Seconds that one slice of a list holds the main thread.
SLICE = 0.005


def list(
    ctx: Any,
    pattern: str | None = None,
    objects: Sequence[str] = (),
    offset: int = 0,
    limit: int = 100,
) -> Generator[None, None, Json]:
    port, reader = ctx.port("materials"), ctx.port("scene.read")
    wanted = {reader.get(name)["path"] for name in objects}
    users = port.users()
    matches = [
        {"name": bare, "path": path, "users": [*users.get(path, ())]}
        for path, bare in port.names().items()
        if (not wanted or wanted.intersection(users.get(path, ())))
        and (pattern in (None, path) or fnmatchcase(bare.lower(), pattern.lower()))
    ]
    end = offset + limit
    page = matches[offset:end]
    slice_ends = perf_counter() + SLICE
    for each in page:
        if color := _color(port, each["path"]):
            each["color"] = color
        if perf_counter() >= slice_ends:
            yield
            slice_ends = perf_counter() + SLICE
    answer: Json = {"materials": page, "total": len(matches)}
    if offset < end < len(matches):
        answer["next_offset"] = end
    return answer


def _color(port: Any, path: str) -> Sequence[float] | None:
    """Return the base color, or None if a texture or other nodes determine it, or if the material
    has been removed in the meantime."""
    try:
        color = port.get(path).get("color")
    except LookupError:
        return None
    return color and [round(each, 3) for each in color]


def get(ctx: Any, name: str) -> Json:
    port = ctx.port("materials")
    material: Json = port.get(name)
    return {**material, "users": [*port.users().get(material["path"], ())]}
