"""Maya's transforms: rows are axes, points are rows, ``scale * shear * rotate * translate``."""

from __future__ import annotations

from math import asin, atan2, cos, degrees, radians, sin, sqrt

Matrix = list[list[float]]

#: Axes in the order in which they turn, by the value of ``rotateOrder``.
ORDERS = ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2), (2, 1, 0))


def identity() -> Matrix:
    return [[float(i == j) for j in range(4)] for i in range(4)]


def times(a: Matrix, b: Matrix) -> Matrix:
    return [[sum(a[i][k] * b[k][j] for k in range(4)) for j in range(4)] for i in range(4)]


def apply(point, matrix: Matrix) -> list[float]:
    return [sum(point[i] * matrix[i][j] for i in range(3)) + matrix[3][j] for j in range(3)]


def inverse(matrix: Matrix) -> Matrix:
    size = 4
    work = [list(row) + unit for row, unit in zip(matrix, identity(), strict=True)]
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(work[row][column]))
        if abs(work[pivot][column]) < 1e-12:
            raise RuntimeError("the matrix is singular")
        work[column], work[pivot] = work[pivot], work[column]
        factor = work[column][column]
        work[column] = [value / factor for value in work[column]]
        for row in range(size):
            if row != column:
                factor = work[row][column]
                work[row] = [a - factor * b for a, b in zip(work[row], work[column], strict=True)]
    return [row[size:] for row in work]


def turn(axis: int, angle: float) -> Matrix:
    s, c = sin(radians(angle)), cos(radians(angle))
    matrix = identity()
    j, k = (axis + 1) % 3, (axis + 2) % 3
    matrix[j][j], matrix[j][k], matrix[k][j], matrix[k][k] = c, s, -s, c
    return matrix


def compose(translate, rotate, order: int, scale, shear) -> Matrix:
    sized, slanted, moved = identity(), identity(), identity()
    for axis in range(3):
        sized[axis][axis] = scale[axis]
        moved[3][axis] = translate[axis]
    slanted[1][0], slanted[2][0], slanted[2][1] = shear
    matrix = times(sized, slanted)
    for axis in ORDERS[order]:
        matrix = times(matrix, turn(axis, rotate[axis]))
    return times(matrix, moved)


def decompose(matrix: Matrix, order: int):
    """Return translate, rotate, scale, shear."""
    r0, r1, r2 = (list(row[:3]) for row in matrix[:3])
    mirrored = _dot(_cross(r0, r1), r2) < 0
    sx = sqrt(_dot(r0, r0)) * (-1 if mirrored else 1)
    a0 = [v / sx for v in r0]
    xy = _dot(r1, a0)
    r1 = [v - xy * a for v, a in zip(r1, a0, strict=True)]
    sy = sqrt(_dot(r1, r1))
    a1 = [v / sy for v in r1]
    xz, yz = _dot(r2, a0), _dot(r2, a1)
    r2 = [v - xz * a - yz * b for v, a, b in zip(r2, a0, a1, strict=True)]
    sz = sqrt(_dot(r2, r2))
    # Maya's result for a size of zero along X or Y isn't known here.
    axes = [a0, a1, [v / sz for v in r2] if sz else _cross(a0, a1)]
    slant = [xy / sy, xz / sz if sz else 0.0, yz / sz if sz else 0.0]
    i, j, k = ORDERS[order]
    sign = 1.0 if order < 3 else -1.0
    angles = [0.0, 0.0, 0.0]
    angles[j] = degrees(asin(max(-1.0, min(1.0, -sign * axes[i][k]))))
    angles[i] = degrees(atan2(sign * axes[j][k], axes[k][k]))
    angles[k] = degrees(atan2(sign * axes[i][j], axes[i][i]))
    return list(matrix[3][:3]), angles, [sx, sy, sz], slant


def _dot(a, b) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _cross(a, b) -> list[float]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
