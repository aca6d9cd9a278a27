"""Checks that the host did what it was asked to do, by reading the scene back afterwards. For
bundled skills. Use it from any thread, but read from the host on the main thread."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from callboard.content import Json
from callboard.errors import HostError
from callboard.ground.matrices import compose


class NotVerified(HostError):
    """Raised when the scene isn't as requested. The call fails, so the host restores the previous
    state."""


def expect(right: bool, what: str, asked: object, actual: object) -> None:
    """Raise NotVerified unless ``right``."""
    expect_that(right, f"{what} should be {asked}, but is {actual}")


def expect_that(right: bool, instead: str) -> None:
    """Raise NotVerified unless ``right``. ``instead`` is a clause that describes the actual
    state."""
    if not right:
        raise NotVerified(f"the host did not do what was asked: {instead}. The change was undone.")


def near(a: float, b: float, tolerance: float = 1e-4) -> bool:
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)


def all_near(a: Sequence[float], b: Sequence[float], tolerance: float = 1e-4) -> bool:
    return len(a) == len(b) and all(near(x, y, tolerance) for x, y in zip(a, b, strict=True))


def alike(asked: Any, actual: Any, absolute: float = 1e-3) -> bool:
    """Return whether a number, or each of a list, is as requested, within a thousandth or within
    ``absolute``. An actual value of None is never as requested."""
    if actual is None:
        return False
    if not isinstance(asked, list):
        asked, actual = [asked], [actual]
    if not isinstance(actual, list | tuple) or len(actual) != len(asked):
        return False
    pairs = zip(asked, actual, strict=True)
    return all(math.isclose(a, b, rel_tol=1e-3, abs_tol=absolute) for a, b in pairs)


def expect_turned(asked: Sequence[float], actual: Sequence[float], absolute: float = 1e-3) -> None:
    """Raise NotVerified unless two rotations, in Euler XYZ degrees, are the same. They are compared
    by their effect, because different angles can describe the same rotation."""
    turns = (compose([0.0] * 3, angles, [1.0] * 3) for angles in (asked, actual))
    same = all(alike(a, b, absolute) for a, b in zip(*turns, strict=True))
    expect(same, "rotate", asked, actual)


def done(
    kind: str,
    entry: Json,
    changed: Sequence[str] = (),
    created: Sequence[str] = (),
    doubt: str | None = None,
    asked: Collection[str] | None = None,
) -> Json:
    """Return the answer to a change, with the current state under ``kind``. The answer says that
    the change isn't verified if ``doubt`` is given or the entry has a doubt, because the next load
    may show something else. ``asked`` are the values that were requested: a doubt about other
    values, which the entry lists as ``doubtful``, doesn't count."""
    doubtful = entry.get("doubtful")
    if asked is None or doubtful is None or not set(doubtful).isdisjoint(asked):
        doubt = doubt or entry.get("doubt")
    return {
        "changed": [*changed],
        "created": [*created],
        "verified": doubt is None,
        **({} if doubt is None else {"doubt": doubt}),
        kind: entry,
    }


def expect_transform(
    before: Json, after: Json, asked: Mapping[str, Sequence[float] | None]
) -> None:
    """Check that the requested values are set and that the others are unchanged. Rotations are
    compared by their effect, because different Euler angles can describe the same one. Raises
    NotVerified."""
    wanted = {key: before[key] if value is None else value for key, value in asked.items()}
    expect(
        all_near(after["translate"], wanted["translate"]),
        "translate",
        wanted["translate"],
        after["translate"],
    )
    turned, right = (compose([0.0] * 3, one["rotate"], one["scale"])[:3] for one in (after, wanted))
    same = all(all_near(a, b, 1e-3) for a, b in zip(turned, right, strict=True))
    expect(
        same,
        "rotate, scale",
        [list(wanted["rotate"]), list(wanted["scale"])],
        [after["rotate"], after["scale"]],
    )


def expect_same_bounds(before: Json, after: Json, what: str) -> None:
    a, b = before["bounds"], after["bounds"]
    same = a is b or (
        a is not None
        and b is not None
        and all_near(a["min"], b["min"], 1e-3)
        and all_near(a["max"], b["max"], 1e-3)
    )
    expect(same, what, a, b)
