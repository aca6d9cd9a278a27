"""Converts transforms from and to 3ds Max's own matrices."""

from __future__ import annotations

from math import isclose
from typing import Any

from pymxs import runtime as rt

from callboard.host import Rows


def rows_of(matrix: Any) -> Rows:
    rows = (matrix.row1, matrix.row2, matrix.row3, matrix.row4)
    return [[float(row.x), float(row.y), float(row.z)] for row in rows]


def alike(one: Rows, other: Rows) -> bool:
    """Return whether the two matrices are the same within single precision."""
    return all(
        isclose(a, b, rel_tol=1e-5, abs_tol=1e-5)
        for row, beside in zip(one, other, strict=True)
        for a, b in zip(row, beside, strict=True)
    )


def matrix_of(rows: Rows) -> Any:
    return rt.Matrix3(*(rt.Point3(*row) for row in rows))
