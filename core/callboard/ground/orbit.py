"""Camera positions that show a scene, around it or from one angle, and the names of a turntable's
pictures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import cos, radians, sin, sqrt, tan, tau
from pathlib import Path

from callboard.errors import HostError

Point = Sequence[float]

#: Half of the angle seen along the picture's shorter side, and how far the camera looks down.
_HALF_ANGLE = radians(20)
_DOWN = radians(20)
_MARGIN = 1.08


@dataclass(frozen=True)
class View:
    """A camera that looks along its own -Z, with Y up. Lengths are in the box's unit."""

    #: The camera's X, Y and Z axes and its position, in world space.
    rows: list[list[float]]
    #: Tangent of half the horizontal angle.
    wide: float
    near: float
    far: float


def around(boxes: Iterable[tuple[Point, Point]]) -> tuple[list[float], list[float]]:
    """Return the box that encloses all the boxes, each of which is ``(low, high)``. Raises
    HostError when there are no boxes."""
    known = list(boxes)
    if not known:
        raise HostError("the scene contains nothing that can be rendered; add an object first")
    low = [min(axis) for axis in zip(*(box[0] for box in known), strict=True)]
    high = [max(axis) for axis in zip(*(box[1] for box in known), strict=True)]
    return low, high


def orbiting(low: Point, high: Point, turn: float, aspect: float, up_axis: str) -> View:
    """Return a view of the whole box. ``turn`` (0 to 1) is how far around the box the camera has
    moved from the front. ``aspect`` is the picture's width divided by its height. ``up_axis`` is
    ``Y`` or ``Z``."""
    axes = _axes(turn, _DOWN, up_axis)
    radius = _radius(low, high)
    # The distance is the same from every side, so that the scene doesn't jump while it turns.
    distance = 1.1 * radius / sin(_HALF_ANGLE)
    return _standing(low, high, axes, distance, tan(_HALF_ANGLE) * max(1.0, aspect))


def seeing(
    low: Point, high: Point, turn: float, down: float, half: float, aspect: float, up_axis: str
) -> View:
    """Return a view in which the whole box is as large as possible. ``turn`` is as in
    :func:`orbiting`. The camera is ``down`` degrees above the box. ``half`` is half of the angle
    along the shorter side, in degrees."""
    axes = _axes(turn, radians(down), up_axis)
    tall = tan(radians(half)) / min(1.0, aspect)
    wide = tall * aspect
    middle = _middle(low, high)
    distance = _radius(low, high) / 100
    for corner in product(*zip(low, high, strict=True)):
        offset = [a - b for a, b in zip(corner, middle, strict=True)]
        x, y, z = (sum(a * b for a, b in zip(offset, axis, strict=True)) for axis in axes)
        distance = max(distance, z + _MARGIN * max(abs(x) / wide, abs(y) / tall))
    return _standing(low, high, axes, distance, wide)


def reaching(view: View, low: Point, high: Point) -> View:
    """Return the same view, with its far limit moved so that no part of the box is cut off."""
    *_, back, eye = view.rows
    corners = product(*zip(low, high, strict=True))
    depth = max(
        -sum((a - b) * c for a, b, c in zip(each, eye, back, strict=True)) for each in corners
    )
    return replace(view, far=max(view.far, 1.01 * depth))


def _axes(turn: float, down: float, up_axis: str) -> list[list[float]]:
    """Return the axes to the right, up, and back to the viewer."""
    s, c = sin(tau * turn), cos(tau * turn)
    # Computed for a world with Z up. Its X, Y and Z are X, -Z and Y in a world with Y up.
    right = [c, s, 0.0]
    back = [s * cos(down), -c * cos(down), sin(down)]
    up = [-s * sin(down), c * sin(down), cos(down)]
    axes = [right, up, back]
    return [[x, z, -y] for x, y, z in axes] if up_axis == "Y" else axes


def _standing(
    low: Point, high: Point, axes: list[list[float]], distance: float, wide: float
) -> View:
    middle = _middle(low, high)
    eye = [a + distance * b for a, b in zip(middle, axes[2], strict=True)]
    far = distance + 2 * _radius(low, high)
    return View([*axes, eye], wide, near=distance / 1000, far=far)


def _middle(low: Point, high: Point) -> list[float]:
    return [(a + b) / 2 for a, b in zip(low, high, strict=True)]


def _radius(low: Point, high: Point) -> float:
    return max(sqrt(sum((b - a) ** 2 for a, b in zip(low, high, strict=True))) / 2, 1e-6)


def numbered(pattern: str, number: int) -> str:
    """Return the path with the run of ``#`` in the file's name replaced by the number."""
    file = Path(pattern)
    name = re.sub("#+", lambda run: str(number).zfill(len(run.group())), file.name)
    return str(file.with_name(name))
