"""The directions and triangles of faces, for hosts that don't compute them."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from math import cos, radians
from typing import Literal

from callboard.host_kit.mesh_facts import faces_of, measured
from callboard.ports.check import MeshData
from callboard.ports.geometry import FacesLook

_Point = Sequence[float]
NormalsOf = Literal["face", "point", "corner"]


def outward(mesh: MeshData) -> list[bool]:
    """Return, for each face, whether to turn it so that connected faces all point away from the
    inside."""
    faces = [list(face) for face in faces_of(mesh.counts, mesh.corners)]
    beside: defaultdict[tuple[int, int], list[tuple[int, bool]]] = defaultdict(list)
    for number, face in enumerate(faces):
        for start, end in zip(face, [*face[1:], *face[:1]], strict=True):
            beside[min(start, end), max(start, end)].append((number, start < end))
    turn: list[bool | None] = [None] * len(faces)
    for first in range(len(faces)):
        if turn[first] is not None:
            continue
        turn[first] = False
        part, waiting = [first], deque([first])
        while waiting:
            number = waiting.popleft()
            face = faces[number]
            for start, end in zip(face, [*face[1:], *face[:1]], strict=True):
                sharing = beside[min(start, end), max(start, end)]
                if len(sharing) != 2:
                    continue
                for other, way in sharing:
                    if other != number and turn[other] is None:
                        turn[other] = bool(turn[number]) != (way == (start < end))
                        part.append(other)
                        waiting.append(other)
        middle = _middle(mesh, [at for each in part for at in faces[each]])
        volume = 0.0
        for each in part:
            corners = reversed(faces[each]) if turn[each] else faces[each]
            points = [
                [a - b for a, b in zip(mesh.points[at], middle, strict=True)] for at in corners
            ]
            volume += measured(points)[1]
        if volume < 0:
            for each in part:
                turn[each] = not turn[each]
    return [bool(each) for each in turn]


def faces_to_turn(mesh: MeshData, side: FacesLook) -> list[bool]:
    """Return, for each face, whether to turn it so that all faces point in the direction that
    ``side`` specifies."""
    if side == "flip":
        return [True] * len(mesh.counts)
    return [turned != (side == "inside") for turned in outward(mesh)]


def _middle(mesh: MeshData, corners: Sequence[int]) -> list[float]:
    points = [mesh.points[at] for at in corners] or [(0.0, 0.0, 0.0)]
    return [sum(axis) / len(points) for axis in zip(*points, strict=True)]


def triangles_of(points: Sequence[_Point]) -> list[tuple[int, int, int]]:
    """Return a face's triangles, as indices into its corners, by cutting off ears that contain no
    other corner. There are two fewer triangles than corners, however broken the face is."""
    left = list(range(len(points)))
    flat = _flat(points)
    triangles: list[tuple[int, int, int]] = []
    while len(left) > 3:
        for at in range(len(left)):
            ear = (left[at - 1], left[at], left[(at + 1) % len(left)])
            if _is_ear(flat, ear, left):
                break
        else:
            at, ear = 1, (left[0], left[1], left[2])
        triangles.append(ear)
        del left[at]
    if len(left) == 3:
        triangles.append((left[0], left[1], left[2]))
    return triangles


def _flat(points: Sequence[_Point]) -> list[tuple[float, float]]:
    """Return the points in 2D, as seen along the axis nearest to the face's normal, in
    counterclockwise order."""
    turned = list(zip(points, [*points[1:], *points[:1]], strict=True))
    across = [
        sum((a[n] - b[n]) * (a[m] + b[m]) for a, b in turned) for n, m in ((1, 2), (2, 0), (0, 1))
    ]
    most = max(range(3), key=lambda n: abs(across[n]))
    u, v = (most + 1) % 3, (most + 2) % 3
    sign = 1.0 if across[most] >= 0 else -1.0
    return [(point[u] * sign, point[v]) for point in points]


def _is_ear(
    flat: Sequence[tuple[float, float]], ear: tuple[int, int, int], left: Sequence[int]
) -> bool:
    a, b, c = (flat[at] for at in ear)
    if _turn(a, b, c) <= 0:
        return False
    inside = (flat[at] for at in left if at not in ear and flat[at] not in (a, b, c))
    return not any(
        _turn(a, b, p) >= 0 and _turn(b, c, p) >= 0 and _turn(c, a, p) >= 0 for p in inside
    )


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def normals_of(
    mesh: MeshData, smooth: bool, angle: float | None
) -> tuple[list[tuple[float, ...]], NormalsOf]:
    """Return the normals of faces, points or corners, and which of the three they belong to."""
    faces = list(faces_of(mesh.counts, mesh.corners))
    across = [_across([mesh.points[at] for at in face]) for face in faces]
    if not smooth:
        return [_unit(each) for each in across], "face"
    around: defaultdict[int, list[int]] = defaultdict(list)
    for number, face in enumerate(faces):
        for at in face:
            around[at].append(number)
    if angle is None:
        sums = [[across[each] for each in around[at]] for at in range(len(mesh.points))]
        return [_unit(_sum(each)) for each in sums], "point"
    least = cos(radians(angle)) - 1e-6
    units = [_unit(each) for each in across]
    corners = []
    for number, face in enumerate(faces):
        for at in face:
            near = [e for e in around[at] if _dot(units[e], units[number]) >= least]
            corners.append(_unit(_sum([across[each] for each in near or [number]])))
    return corners, "corner"


def _across(points: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Return the face's normal, whose length is twice the face's area."""
    turned = list(zip(points, [*points[1:], *points[:1]], strict=True))
    return (
        sum((a[1] - b[1]) * (a[2] + b[2]) for a, b in turned),
        sum((a[2] - b[2]) * (a[0] + b[0]) for a, b in turned),
        sum((a[0] - b[0]) * (a[1] + b[1]) for a, b in turned),
    )


def _sum(vectors: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return tuple(map(sum, zip(*vectors, strict=True))) if vectors else (0.0, 0.0, 0.0)


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _unit(vector: Sequence[float]) -> tuple[float, ...]:
    length = _dot(vector, vector) ** 0.5
    return tuple(each / length for each in vector) if length else (0.0, 0.0, 1.0)
