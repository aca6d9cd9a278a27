"""Geometry: points and polygons, and what the modelled SOPs make of them."""

from __future__ import annotations

from math import cos, pi, sin

from ._errors import InvalidInput, InvalidSize, OperationFailed
from ._math import BoundingBox, apply


class Point:
    def __init__(self, number) -> None:
        self._number = number

    def number(self):
        return self._number


class Vertex:
    def __init__(self, number) -> None:
        self._number = number

    def point(self):
        return Point(self._number)


class Prim:
    def __init__(self, corners=()) -> None:
        self._corners = corners

    def vertices(self):
        return iter([Vertex(number) for number in self._corners])


class Face(Prim):
    def isClosed(self):
        return True


class Polygon(Face):
    pass


class Quadric(Prim):
    """A sphere or tube that is one primitive."""


class Geometry:
    def __init__(self) -> None:
        self._points: list[list[float]] = []
        self._prims: list[Prim] = []

    def createPoints(self, point_positions):
        first = len(self._points)
        self._points += [[float(v) for v in position] for position in point_positions]
        return tuple(Point(i) for i in range(first, len(self._points)))

    def createPolygons(self, points, is_closed=True):
        if not is_closed:
            raise NotImplementedError("open polygons")
        for corners in points:
            if len(corners) < 3:
                raise InvalidSize("a polygon needs three points")
            if not all(isinstance(i, int) and 0 <= i < len(self._points) for i in corners):
                raise InvalidInput("there is no such point")
        made = tuple(Polygon(tuple(corners)) for corners in points)
        self._prims += made
        return made

    def boundingBox(self, transform=None):
        points = self._points
        if transform is not None:
            points = [apply(point, transform) for point in points]
        axes = list(zip(*points, strict=True)) or [(0.0,)] * 3
        return BoundingBox([min(axis) for axis in axes], [max(axis) for axis in axes])

    def intrinsicValue(self, intrinsic_name):
        known = {"pointcount": len(self._points), "primitivecount": len(self._prims)}
        if intrinsic_name not in known:
            raise OperationFailed(f"Invalid intrinsic name {intrinsic_name}")
        return known[intrinsic_name]

    def pointFloatAttribValues(self, name):
        if name != "P":
            raise OperationFailed("Invalid attribute name.")
        return tuple(value for point in self._points for value in point)

    def prims(self):
        return tuple(self._prims)


def box(x, y, z):
    made = Geometry()
    made.createPoints(
        [[a * x / 2, b * y / 2, c * z / 2] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]
    )
    made.createPolygons(
        [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    )
    return made


def grid(x, y, orient):
    a, b = {"xy": (0, 1), "yz": (1, 2), "zx": (2, 0)}[orient]
    if orient == "zx":
        x, y = y, x
    points = []
    for u, v in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
        point = [0.0, 0.0, 0.0]
        point[a], point[b] = u * x / 2, v * y / 2
        points.append(point)
    made = Geometry()
    made.createPoints(points)
    made.createPolygons([(0, 1, 2, 3)])
    return made


def rings(rows, around, axis, closed=False):
    """``rows`` of (radius, height) turned about an axis."""
    order = {"x": (1, 2, 0), "y": (2, 0, 1), "z": (0, 1, 2)}[axis]
    made = Geometry()
    points = []
    for radius, height in rows:
        for i in range(around):
            point = [0.0, 0.0, 0.0]
            values = (radius * cos(2 * pi * i / around), radius * sin(2 * pi * i / around), height)
            for where, value in zip(order, values, strict=True):
                point[where] = value
            points.append(point)
    made.createPoints(points)
    count = len(rows)
    faces = []
    for row in range(count if closed else count - 1):
        for i in range(around):
            a, b = row * around, (row + 1) % count * around
            j = (i + 1) % around
            faces.append((a + i, a + j, b + j, b + i))
    made.createPolygons(faces)
    return made


def quadric(points):
    made = Geometry()
    made.createPoints(points)
    made._prims.append(Quadric())
    return made
