"""Vectors, boxes and matrices; points are rows (``p * m``)."""

from __future__ import annotations

from math import asin, atan2, cos, degrees, hypot, radians, sin, sqrt

from ._errors import OperationFailed


class _Vector(list):
    _size = 3

    def __init__(self, *values) -> None:
        given = values[0] if len(values) == 1 else values or [0.0] * self._size
        if len(given) != self._size:
            raise TypeError(f"{type(self).__name__} takes {self._size} numbers")
        super().__init__(float(value) for value in given)


class Vector2(_Vector):
    _size = 2


class Vector3(_Vector):
    _size = 3

    def __mul__(self, other):
        if not isinstance(other, Matrix4):
            raise NotImplementedError("the double doesn't model a vector times something else")
        return Vector3(apply(self, other))


class BoundingBox:
    def __init__(self, low, high) -> None:
        self._low, self._high = Vector3(low), Vector3(high)

    def minvec(self):
        return self._low

    def maxvec(self):
        return self._high


class Matrix4:
    def __init__(self, values=0) -> None:
        if isinstance(values, (int, float)):
            values = [values if i % 5 == 0 else 0.0 for i in range(16)]
        flat = [float(value) for value in values]
        if len(flat) != 16:
            raise TypeError("Matrix4 takes 16 numbers")
        self._rows = [flat[i : i + 4] for i in range(0, 16, 4)]

    def asTuple(self):
        return tuple(value for row in self._rows for value in row)

    def __mul__(self, other):
        if not isinstance(other, Matrix4):
            raise NotImplementedError("the double doesn't model a matrix times something else")
        columns = list(zip(*other._rows, strict=True))
        return Matrix4(
            [
                sum(a * b for a, b in zip(row, column, strict=True))
                for row in self._rows
                for column in columns
            ]
        )

    def __eq__(self, other):
        return isinstance(other, Matrix4) and self.asTuple() == other.asTuple()

    __hash__ = None  # type: ignore[assignment]

    def isAlmostEqual(self, matrix4, tolerance=1e-5):
        pairs = zip(self.asTuple(), matrix4.asTuple(), strict=True)
        return all(abs(a - b) <= tolerance for a, b in pairs)

    def inverted(self):
        size = 4
        rows = [row + [float(i == j) for j in range(size)] for i, row in enumerate(self._rows)]
        for i in range(size):
            pivot = max(range(i, size), key=lambda r: abs(rows[r][i]))
            if abs(rows[pivot][i]) < 1e-30:
                raise OperationFailed("The matrix is singular.")
            rows[i], rows[pivot] = rows[pivot], rows[i]
            rows[i] = [value / rows[i][i] for value in rows[i]]
            for r in range(size):
                if r != i:
                    factor = rows[r][i]
                    rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i], strict=True)]
        return Matrix4([value for row in rows for value in row[size:]])

    def explode(self, transform_order="srt", rotate_order="xyz"):
        if (transform_order, rotate_order) != ("srt", "xyz"):
            raise NotImplementedError("the double doesn't model other orders")
        a, b, c = ([*row[:3]] for row in self._rows[:3])
        sx = _length(a)
        a = _over(a, sx)
        xy = _dot(a, b)
        b = [y - xy * x for x, y in zip(a, b, strict=True)]
        sy = _length(b)
        b, xy = _over(b, sy), xy / sy if sy else 0.0
        xz, yz = _dot(a, c), _dot(b, c)
        c = [z - xz * x - yz * y for x, y, z in zip(a, b, c, strict=True)]
        sz = _length(c)
        c = _over(c, sz)
        if sz:
            xz, yz = xz / sz, yz / sz
        if _dot(_cross(a, b), c) < 0:
            # One axis is negative. Any of the three would do, and this chooses a mirror in X.
            sx, a, xy, xz = -sx, [-v for v in a], -xy, -xz
        about_y = asin(max(-1.0, min(1.0, -a[2])))
        if hypot(a[0], a[1]) > 1e-9:
            about_x, about_z = atan2(b[2], c[2]), atan2(a[1], a[0])
        else:
            about_x, about_z = atan2(-c[1], b[1]), 0.0
        return {
            "translate": Vector3(self._rows[3][:3]),
            "rotate": Vector3([degrees(v) for v in (about_x, about_y, about_z)]),
            "scale": Vector3(sx, sy, sz),
            "shear": Vector3(xy, xz, yz),
        }


def apply(point, matrix):
    row = [*point, 1.0]
    return [sum(row[i] * matrix._rows[i][j] for i in range(4)) for j in range(3)]


class hmath:
    @staticmethod
    def identityTransform():
        return Matrix4(1)

    @staticmethod
    def buildTransform(values_dict, transform_order="srt", rotate_order="xyz"):
        if transform_order != "srt":
            raise NotImplementedError("the double doesn't model other orders")
        unknown = set(values_dict) - {"translate", "rotate", "scale", "shear"}
        if unknown:
            raise NotImplementedError(f"the double doesn't model {unknown} in a transform")
        sx, sy, sz = values_dict.get("scale", (1, 1, 1))
        xy, xz, yz = values_dict.get("shear", (0, 0, 0))
        matrix = Matrix4([sx, 0, 0, 0, xy * sy, sy, 0, 0, xz * sz, yz * sz, sz, 0, 0, 0, 0, 1])
        turns = dict(zip("xyz", values_dict.get("rotate", (0, 0, 0)), strict=True))
        for axis in rotate_order:
            matrix = matrix * _turn(axis, turns[axis])
        x, y, z = values_dict.get("translate", (0, 0, 0))
        return matrix * Matrix4([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, y, z, 1])


def _turn(axis, angle):
    s, c = sin(radians(angle)), cos(radians(angle))
    if axis == "x":
        return Matrix4([1, 0, 0, 0, 0, c, s, 0, 0, -s, c, 0, 0, 0, 0, 1])
    if axis == "y":
        return Matrix4([c, 0, -s, 0, 0, 1, 0, 0, s, 0, c, 0, 0, 0, 0, 1])
    return Matrix4([c, s, 0, 0, -s, c, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1])


def _dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def _length(v):
    return sqrt(_dot(v, v))


def _over(v, by):
    return [x / by for x in v] if by else v


def _cross(a, b):
    return [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
