"""Converts between units and up axes."""

from __future__ import annotations

from callboard.host import Axes, Rows

#: Rotations by the up axes of the file and of the scene.
_SAME = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
_TURNED = {
    ("Y", "Z"): [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]],
    ("Z", "Y"): [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]],
}


def turned_between(there: Axes, here: Axes) -> Rows:
    """Return the matrix that converts points from ``there`` to ``here``."""
    factor = there.meters_per_unit / here.meters_per_unit
    turned = _TURNED.get((there.up_axis, here.up_axis), _SAME)
    return [*([value * factor for value in row] for row in turned), [0.0] * 3]
