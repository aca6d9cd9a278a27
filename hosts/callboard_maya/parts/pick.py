"""Finds the object at a point in a picture: the object with the first mesh on the line of sight."""

from __future__ import annotations

from maya import cmds
from maya.api import OpenMaya as om

from callboard.errors import HostError
from callboard.host import Point
from callboard_maya.application.names import bare, parent_of
from callboard_maya.parts.shapes import dag_path, mesh_functions
from callboard_maya.parts.units import units_per_meter
from callboard_qt import LineOfSight, between


def first_hit(
    camera: str, aspect: float, x: float, y: float, rendered: bool
) -> tuple[str, Point] | None:
    """Return the object's path and the point on it, within the camera's clipping range. ``aspect``
    is the picture's width divided by its height. Raises HostError when a surface that only Maya can
    draw may be in front. Call it on the main thread."""
    sight = _sight(camera, aspect, x, y, rendered)
    nearest, seen = sight.reach, ""
    surfaces = cmds.ls(
        type="surfaceShape", visible=True, noIntermediate=True, allPaths=True, long=True
    )
    others: list[str] = []
    for shape in surfaces or []:
        if cmds.nodeType(shape) != "mesh":
            others.append(shape)
        elif (distance := _meets(sight, shape)) is not None and distance < nearest:
            nearest, seen = distance, shape
    units = units_per_meter() / 100.0
    for shape in others:
        box = [float(value) / units for value in cmds.exactWorldBoundingBox(shape)]
        entered = sight.enters(box[:3], box[3:])
        if entered is not None and entered < nearest:
            name = bare(parent_of(shape) or shape)
            raise HostError(
                f"'{name}' may be in front at that point, but Maya doesn't report where the surface"
                f" of a {cmds.nodeType(shape)} is; give the object's name"
                " instead, or hide the object"
            )
    if not seen:
        return None
    return parent_of(seen) or seen, [value * units for value in sight.at(nearest)]


def _meets(sight: LineOfSight, shape: str) -> float | None:
    source, along = om.MFloatPoint(*sight.start), om.MFloatVector(*sight.along)
    hit = mesh_functions(shape).closestIntersection(
        source, along, om.MSpace.kWorld, sight.reach, False
    )
    # If the line misses, versions of Maya differ in what they return.
    return float(hit[1]) if hit is not None and hit[1] > 0 else None


def _sight(camera: str, aspect: float, x: float, y: float, rendered: bool) -> LineOfSight:
    """Return the line of sight in centimeters, the unit of Maya's API."""
    path = dag_path(camera)
    path.extendToShape()
    lens = om.MFnCamera(path)
    if rendered:
        left, right, bottom, top = lens.getRenderingFrustum(aspect)
    else:
        # A view is drawn with overscan and without squeeze.
        left, right, bottom, top = lens.getViewingFrustum(
            aspect, True, False, bool(lens.panZoomEnabled)
        )
    near, far = float(lens.nearClippingPlane), float(lens.farClippingPlane)
    across, down = left + x * (right - left), top + y * (bottom - top)
    wider = 1.0 if lens.isOrtho() else far / near
    placed = path.inclusiveMatrix()
    ends = (
        om.MPoint(across, down, -near) * placed,
        om.MPoint(across * wider, down * wider, -far) * placed,
    )
    start, end = ([point.x, point.y, point.z] for point in ends)
    return between(start, end)
