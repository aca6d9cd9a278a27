"""Transforms as four rows: three for the axes and one for the position. Points are rows (``p *
m``)."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, cos, degrees, hypot, radians, sin, sqrt

from callboard.errors import HostError

Rows = list[list[float]]
#: Translate, rotate (Euler XYZ, degrees) and scale.
Components = tuple[list[float], list[float], list[float]]

#: Closer than this to straight up or down, X and Z can't be separated, because some applications
#: keep single precision.
_UPRIGHT = 1e-6


def rows_of_sixteen(numbers: Sequence[float]) -> Rows:
    """Return the rows of a 4x4 matrix, which is given row by row."""
    return [[float(value) for value in numbers[i : i + 3]] for i in (0, 4, 8, 12)]


def sixteen_of(rows: Sequence[Sequence[float]]) -> list[float]:
    """Return the 4x4 matrix, row by row."""
    return [value for row in rows[:3] for value in (*row, 0.0)] + [*rows[3], 1.0]


def times(a: Rows, b: Rows) -> Rows:
    """Return the product: first ``a``, then ``b``."""
    product = [[sum(row[k] * b[k][j] for k in range(3)) for j in range(3)] for row in a]
    product[3] = [value + b[3][j] for j, value in enumerate(product[3])]
    return product


def inverse(m: Rows) -> Rows:
    """Return the inverse. Raises HostError when an axis is scaled to zero."""
    a, b, c = m[:3]
    det = _dot(a, cross(b, c))
    if abs(det) < 1e-30:
        raise HostError("a parent object is scaled to zero, so nothing can be placed below it")
    columns = [cross(b, c), cross(c, a), cross(a, b)]
    rows = [[columns[j][i] / det for j in range(3)] for i in range(3)]
    place = [-sum(m[3][k] * rows[k][j] for k in range(3)) for j in range(3)]
    return [*rows, place]


def compose(translate: Sequence[float], rotate: Sequence[float], scale: Sequence[float]) -> Rows:
    """Return the transform that scales, turns about X, then Y, then Z (degrees), and moves."""
    (sx, cx), (sy, cy), (sz, cz) = ((sin(radians(angle)), cos(radians(angle))) for angle in rotate)
    turned = (
        (cy * cz, cy * sz, -sy),
        (sx * sy * cz - cx * sz, sx * sy * sz + cx * cz, sx * cy),
        (cx * sy * cz + sx * sz, cx * sy * sz - sx * cz, cx * cy),
    )
    rows = [[v * factor for v in row] for row, factor in zip(turned, scale, strict=True)]
    return [*rows, [float(value) for value in translate]]


def decompose(m: Rows) -> Components:
    """Return translate, rotate and scale, without shear."""
    scale = [sqrt(_dot(row, row)) for row in m[:3]]
    if _dot(m[0], cross(m[1], m[2])) < 0:
        scale[0] = -scale[0]
    a, b, c = ([v / s for v in row] if s else row for row, s in zip(m[:3], scale, strict=True))
    level = hypot(a[0], a[1])
    # Near straight up and down, asin would amplify the error of the last digits.
    about_y = atan2(-a[2], level)
    if level > _UPRIGHT:
        about_x, about_z = atan2(b[2], c[2]), atan2(a[1], a[0])
    else:
        # Straight up or down, X and Z turn about the same axis.
        about_x, about_z = atan2(-c[1], b[1]), 0.0
    return list(m[3]), [degrees(angle) for angle in (about_x, about_y, about_z)], scale


def without_jumps(turns: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return the same sequence of angles, in degrees, without jumps of a whole turn."""
    smooth: list[list[float]] = []
    for turn in turns:
        last = smooth[-1] if smooth else turn
        smooth.append([a + 360 * round((b - a) / 360) for a, b in zip(turn, last, strict=True)])
    return smooth


def unit(vector: Sequence[float]) -> list[float]:
    """Return a vector of length one in the same direction. A zero vector stays zero."""
    length = sqrt(_dot(vector, vector)) or 1.0
    return [value / length for value in vector]


def cross(a: Sequence[float], b: Sequence[float]) -> list[float]:
    return [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))
