"""A turntable: where its camera stands for each picture, and what the pictures are called."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import cos, radians, sin, sqrt, tan, tau
from pathlib import Path

from callboard.errors import HostError

Point = Sequence[float]

#: Half of what is seen along the picture's shorter side, and how far the camera looks down.
_HALF_ANGLE = radians(20)
_DOWN = radians(20)


@dataclass(frozen=True)
class View:
    """A camera that looks along its own -Z, with Y upwards. Lengths are the box's."""

    #: Its axes X, Y and Z, and its place, in the world.
    rows: list[list[float]]
    #: Tangent of half the horizontal angle.
    wide: float
    near: float
    far: float


def around(boxes: Iterable[tuple[Point, Point]]) -> tuple[list[float], list[float]]:
    """The box around boxes ``(low, high)``. Raises HostError where there are none."""
    known = list(boxes)
    if not known:
        raise HostError("the scene holds nothing that can be rendered")
    low = [min(axis) for axis in zip(*(box[0] for box in known), strict=True)]
    high = [max(axis) for axis in zip(*(box[1] for box in known), strict=True)]
    return low, high


def orbiting(low: Point, high: Point, turn: float, aspect: float, up_axis: str) -> View:
    """Sees the whole box from ``turn``, 0 to 1, of the way around it, beginning at its front.
    ``aspect`` is the picture's width by its height; ``up_axis`` is ``Y`` or ``Z``."""
    centre = [(a + b) / 2 for a, b in zip(low, high, strict=True)]
    radius = max(sqrt(sum((b - a) ** 2 for a, b in zip(low, high, strict=True))) / 2, 1e-6)
    s, c = sin(tau * turn), cos(tau * turn)
    # In a world with Z upwards; X, Y and Z there are X, -Z and Y in the other one.
    right = [c, s, 0.0]
    back = [s * cos(_DOWN), -c * cos(_DOWN), sin(_DOWN)]
    up = [-s * sin(_DOWN), c * sin(_DOWN), cos(_DOWN)]
    rows = [right, up, back]
    if up_axis == "Y":
        rows = [[x, z, -y] for x, y, z in rows]
    distance = 1.1 * radius / sin(_HALF_ANGLE)
    eye = [a + distance * b for a, b in zip(centre, rows[2], strict=True)]
    wide = tan(_HALF_ANGLE) * max(1.0, aspect)
    return View([*rows, eye], wide, near=distance / 1000, far=distance + 2 * radius)


def numbered(pattern: str, number: int) -> str:
    """The path with the run of ``#`` in the file's name replaced by the number."""
    file = Path(pattern)
    name = re.sub("#+", lambda run: str(number).zfill(len(run.group())), file.name)
    return str(file.with_name(name))
