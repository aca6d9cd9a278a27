"""A torus as a mesh, for hosts that don't have one."""

from __future__ import annotations

import math
from itertools import product
from typing import NamedTuple

Triple = tuple[float, float, float]

#: Multiples of four, so that the mesh is as wide as the ideal shape.
AROUND, ACROSS = 48, 24


class Torus(NamedTuple):
    """A mesh with one normal for each point. Each face consists of the indices of four points."""

    points: list[Triple]
    normals: list[Triple]
    faces: list[tuple[int, int, int, int]]


def torus(major: float, minor: float) -> Torus:
    """Return a torus around Z, centered on the origin. Call it from any thread."""
    made = Torus([], [], [])
    for i, j in product(range(AROUND), range(ACROSS)):
        around, across = math.tau * i / AROUND, math.tau * j / ACROSS
        x, y = math.cos(around), math.sin(around)
        out, up = math.cos(across), math.sin(across)
        made.points.append(((major + minor * out) * x, (major + minor * out) * y, minor * up))
        made.normals.append((x * out, y * out, up))
        here, there = i * ACROSS, (i + 1) % AROUND * ACROSS
        after = (j + 1) % ACROSS
        made.faces.append((here + j, there + j, there + after, here + after))
    return made
