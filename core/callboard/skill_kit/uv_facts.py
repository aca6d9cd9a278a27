"""Facts about a mesh's UVs, found without the host."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from callboard.content import Json
from callboard.host_kit.mesh_facts import faces_of, mesh_facts
from callboard.ports.check import MeshData

#: The number of decimal places to which UVs must agree to be the same.
_DIGITS = 5


def uv_facts(mesh: MeshData) -> Json:
    """Return ``{bounds, inside, islands, area, overlap}``. ``bounds`` are ``[[u, v], [u, v]]``.
    ``inside`` is true when all UVs are between 0 and 1. ``area`` is the sum of all faces' areas.
    ``overlap`` is the fraction of the covered area that is used twice. Values are None for a mesh
    without UVs."""
    if mesh.uvs is None or not len(mesh.uvs):
        return {"bounds": None, "inside": None, "islands": 0, "area": 0.0, "overlap": None}
    us, vs = zip(*mesh.uvs, strict=True)
    low, high = [min(us), min(vs)], [max(us), max(vs)]
    overlap = mesh_facts(mesh).overlap
    return {
        "bounds": [[round(each, 5) for each in corner] for corner in (low, high)],
        "inside": min(low) > -1e-5 and max(high) < 1 + 1e-5,
        "islands": _islands(mesh, mesh.uvs),
        # With many islands and wide margins, the area can be a millionth of the square.
        "area": float(f"{sum(map(_area, _places(mesh, mesh.uvs))):.5g}"),
        "overlap": None if overlap is None else round(overlap, 4),
    }


def _places(mesh: MeshData, uvs: Sequence[Sequence[float]]) -> Iterator[list[Sequence[float]]]:
    """Yield each face's UVs."""
    for face in faces_of(mesh.counts, range(len(uvs))):
        yield [uvs[at] for at in face]


def _area(face: Sequence[Sequence[float]]) -> float:
    turned = zip(face, [*face[1:], *face[:1]], strict=True)
    return abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in turned)) / 2


def _islands(mesh: MeshData, uvs: Sequence[Sequence[float]]) -> int:
    """Return the number of islands. Faces that share a point at the same UV are connected."""
    above: dict[object, object] = {}

    def top(each: object) -> object:
        while (higher := above.setdefault(each, each)) != each:
            above[each] = each = above[higher]
        return each

    points = faces_of(mesh.counts, mesh.corners)
    for corners, places in zip(points, _places(mesh, uvs), strict=True):
        keys = [
            (point, *(round(each, _DIGITS) for each in place))
            for point, place in zip(corners, places, strict=True)
        ]
        for key in keys[1:]:
            above[top(key)] = top(keys[0])
    return len({top(each) for each in [*above]})
