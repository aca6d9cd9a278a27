"""Checks whether a box is in a camera's picture, given the camera as the application itself
describes it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product


def holds(
    axes: Sequence[Sequence[float]],
    eye: Sequence[float],
    wide: float,
    aspect: float,
    clip: tuple[float, float],
    box: tuple[Sequence[float], Sequence[float]],
) -> bool:
    """Return whether the box is in the picture. The camera looks along its own -Z, with Y upwards.
    ``axes`` are the camera's axes in the world. ``wide`` is the tangent of half the camera's
    horizontal angle."""
    for corner in product(*zip(*box, strict=True)):
        away = [a - b for a, b in zip(corner, eye, strict=True)]
        x, y, back = (sum(a * b for a, b in zip(away, axis, strict=True)) for axis in axes)
        depth = -back
        if not clip[0] < depth < clip[1]:
            return False
        if abs(x) > depth * wide or abs(y) > depth * wide / aspect:
            return False
    return True
