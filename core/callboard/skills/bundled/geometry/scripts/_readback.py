"""The answers of the skill's tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callboard.content import Json
from callboard.errors import HostError
from callboard.skill import alike as near_alike
from callboard.skill import done as told_done

#: Maximum number of vertices of a shape. Hosts have enough memory for that many.
MOST = 10_000_000


def alike(asked: Any, actual: Any) -> bool:
    """Return whether the values are alike. Numbers may differ slightly; strings, booleans and None
    must be equal."""
    if isinstance(asked, (str, bool)) or actual is None:
        return bool(asked == actual)
    return near_alike(asked, actual, 1e-5)


def refuse_endless(before: Json, times: float) -> None:
    """Raise HostError if multiplying the number of displayed vertices by ``times`` would make too
    many. ``before`` is the port's information about the object."""
    shown = before["result"]
    if shown is not None and (wanted := int(shown["vertices"] * times)) > MOST:
        raise HostError(
            f"'{before['path']}' would have some {wanted:,} vertices, which can crash the "
            f"application; the limit is {MOST:,}. Ask for less, or simplify the shape first."
        )


def done(info: Json, created: Sequence[str] = (), doubt: str | None = None, **more: Any) -> Json:
    """Return the answer for a change. ``info`` is the port's current information about the
    object."""
    doubt = doubt or info.pop("doubt", None)
    changed = [] if created else [info["path"]]
    return {**told_done("shape", info, changed, created, doubt), **more}
