"""Tools that read attributes."""

from __future__ import annotations

import re
from fnmatch import translate
from typing import Any

from callboard.content import Json

#: Maximum number of elements shown for each value in a list. attributes__get shows more.
FEW = 16


def list(
    ctx: Any, name: str, pattern: str | None = None, offset: int = 0, limit: int = 100
) -> Json:
    port = ctx.port("attributes")
    names = port.names(name)
    if pattern is not None:
        # Brackets are part of a name, as in modifiers["Bevel"].width.
        fits = re.compile(translate(pattern.lower().replace("[", "[[]"))).match
        names = [each for each in names if fits(each.lower())]
    end = offset + limit
    answer: Json = {
        "attributes": [_short(port.get(name, each)) for each in names[offset:end]],
        "total": len(names),
    }
    return {**answer, "next_offset": end} if offset < end < len(names) else answer


def get(ctx: Any, name: str, attribute: str) -> Json:
    entry: Json = ctx.port("attributes").get(name, attribute)
    return entry


def _short(entry: Json) -> Json:
    value = entry["value"]
    short = {key: entry[key] for key in ("attribute", "type", "writable")}
    if isinstance(value, (str, bytes)) or not hasattr(value, "__len__") or len(value) <= FEW:
        return {**short, "value": value}
    return {**short, "value": value[:FEW], "count": entry.get("count", len(value))}
