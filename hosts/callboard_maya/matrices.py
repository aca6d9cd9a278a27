"""4x4 matrices as Maya writes them: sixteen numbers, row by row, points are rows (``p * m``)."""

from __future__ import annotations

from collections.abc import Sequence
from math import asin, atan2, cos, degrees, hypot, radians, sin, sqrt

Matrix = Sequence[float]
Components = tuple[list[float], list[float], list[float]]


def compose(
    translate: Sequence[float], rotate: Sequence[float], scale: Sequence[float]
) -> list[float]:
    """Scales, turns about X, then Y, then Z (degrees), and moves."""
    (sx, cx), (sy, cy), (sz, cz) = ((sin(radians(angle)), cos(radians(angle))) for angle in rotate)
    turned = (
        (cy * cz, cy * sz, -sy),
        (sx * sy * cz - cx * sz, sx * sy * sz + cx * cz, sx * cy),
        (cx * sy * cz + sx * sz, cx * sy * sz - sx * cz, cx * cy),
    )
    rows = [
        [value * factor for value in row] + [0.0] for row, factor in zip(turned, scale, strict=True)
    ]
    return [value for row in [*rows, [*translate, 1.0]] for value in row]


def decompose(matrix: Matrix) -> Components:
    """Translate, rotate (Euler XYZ, degrees) and scale of a matrix without shear."""
    rows = [list(matrix[i : i + 3]) for i in (0, 4, 8)]
    scale = [sqrt(sum(value * value for value in row)) for row in rows]
    if _determinant(rows) < 0:
        scale[0] = -scale[0]
    turned = [
        [value / factor for value in row] if factor else row
        for row, factor in zip(rows, scale, strict=True)
    ]
    about_y = asin(max(-1.0, min(1.0, -turned[0][2])))
    if hypot(turned[0][0], turned[0][1]) > 1e-9:
        about_x = atan2(turned[1][2], turned[2][2])
        about_z = atan2(turned[0][1], turned[0][0])
    else:
        # Straight up or down, X and Z turn about the same axis.
        about_x = atan2(-turned[2][1], turned[1][1])
        about_z = 0.0
    return list(matrix[12:15]), [degrees(angle) for angle in (about_x, about_y, about_z)], scale


def _determinant(m: Sequence[Sequence[float]]) -> float:
    return (
        m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
        - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
        + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
    )
