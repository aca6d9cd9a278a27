"""Checking that the host did what it was asked, from what it says afterwards."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from callboard.content import Json
from callboard.errors import HostError

Matrix = tuple[tuple[float, float, float], ...]


class NotVerified(HostError):
    """The scene isn't as asked. The call fails, so the host puts back what was there."""


def expect(right: bool, what: str, asked: object, actual: object) -> None:
    if not right:
        raise NotVerified(
            f"the host did not do what was asked: {what} should be {asked}, but is {actual}. "
            "The change was taken back."
        )


def near(a: float, b: float, tolerance: float = 1e-4) -> bool:
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)


def all_near(a: Sequence[float], b: Sequence[float], tolerance: float = 1e-4) -> bool:
    return len(a) == len(b) and all(near(x, y, tolerance) for x, y in zip(a, b, strict=True))


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
    turned = _linear(after["rotate"], after["scale"])
    right = _linear(wanted["rotate"], wanted["scale"])
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


def _linear(rotate: Sequence[float], scale: Sequence[float]) -> Matrix:
    """The 3x3 matrix (columns are the turned and scaled axes) of Euler XYZ degrees and scale."""
    (sx, cx), (sy, cy), (sz, cz) = (
        (math.sin(math.radians(a)), math.cos(math.radians(a))) for a in rotate
    )
    turned = (
        (cy * cz, sx * sy * cz - cx * sz, cx * sy * cz + sx * sz),
        (cy * sz, sx * sy * sz + cx * cz, cx * sy * sz - sx * cz),
        (-sy, sx * cy, cx * cy),
    )
    return tuple((row[0] * scale[0], row[1] * scale[1], row[2] * scale[2]) for row in turned)
