"""Places a camera so that objects fill its picture."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import cos, dist, radians, sin, tan
from typing import Literal

from callboard.errors import HostError
from callboard.ground.matrices import Rows
from callboard.host_kit.aim import Box, Point, facing

Angle = Literal["front", "back", "left", "right", "top", "bottom", "three_quarter"]

#: Degrees about the up axis from the front, and above the ground.
_ANGLES: dict[str, tuple[float, float]] = {
    "front": (0, 0),
    "back": (180, 0),
    "left": (-90, 0),
    "right": (90, 0),
    "top": (0, 90),
    "bottom": (0, -90),
    "three_quarter": (35, 25),
}


def around_point(middle: Point, away: float, turn: float, rise: float, up_axis: str) -> list[float]:
    """Return the point at distance ``away`` from ``middle``. ``turn`` is degrees about the up axis
    from the front, which is -Y when Z is up and Z when Y is up. ``rise`` is degrees above
    ground."""
    a, b = radians(turn), radians(rise)
    x, y, z = away * cos(b) * sin(a), -away * cos(b) * cos(a), away * sin(b)
    offset = [x, z, -y] if up_axis == "Y" else [x, y, z]
    return [c + d for c, d in zip(middle, offset, strict=True)]


def axes_of(angle: Angle, up_axis: str) -> Rows:
    """Return the axes of a camera that looks from this angle."""
    return facing(around_point([0, 0, 0], 1.0, *_ANGLES[angle], up_axis), [0, 0, 0], up_axis)


def corners(boxes: Sequence[Box]) -> list[tuple[float, ...]]:
    return [corner for low, high in boxes for corner in product(*zip(low, high, strict=True))]


def framed(
    axes: Rows, fov: Sequence[float], points: Sequence[Point], margin: float
) -> tuple[Rows, float, float]:
    """Return the camera that has these axes and sees all points, and the depths of the nearest and
    farthest points. ``fov`` is the picture's field of view in degrees. ``margin`` is the fraction
    of the picture that is left free."""
    wide, high = (tan(radians(angle) / 2) * (1 - margin) for angle in fov)
    right, up, back = axes[:3]
    low, top = ([pick(axis) for axis in zip(*points, strict=True)] for pick in (min, max))
    middle = [(a + b) / 2 for a, b in zip(low, top, strict=True)]
    seen = [_seen(point, middle, axes) for point in points]
    away = max(max(abs(x) / wide, abs(y) / high) + z for x, y, z in seen)
    if away <= max(z for *_, z in seen):
        # A point has no size, so choose a distance for it.
        away += max(dist(low, top), 1.0)
    eye = [m + b * away for m, b in zip(middle, back, strict=True)]
    depths = [away - z for *_, z in seen]
    return [right, up, back, eye], min(depths), max(depths)


def filled(camera: Rows, fov: Sequence[float], points: Sequence[Point]) -> list[float]:
    """Return how far the points reach from the picture's middle, as fractions of half its width and
    half its height. A fraction above 1 is out of view. Raises HostError when an object is behind
    the camera."""
    wide, high = (tan(radians(angle) / 2) for angle in fov)
    parts = [0.0, 0.0]
    for point in points:
        x, y, z = _seen(point, camera[3], camera)
        if z >= 0:
            raise HostError("the objects are behind the camera. The change was undone.")
        parts = [max(parts[0], abs(x / -z) / wide), max(parts[1], abs(y / -z) / high)]
    return parts


def _seen(point: Point, origin: Point, axes: Rows) -> list[float]:
    away = [a - b for a, b in zip(point, origin, strict=True)]
    return [sum(a * b for a, b in zip(away, axis, strict=True)) for axis in axes[:3]]
