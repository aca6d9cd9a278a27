"""Tools that read materials."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from callboard.content import Json


def list(
    ctx: Any,
    pattern: str | None = None,
    objects: Sequence[str] = (),
    offset: int = 0,
    limit: int = 100,
) -> Json:
    port, reader = ctx.port("materials"), ctx.port("scene.read")
    wanted = {reader.get(name)["path"] for name in objects}
    users = port.users()
    matches = [
        {"name": bare, "path": path, "users": [*users.get(path, ())]}
        for path, bare in port.names().items()
        if (not wanted or wanted.intersection(users.get(path, ())))
        and (pattern is None or fnmatchcase(bare.lower(), pattern.lower()))
    ]
    end = offset + limit
    page = matches[offset:end]
    answer: Json = {"materials": page, "total": len(matches)}
    return {**answer, "next_offset": end} if offset < end < len(matches) else answer


def get(ctx: Any, name: str) -> Json:
    port = ctx.port("materials")
    material: Json = port.get(name)
    return {**material, "users": [*port.users().get(material["path"], ())]}
