"""The tool that sets an attribute, and checks the result."""

from __future__ import annotations

import math
from typing import Any

from callboard.content import Json
from callboard.errors import WrongArgument
from callboard.skill import expect


def set(ctx: Any, name: str, attribute: str, value: Any) -> Json:
    port = ctx.port("attributes")
    ctx.port("scene.mutate")
    if value is None and "refers_to" not in port.get(name, attribute):
        raise WrongArgument(f"'{attribute}' needs a value; null only clears a reference")
    path = port.set(name, attribute, value)
    entry: Json = port.get(path, attribute)
    reported = entry["value"]
    if isinstance(value, list) and entry.get("count", len(value)) == len(value) > len(
        reported or ()
    ):
        value = value[: len(reported)]
    named = "refers_to" in entry and isinstance(reported, str) and isinstance(value, str)
    # The name of linked data may be given without its library.
    right = _same(value, reported) or (named and reported.startswith(f"{value} ["))
    expect(right, attribute, _shown(value), _shown(reported))
    doubt = entry.get("doubt")
    answer: Json = {"changed": [path], "verified": doubt is None, "attribute": entry}
    return answer if doubt is None else {**answer, "doubt": doubt}


def _same(asked: Any, reported: Any) -> bool:
    if isinstance(asked, list):
        return (
            isinstance(reported, list)
            and len(asked) == len(reported)
            and all(map(_same, asked, reported))
        )
    if asked is None or reported is None:
        return asked is reported
    if isinstance(asked, bool) or isinstance(reported, bool) or isinstance(asked, str):
        return type(asked) is type(reported) and bool(asked == reported)
    return isinstance(reported, (int, float)) and math.isclose(
        asked, reported, rel_tol=1e-4, abs_tol=1e-6
    )


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
