"""Finds the object at a point in a picture: the object with the first surface that a ray from the
eye meets."""

from __future__ import annotations

import bpy
from mathutils import Matrix, Vector

from callboard.host import Point
from callboard_blender.application.names import scene

#: Maximum number of surfaces, invisible in a render, that a ray passes through.
_MOST_PASSED = 100


def first_hit(
    looking: Matrix, projecting: Matrix, x: float, y: float, rendered: bool
) -> tuple[str, Point] | None:
    """Return the object's path and the point on it, within the view's clipping range. Objects
    hidden from renders don't count if the picture is ``rendered``. ``x`` and ``y`` are fractions
    of the width and height, from the top left. Call it on the main thread."""
    start, end = _through(projecting @ looking, x, y)
    way = end - start
    step = way.length * 1e-6
    graph = bpy.context.evaluated_depsgraph_get()
    for _ in range(_MOST_PASSED):
        left = (end - start).dot(way.normalized())
        if left <= 0:
            return None
        hit, place, _, _, obj, _ = scene().ray_cast(graph, start, way, distance=left)
        if not hit:
            return None
        if not (rendered and obj.hide_render):
            return str(obj.original.name_full), [place.x, place.y, place.z]
        start = place + way.normalized() * step
    return None


def _through(seen: Matrix, x: float, y: float) -> tuple[Vector, Vector]:
    """Return where the line of sight enters and leaves the view volume, in world space."""
    back = seen.inverted_safe()
    ends = (back @ Vector((2 * x - 1, 1 - 2 * y, depth, 1)) for depth in (-1, 1))
    near, far = (end.xyz / end.w for end in ends)
    return near, far
