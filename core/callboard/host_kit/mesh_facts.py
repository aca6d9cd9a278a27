"""Computes facts about a mesh, such as its edges, areas, volume and UVs, in a microsecond or two
per corner. Use it from any thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import ceil, floor, sqrt

from callboard.ports.check import MeshData, MeshFacts

#: A face whose area is below this fraction of the mesh's size squared is considered to have no
#: area.
_FLAT = 1e-10
#: Rows and columns of the grid that finds overlapping UVs.
_GRID = 192

_Point = Sequence[float]


def mesh_facts(mesh: MeshData) -> MeshFacts:
    facts = MeshFacts(faces=len(mesh.counts))
    edges: Counter[tuple[int, int]] = Counter()
    smallest = _FLAT * _size(mesh.points) ** 2
    for face in faces_of(mesh.counts, mesh.corners):
        facts.ngons += len(face) > 4
        for start, end in zip(face, (*face[1:], *face[:1]), strict=True):
            edges[start, end] += 1
        area, volume = measured([mesh.points[index] for index in face])
        facts.zero_faces += area <= smallest
        facts.volume += volume
    for (start, end), count in edges.items():
        back = edges.get((end, start), 0)
        if count + back > 2:
            facts.non_manifold += start < end or not back
        elif count == 2:
            facts.flipped += 1
        elif not back:
            facts.open_edges += 1
    if mesh.uvs is not None and mesh.counts:
        facts.overlap = _overlap(mesh.counts, mesh.uvs)
    return facts


def faces_of(counts: Sequence[int], corners: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield each face's corners."""
    at = 0
    for count in counts:
        yield corners[at : at + count]
        at += count


def counted(mesh: MeshData) -> dict[str, int]:
    """Return ``{vertices, edges, faces, triangles}``."""
    edges = set()
    for face in faces_of(mesh.counts, mesh.corners):
        for start, end in zip(face, (*face[1:], *face[:1]), strict=True):
            edges.add((min(start, end), max(start, end)))
    return {
        "vertices": len(mesh.points),
        "edges": len(edges),
        "faces": len(mesh.counts),
        "triangles": sum(max(0, count - 2) for count in mesh.counts),
    }


def rounded(counts: Mapping[str, int], corners: int, levels: int) -> dict[str, int]:
    """Return the ``{vertices, edges, faces, triangles}`` of a mesh after ``levels`` rounds of
    Catmull-Clark subdivision: each corner of a face becomes a face with four corners."""
    vertices, edges, faces, triangles = (
        counts[key] for key in ("vertices", "edges", "faces", "triangles")
    )
    for _ in range(levels):
        vertices, edges = vertices + edges + faces, 2 * edges + corners
        faces, corners = corners, 4 * corners
        triangles = 2 * faces
    return {"vertices": vertices, "edges": edges, "faces": faces, "triangles": triangles}


def _size(points: Sequence[_Point]) -> float:
    if not points:
        return 0.0
    axes = list(zip(*points, strict=True))
    return sqrt(sum((max(axis) - min(axis)) ** 2 for axis in axes))


def measured(points: Sequence[_Point]) -> tuple[float, float]:
    """Return the face's area, and the signed volume between the face and the origin."""
    x, y, z, volume = 0.0, 0.0, 0.0, 0.0
    a = points[0] if points else (0.0, 0.0, 0.0)
    for b, c in pairwise(points[1:]):
        u, v, w = b[0] - a[0], b[1] - a[1], b[2] - a[2]
        p, q, r = c[0] - a[0], c[1] - a[1], c[2] - a[2]
        n = v * r - w * q, w * p - u * r, u * q - v * p
        x, y, z = x + n[0], y + n[1], z + n[2]
        volume += a[0] * n[0] + a[1] * n[1] + a[2] * n[2]
    return sqrt(x * x + y * y + z * z) / 2, volume / 6


def _overlap(counts: Sequence[int], uvs: Sequence[_Point]) -> float:
    """Return the fraction of the covered grid that more than one face covers."""
    us, vs = [uv[0] for uv in uvs], [uv[1] for uv in uvs]
    low = min(us), min(vs)
    step = max(max(us) - low[0], max(vs) - low[1]) / _GRID
    if not step or step != step or step == float("inf"):
        return 1.0 if len(counts) > 1 else 0.0
    places = [((u - low[0]) / step, (v - low[1]) / step) for u, v in zip(us, vs, strict=True)]
    #: For each row, as bits: the columns that at least one face covers, and those that more than
    #: one face covers.
    once: dict[int, int] = {}
    twice: dict[int, int] = {}
    for face in faces_of(counts, range(len(uvs))):
        cells: dict[int, int] = {}
        for second, third in pairwise(face[1:]):
            for row, columns in _cells(places[face[0]], places[second], places[third]):
                cells[row] = cells.get(row, 0) | columns
        for row, columns in cells.items():
            before = once.get(row, 0)
            twice[row] = twice.get(row, 0) | before & columns
            once[row] = before | columns
    covered = sum(columns.bit_count() for columns in once.values())
    return sum(columns.bit_count() for columns in twice.values()) / covered if covered else 0.0


def _cells(
    a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]
) -> Iterator[tuple[int, int]]:
    """Yield each row that the triangle crosses, with the cells whose centers are inside it as
    bits."""
    corners = (a, b, c)
    for row in range(
        ceil(min(p[1] for p in corners) - 0.5), floor(max(p[1] for p in corners) + 0.5)
    ):
        middle = row + 0.5
        crossed = [
            p[0] + (middle - p[1]) * (q[0] - p[0]) / (q[1] - p[1])
            for p, q in ((a, b), (b, c), (c, a))
            if (p[1] <= middle) != (q[1] <= middle)
        ]
        if len(crossed) == 2:
            yield row, (1 << ceil(max(crossed) - 0.5)) - (1 << ceil(min(crossed) - 0.5))
