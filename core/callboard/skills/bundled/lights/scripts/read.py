"""Tools that read lights."""

from __future__ import annotations

from typing import Any

from callboard.content import Json
from callboard.skill import covered


def list(ctx: Any, offset: int = 0, limit: int = 100) -> Json:
    port = ctx.port("lights")
    paths = [*port.names()]
    end = offset + limit
    answer: Json = {
        "lights": [port.get(path) for path in paths[offset:end]],
        "total": len(paths),
        "environment": port.environment(),
    }
    if offset < end < len(paths):
        answer["next_offset"] = end
    return covered(ctx.port("scene.read"), answer)
