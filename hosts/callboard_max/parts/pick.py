"""Finds the object at a point in a picture: the object with the first surface on the line of
sight."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from math import dist
from typing import Any

from pymxs import runtime as rt

from callboard.host import Point
from callboard_max.application.names import Node, objects, path_of
from callboard_max.parts.shapes import is_geometry, kind_of
from callboard_qt import LineOfSight, between

#: The step beyond a face after which the search for the next face starts, as a fraction of the
#: distance to the face that was passed.
_STEP = 1e-5
#: Maximum number of an object's faces that are behind one another on the line.
_MOST_FACES = 100


def first_hit(sight: LineOfSight, rendered: bool) -> tuple[str, Point] | None:
    """Return the object's path and the point on it. A ``rendered`` picture leaves out objects that
    aren't renderable. Call it on the main thread."""
    nearest, seen = sight.reach, None
    for node in objects():
        if not is_geometry(node) or kind_of(node) == "targetobject" or node.isHiddenInVpt:
            continue
        if rendered and not node.renderable:
            continue
        distance = _meets(sight, node, nearest)
        if distance is not None:
            nearest, seen = distance, node
    return None if seen is None else (path_of(seen), sight.at(nearest))


def artists_sight(
    aspect: float, x: float, y: float, boxes: Iterable[tuple[Point, Point]]
) -> LineOfSight | None:
    """Return the line of sight in the active view, which ``viewport.drawn`` fits into a picture of
    a different shape, or None if the point is on the bars next to the view."""
    size = rt.getViewSize()
    shape = float(size.x) / float(size.y)
    across = 0.5 + (x - 0.5) * max(1.0, aspect / shape)
    down = 0.5 + (y - 0.5) * max(1.0, shape / aspect)
    if not (0 <= across <= 1 and 0 <= down <= 1):
        return None
    ray = rt.mapScreenToWorldRay(rt.Point2(across * float(size.x), down * float(size.y)))
    start, along = _numbers(ray.pos), _numbers(ray.dir)
    reach = max((dist(start, corner) for box in boxes for corner in box), default=0.0)
    reach = 2 * reach + 1
    # An orthographic view's ray begins in the middle of the scene.
    first = 0.0 if rt.viewport.isPerspView() else -reach
    ends = ([a + way * b for a, b in zip(start, along, strict=True)] for way in (first, reach))
    return between(*ends)


def _meets(sight: LineOfSight, node: Node, within: float) -> float | None:
    """Return the distance at which the line first meets a node's surface, from either side. A ray
    in 3ds Max hits only faces that point towards its start, so another ray is cast from the other
    end."""
    low, high = _numbers(node.min), _numbers(node.max)
    if sight.enters(low, high) is None:
        return None
    # A ray from farther away would miss, because of single precision.
    around = max(dist(sight.start, corner) for corner in product(*zip(low, high, strict=True)))
    within = min(within, around * (1 + _STEP))
    seen: float | None = None
    front = _asked(node, sight.start, sight.along)
    if front is not None and (distance := dist(sight.start, front)) < within:
        seen = distance
    behind = within if seen is None else seen
    back = [-value for value in sight.along]
    for _ in range(_MOST_FACES):
        away = _asked(node, sight.at(behind), back)
        if away is None or (gone := dist(sight.at(behind), away)) >= behind:
            break
        seen = behind - gone
        behind = seen * (1 - _STEP)
    return seen


def _asked(node: Node, start: Point, along: Point) -> list[float] | None:
    met = rt.intersectRay(node, rt.Ray(rt.Point3(*start), rt.Point3(*along)))
    return None if met is None else _numbers(met.pos)


def _numbers(point: Any) -> list[float]:
    return [float(point.x), float(point.y), float(point.z)]
