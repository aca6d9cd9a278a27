"""Geometry: points and polygons, and the results of the modelled SOPs."""

from __future__ import annotations

from math import cos, pi, sin
from pathlib import Path

import rays
from cut_faces import triangles_of

from . import _files
from ._errors import InvalidInput, InvalidSize, OperationFailed
from ._math import BoundingBox, Matrix4, Vector3, apply
from ._session import session


class Point:
    def __init__(self, number) -> None:
        self._number = number

    def number(self):
        return self._number


class Vertex:
    def __init__(self, number, uv) -> None:
        self._number = number
        self._uv = uv

    def point(self):
        return Point(self._number)

    def floatListAttribValue(self, name):
        if name != "uv" or self._uv is None:
            raise OperationFailed("Invalid attribute name.")
        return (*self._uv, 0.0)


class Prim:
    def __init__(self, corners=(), uvs=None) -> None:
        self._corners = corners
        #: UVs of each corner.
        self._uvs = uvs

    def vertices(self):
        uvs = self._uvs or [None] * len(self._corners)
        return iter([Vertex(number, uv) for number, uv in zip(self._corners, uvs, strict=True)])


class Face(Prim):
    def isClosed(self):
        return True


class Polygon(Face):
    pass


class Quadric(Prim):
    """A sphere or tube that is one primitive."""


class Attrib:
    def __init__(self, name) -> None:
        self._name = name

    def name(self):
        return self._name


class Geometry:
    def __init__(self) -> None:
        self._points: list[list[float]] = []
        self._prims: list[Prim] = []
        #: The material of each primitive, if the attribute exists.
        self._materials: list[str] = []
        #: True when vertices have normals.
        self._normals = False

    def _turn(self, numbers):
        for number in numbers:
            prim = self._prims[number]
            uvs = None if prim._uvs is None else prim._uvs[::-1]
            self._prims[number] = type(prim)(prim._corners[::-1], uvs)

    def _triangulate(self):
        prims, materials = [], []
        for number, prim in enumerate(self._prims):
            for three in triangles_of([self._points[i] for i in prim._corners]):
                uvs = None if prim._uvs is None else tuple(prim._uvs[i] for i in three)
                prims.append(Polygon(tuple(prim._corners[i] for i in three), uvs))
                materials += self._materials[number : number + 1]
        self._prims, self._materials = prims, materials

    def _round(self):
        """Subdivide each face once, with the right counts. Each new point is in the middle of the
        element that it comes from."""
        middles: dict[tuple[int, int], int] = {}
        prims, materials = [], []

        def middle(corners):
            self._points.append(list(_mean([self._points[i] for i in corners])))
            return len(self._points) - 1

        for number, prim in enumerate(self._prims):
            corners, uvs = prim._corners, prim._uvs
            materials += self._materials[number : number + 1] * len(corners)
            centre, ring = middle(corners), []
            for a, b in zip(corners, (*corners[1:], corners[0]), strict=True):
                key = (min(a, b), max(a, b))
                middles[key] = middles[key] if key in middles else middle(key)
                ring.append(middles[key])
            for k, v in enumerate(corners):
                placed = None
                if uvs is not None:
                    after = uvs[(k + 1) % len(uvs)]
                    sides = _mean([uvs[k], after]), _mean(uvs), _mean([uvs[k - 1], uvs[k]])
                    placed = (uvs[k], *sides)
                prims.append(Polygon((v, ring[k], centre, ring[k - 1]), placed))
        self._prims, self._materials = prims, materials

    def createPoints(self, point_positions):
        first = len(self._points)
        self._points += [[float(v) for v in position] for position in point_positions]
        return tuple(Point(i) for i in range(first, len(self._points)))

    def createPolygons(self, points, is_closed=True):
        if not is_closed:
            raise NotImplementedError("the double doesn't model open polygons")
        points = [
            [each.number() if isinstance(each, Point) else each for each in corners]
            for corners in points
        ]
        for corners in points:
            if len(corners) < 3:
                raise InvalidSize("a polygon needs three points")
            if not all(isinstance(i, int) and 0 <= i < len(self._points) for i in corners):
                raise InvalidInput("there is no such point")
        made = tuple(Polygon(tuple(corners)) for corners in points)
        self._prims += made
        return made

    def transform(self, matrix):
        if not isinstance(matrix, Matrix4):
            raise TypeError("a matrix is needed")
        self._points = [apply(point, matrix) for point in self._points]

    def merge(self, geometry, clone_data_ids=False, prims=None):
        if clone_data_ids or prims is not None:
            raise NotImplementedError("the double doesn't model other ways to merge")
        if not all(isinstance(prim, Polygon) for prim in geometry._prims):
            raise NotImplementedError("the double doesn't model merging anything but polygons")
        if self._materials or geometry._materials:
            before = self._materials or [""] * len(self._prims)
            self._materials = [*before, *(geometry._materials or [""] * len(geometry._prims))]
        first = len(self._points)
        self.createPoints(geometry._points)
        made = self.createPolygons([[i + first for i in p._corners] for p in geometry._prims])
        for polygon, prim in zip(made, geometry._prims, strict=True):
            polygon._uvs = prim._uvs

    def saveToFile(self, file_name):
        session.guard("hou.Geometry.saveToFile")
        corners = [prim._corners for prim in self._prims]
        _files.write(self._points, corners, [prim._uvs for prim in self._prims], Path(file_name))

    def loadFromFile(self, file_name):
        session.guard("hou.Geometry.loadFromFile")
        points, faces, uvs = _files.read(Path(file_name))
        self._points, self._prims, self._materials = [], [], []
        self.createPoints(points)
        for polygon, placed in zip(
            self.createPolygons(faces), uvs or [None] * len(faces), strict=True
        ):
            polygon._uvs = placed

    def intersect(
        self, rayorig, dir, p, n, uvw, pattern=None, min_hit=0.01, max_hit=1e18, tolerance=0.01
    ):
        session.guard("hou.Geometry.intersect")
        if pattern is not None or not 0 < tolerance <= 0.01:
            raise NotImplementedError("the double doesn't model other intersections")
        if not all(isinstance(each, Vector3) for each in (rayorig, dir, p, n, uvw)):
            raise TypeError("a Vector3 is needed")
        hits = (
            (at, number)
            for number, prim in enumerate(self._prims)
            for at, _ in rays.met(self._points, [prim._corners], rayorig, dir)
            if min_hit <= at <= max_hit
        )
        at, number = min(hits, default=(0.0, -1))
        if number >= 0:
            p[:] = [a + at * b for a, b in zip(rayorig, dir, strict=True)]
        return number

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

    def findPrimAttrib(self, name, scope=None):
        if name != "shop_materialpath":
            raise NotImplementedError("the double doesn't model other attributes of primitives")
        return Attrib(name) if self._materials else None

    def findVertexAttrib(self, name, scope=None):
        if name != "uv":
            raise NotImplementedError("the double doesn't model other attributes of vertices")
        placed = [prim._uvs is not None for prim in self._prims]
        if any(placed) and not all(placed):
            raise NotImplementedError("the double doesn't model UVs on only some of the faces")
        return Attrib(name) if any(placed) else None

    def findPointAttrib(self, name, scope=None):
        if name != "N":
            raise NotImplementedError("the double doesn't model other attributes of points")

    def primStringAttribValues(self, name):
        if self.findPrimAttrib(name) is None:
            raise OperationFailed("Invalid attribute name.")
        return tuple(self._materials)

    def prims(self):
        return tuple(self._prims)


def _mean(places):
    return tuple(sum(axis) / len(places) for axis in zip(*places, strict=True))


def _close(made, faces):
    """Add the faces. The corners of Houdini's polygons run clockwise, seen from outside."""
    made.createPolygons([face[::-1] for face in faces])


def box(x, y, z):
    made = Geometry()
    made.createPoints(
        [[a * x / 2, b * y / 2, c * z / 2] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]
    )
    _close(
        made,
        [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)],
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
    _close(made, [(0, 1, 2, 3)])
    return made


def rings(rows, around, axis, closed=False):
    """Return ``rows`` of (radius, height) turned about an axis."""
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
    _close(made, faces)
    return made


def quadric(points):
    made = Geometry()
    made.createPoints(points)
    made._prims.append(Quadric())
    return made
