"""Polygon meshes: points, faces and UVs, with as much modeling as counts and bounds need."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from math import acos, cos, degrees, pi, sin

from cut_faces import triangles_of


@dataclass
class Mesh:
    points: list[list[float]]
    faces: list[list[int]]
    #: UVs of each corner of each face.
    uvs: list[list[list[float]]] | None = None
    hard: set[tuple[int, int]] = field(default_factory=set)
    #: Normals that came from a file.
    locked: bool = False

    def edges(self) -> list[tuple[int, int]]:
        edges: dict[tuple[int, int], None] = {}
        for face in self.faces:
            for a, b in zip(face, [*face[1:], face[0]], strict=True):
                edges[min(a, b), max(a, b)] = None
        return list(edges)

    def triangles(self) -> int:
        return sum(len(face) - 2 for face in self.faces)

    def shells(self) -> int:
        owner = list(range(len(self.points)))

        def root(i: int) -> int:
            while owner[i] != i:
                i = owner[i]
            return i

        for a, b in self.edges():
            owner[root(a)] = root(b)
        return len({root(i) for face in self.faces for i in face})

    def turn(self, faces: set[int]) -> None:
        for each in filter(None, (self.faces, self.uvs)):
            each[:] = [row[:1] + row[:0:-1] if i in faces else row for i, row in enumerate(each)]

    def triangulate(self) -> list[int]:
        """Cut faces into triangles. Return the original face of each triangle."""
        faces, uvs, came_from = [], [], []
        for number, face in enumerate(self.faces):
            for triangle in triangles_of([self.points[i] for i in face]):
                faces.append([face[i] for i in triangle])
                came_from.append(number)
                if self.uvs is not None:
                    uvs.append([self.uvs[number][i] for i in triangle])
        self.faces = faces
        self.uvs = None if self.uvs is None else uvs
        return came_from

    def soften(self, angle: float) -> None:
        """Soften the edges whose faces meet at less than the angle."""
        beside: dict[tuple[int, int], list[list[float]]] = {}
        for face in self.faces:
            for a, b in zip(face, [*face[1:], face[0]], strict=True):
                beside.setdefault((min(a, b), max(a, b)), []).append(self._normal(face))
        self.hard = set() if angle >= 180 else {e for e, n in beside.items() if _turn(n) >= angle}

    def bevel(self, edges: list[int], segments: int) -> None:
        """Add a flat strip of faces on each edge. Only the number of faces is right."""
        self._without_uvs()
        all_edges = self.edges()
        for index in edges:
            a, b = all_edges[index]
            for _ in range(segments):
                start = len(self.points)
                self.points += [list(self.points[i]) for i in (a, b, b, a)]
                self.faces.append([start, start + 1, start + 2, start + 3])

    def extrude(self, faces: list[int], distance: float) -> None:
        self._without_uvs()
        for index in faces:
            face = self.faces[index]
            normal = self._normal(face)
            start = len(self.points)
            for i in face:
                self.points.append(
                    [v + n * distance for v, n in zip(self.points[i], normal, strict=True)]
                )
            top = list(range(start, start + len(face)))
            for k, low in enumerate(face):
                n = (k + 1) % len(face)
                self.faces.append([low, face[n], top[n], top[k]])
            self.faces[index] = top

    def divide(self) -> None:
        self._without_uvs()
        middles: dict[tuple[int, int], int] = {}
        faces: list[list[int]] = []
        for face in self.faces:
            centre = self._add(face)
            ring = []
            for a, b in zip(face, [*face[1:], face[0]], strict=True):
                key = (min(a, b), max(a, b))
                if key not in middles:
                    middles[key] = self._add(key)
                ring.append(middles[key])
            faces += [[v, ring[k], centre, ring[k - 1]] for k, v in enumerate(face)]
        self.faces = faces

    def _without_uvs(self) -> None:
        if self.uvs is not None or self.hard:
            raise NotImplementedError("the double doesn't model UVs or hard edges of new faces")

    def _add(self, corners) -> int:
        count = len(corners)
        self.points.append([sum(self.points[i][k] for i in corners) / count for k in range(3)])
        return len(self.points) - 1

    def _normal(self, face: list[int]) -> list[float]:
        a, b, c = (self.points[i] for i in face[:3])
        u = [y - x for x, y in zip(a, b, strict=True)]
        v = [y - x for x, y in zip(b, c, strict=True)]
        n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
        size = sum(x * x for x in n) ** 0.5 or 1.0
        return [x / size for x in n]


def _turn(normals: list[list[float]]) -> float:
    if len(normals) != 2:
        return 180.0
    return degrees(acos(max(-1.0, min(1.0, sum(a * b for a, b in zip(*normals, strict=True))))))


def upright(mesh: Mesh, axis) -> Mesh:
    """Return the same mesh with its height, which is Y, along ``axis``."""
    if tuple(axis) == (0, 0, 1):
        mesh.points = [[x, -z, y] for x, y, z in mesh.points]
    elif tuple(axis) != (0, 1, 0):
        raise NotImplementedError(f"the double doesn't model an axis of {axis}")
    return mesh


def box(width: float, height: float, depth: float) -> Mesh:
    x, y, z = width / 2, height / 2, depth / 2
    points = [[i, j, k] for i in (-x, x) for j in (-y, y) for k in (-z, z)]
    faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    return Mesh(points, faces)


def grid(width: float, height: float, across: int, down: int) -> Mesh:
    points = [
        [width * (i / across - 0.5), 0.0, height * (j / down - 0.5)]
        for j in range(down + 1)
        for i in range(across + 1)
    ]
    row = across + 1
    faces = [
        [j * row + i, j * row + i + 1, (j + 1) * row + i + 1, (j + 1) * row + i]
        for j in range(down)
        for i in range(across)
    ]
    return Mesh(points, faces)


def lathe(profile: list[tuple[float, float]], around: int = 20) -> Mesh:
    """Turn (radius, height) pairs about Y. A radius of 0 is a pole."""
    points: list[list[float]] = []
    rings: list[list[int]] = []
    for radius, height in profile:
        start = len(points)
        count = 1 if radius == 0 else around
        for k in range(count):
            angle = 2 * pi * k / around
            points.append([radius * cos(angle), height, radius * sin(angle)])
        rings.append([start + k % count for k in range(around)])
    faces: list[list[int]] = []
    for low, high in pairwise(rings):
        for k in range(around):
            n = (k + 1) % around
            faces.append(list(dict.fromkeys([low[k], low[n], high[n], high[k]])))
    for ring in (rings[0], rings[-1]):
        if len(set(ring)) > 1:
            faces.append(ring)
    return Mesh(points, faces)


def sphere(radius: float, rows: int = 20) -> Mesh:
    steps = [pi * k / rows for k in range(rows + 1)]
    profile = [
        (0.0 if k in (0, rows) else radius * sin(a), -radius * cos(a)) for k, a in enumerate(steps)
    ]
    return lathe(profile)


def torus(major: float, minor: float, around: int = 20) -> Mesh:
    points = [
        [
            (major + minor * cos(b)) * cos(a),
            minor * sin(b),
            (major + minor * cos(b)) * sin(a),
        ]
        for a in (2 * pi * i / around for i in range(around))
        for b in (2 * pi * j / around for j in range(around))
    ]
    n = around
    faces = [
        [i * n + j, (i + 1) % n * n + j, (i + 1) % n * n + (j + 1) % n, i * n + (j + 1) % n]
        for i in range(n)
        for j in range(n)
    ]
    return Mesh(points, faces)
