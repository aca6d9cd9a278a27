"""Tools that read cameras."""

from __future__ import annotations

from typing import Any

from callboard.content import Json
from callboard.skill import covered


def list(ctx: Any, offset: int = 0, limit: int = 100) -> Json:
    port = ctx.port("cameras")
    paths = [*port.names()]
    end = offset + limit
    cameras = [port.get(path) for path in paths[offset:end]]
    answer: Json = {"cameras": cameras, "total": len(paths)}
    if offset < end < len(paths):
        answer["next_offset"] = end
    return covered(ctx.port("scene.read"), answer)
