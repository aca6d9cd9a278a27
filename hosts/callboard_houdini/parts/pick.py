"""Finds the object at a point in a picture: the object with the first surface on the line of
sight."""

from __future__ import annotations

from math import dist

import hou

from callboard.errors import HostError
from callboard.host import Point, View, rows_of_sixteen, unit
from callboard_houdini.application.names import objects
from callboard_houdini.parts.shapes import geometry
from callboard_qt import LineOfSight, between

#: The clipping range used for the artist's own view, because Houdini doesn't reveal the view's.
_NEAR, _FAR = 1e-3, 1e7
#: The distance within which a point is considered to be on the surface, as a fraction of the
#: diagonal of the object's bounding box.
_PRECISION = 1e-6


def first_hit(sight: LineOfSight) -> tuple[str, Point] | None:
    """Return the object's path and the point on it. Call it on the main thread."""
    nearest: float | None = None
    seen: tuple[str, Point] | None = None
    for node in objects():
        shape = geometry(node) if node.isObjectDisplayed() else None
        point = _meets(sight, shape, node.worldTransform()) if shape is not None else None
        if point is not None:
            distance = dist(sight.start, point)
            if nearest is None or distance < nearest:
                nearest, seen = distance, (str(node.path()), point)
    return seen


def artists_view(viewport: hou.GeometryViewport) -> View:
    """Return the artist's view when it doesn't look through a camera. Raises HostError for an
    orthographic view."""
    lens = viewport.defaultCamera()
    if not lens.isPerspective():
        raise HostError(
            "the artist's view is orthographic, so no point can be picked in it; give camera or"
            " angles"
        )
    rows = rows_of_sixteen(viewport.viewTransform().asTuple())
    axes = [unit(row) for row in rows[:3]]
    return View([*axes, rows[3]], lens.aperture() / (2 * lens.focalLength()), _NEAR, _FAR)


def _meets(sight: LineOfSight, shape: hou.Geometry, placed: hou.Matrix4) -> list[float] | None:
    """Return the point in the world where the line first meets the object's shown geometry."""
    box = shape.boundingBox(placed)
    if sight.enters(list(box.minvec()), list(box.maxvec())) is None:
        return None
    try:
        back = placed.inverted()
    except hou.OperationFailed:
        return None  # The object is scaled to zero.
    ends = (hou.Vector3(*end) * back for end in (sight.start, sight.at(sight.reach)))
    inside = between(*(list(end) for end in ends))
    point, normal, uvw = hou.Vector3(), hou.Vector3(), hou.Vector3()
    size = shape.boundingBox()
    tolerance = _PRECISION * dist(list(size.minvec()), list(size.maxvec()))
    hit = shape.intersect(
        hou.Vector3(*inside.start),
        hou.Vector3(*inside.along),
        point,
        normal,
        uvw,
        min_hit=0.0,
        max_hit=inside.reach,
        tolerance=tolerance,
    )
    return None if hit < 0 else list(point * placed)
