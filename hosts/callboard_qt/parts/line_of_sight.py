"""Computes the line of sight through a point of a picture, for hosts that can intersect surfaces
with it."""

from __future__ import annotations

from dataclasses import dataclass
from math import dist, inf

from callboard.host import Point, View


@dataclass(frozen=True)
class LineOfSight:
    """A line segment in the world. ``reach`` is its length, in the same unit as ``start``."""

    start: Point
    #: The direction, of length 1.
    along: Point
    reach: float

    def at(self, distance: float) -> list[float]:
        """Return the point at that distance along the line."""
        return [a + distance * b for a, b in zip(self.start, self.along, strict=True)]

    def enters(self, low: Point, high: Point) -> float | None:
        """Return the distance at which the line enters a box, or None when it misses."""
        first, last = 0.0, self.reach
        for start, along, *sides in zip(self.start, self.along, low, high, strict=True):
            if along == 0:
                near, far = (-inf, inf) if sides[0] <= start <= sides[1] else (inf, -inf)
            else:
                near, far = sorted((side - start) / along for side in sides)
            first, last = max(first, near), min(last, far)
        return first if first <= last else None


def between(start: Point, end: Point) -> LineOfSight:
    """Return the line from one point to a different one."""
    reach = dist(start, end)
    return LineOfSight(start, [(b - a) / reach for a, b in zip(start, end, strict=True)], reach)


def through(view: View, aspect: float, x: float, y: float) -> LineOfSight:
    """Return the line through a point of the view. ``x`` and ``y`` are fractions of the picture's
    width and height, from the top left. ``aspect`` is the width divided by the height."""
    right, up, back, eye = view.rows
    across, down = (2 * x - 1) * view.wide, (1 - 2 * y) * view.wide / aspect
    way = [a * across + b * down - c for a, b, c in zip(right, up, back, strict=True)]
    start, end = (
        [a + depth * b for a, b in zip(eye, way, strict=True)] for depth in (view.near, view.far)
    )
    return between(start, end)
