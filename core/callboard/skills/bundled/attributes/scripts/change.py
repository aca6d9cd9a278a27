"""The tool that sets an attribute, and checks the result."""

from __future__ import annotations

import math
from typing import Any

from callboard.content import Json
from callboard.skill import expect


def set(ctx: Any, name: str, attribute: str, value: Any) -> Json:
    port = ctx.port("attributes")
    ctx.port("scene.mutate")
    path = port.set(name, attribute, value)
    entry: Json = port.get(path, attribute)
    told = entry["value"]
    if isinstance(value, list) and entry.get("count", len(value)) == len(value) > len(told or ()):
        value = value[: len(told)]
    expect(_same(value, told), attribute, _shown(value), _shown(told))
    doubt = entry.get("doubt")
    answer: Json = {"changed": [path], "verified": doubt is None, "attribute": entry}
    return answer if doubt is None else {**answer, "doubt": doubt}


def _same(asked: Any, told: Any) -> bool:
    if isinstance(asked, list):
        return isinstance(told, list) and len(asked) == len(told) and all(map(_same, asked, told))
    if isinstance(asked, bool) or isinstance(told, bool) or isinstance(asked, str):
        return type(asked) is type(told) and bool(asked == told)
    return isinstance(told, (int, float)) and math.isclose(asked, told, rel_tol=1e-4, abs_tol=1e-6)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
