"""Checking that the host did what it was asked, from what it says afterwards. For the skills that
ship; any thread, though what a host says is asked for on the main thread."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from callboard.content import Json
from callboard.errors import HostError
from callboard.ground.matrices import compose


class NotVerified(HostError):
    """The scene isn't as asked. The call fails, so the host puts back what was there."""


def expect(right: bool, what: str, asked: object, actual: object) -> None:
    """Raises NotVerified where it isn't right."""
    expect_that(right, f"{what} should be {asked}, but is {actual}")


def expect_that(right: bool, instead: str) -> None:
    """Raises NotVerified where it isn't right; ``instead`` says what is so, in half a sentence."""
    if not right:
        raise NotVerified(
            f"the host did not do what was asked: {instead}. The change was taken back."
        )


def near(a: float, b: float, tolerance: float = 1e-4) -> bool:
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)


def all_near(a: Sequence[float], b: Sequence[float], tolerance: float = 1e-4) -> bool:
    return len(a) == len(b) and all(near(x, y, tolerance) for x, y in zip(a, b, strict=True))


def alike(asked: Any, actual: Any, absolute: float = 1e-3) -> bool:
    """Whether a number, or each of a list, is what was asked, within a thousandth and
    ``absolute``; nothing is like None."""
    if actual is None:
        return False
    if not isinstance(asked, list):
        asked, actual = [asked], [actual]
    if not isinstance(actual, list | tuple) or len(actual) != len(asked):
        return False
    pairs = zip(asked, actual, strict=True)
    return all(math.isclose(a, b, rel_tol=1e-3, abs_tol=absolute) for a, b in pairs)


def expect_turned(asked: Sequence[float], actual: Sequence[float], absolute: float = 1e-3) -> None:
    """Euler XYZ degrees, by what they do: the same turn has several. Raises NotVerified."""
    turns = (compose([0.0] * 3, angles, [1.0] * 3) for angles in (asked, actual))
    same = all(alike(a, b, absolute) for a, b in zip(*turns, strict=True))
    expect(same, "rotate", asked, actual)


def done(
    kind: str,
    entry: Json,
    changed: Sequence[str] = (),
    created: Sequence[str] = (),
    doubt: str | None = None,
) -> Json:
    """A change's answer, with what is there now under ``kind``; not verified where there is a
    doubt or that says one: the next load may show something else."""
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
    """Whatever was asked is there, and the rest is as before. Turns are compared by what they do:
    the same one has several Euler angles."""
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
