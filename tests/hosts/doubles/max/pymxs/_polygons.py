"""The data of an editable poly or mesh, and the effects of modifiers on it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import acos, cos, degrees, pi, sin, sqrt

from cut_faces import triangles_of


@dataclass
class Polygons:
    """Polygons. Faces are indices from 0. ``parts`` names the polygon of each triangle: the edge
    between two triangles of one polygon is hidden. Smoothing groups are bits."""

    points: list[list[float]] = field(default_factory=list)
    faces: list[list[int]] = field(default_factory=list)
    map_points: list[list[float]] = field(default_factory=list)
    map_faces: list[list[int]] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    parts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.groups = self.groups or [0] * len(self.faces)
        self.ids = self.ids or [1] * len(self.faces)

    @property
    def triangles(self) -> int:
        return sum(len(face) - 2 for face in self.faces)

    def fits_a_poly(self) -> bool:
        """Return whether a poly can hold these faces, as the manual says of
        ``polyop.createPolygon``: "At most one edge might exist between the vertices, and that edge
        must not go from the first to the second"."""
        edges = Counter(edge for face in self.faces for edge in around(face))
        return all(count == 1 for count in edges.values())


def around(face):
    return list(zip(face, [*face[1:], *face[:1]], strict=True))


def cut(of: Polygons) -> Polygons:
    """Return the polygons cut into triangles, as a mesh stores them, and as a poly is displayed."""
    made = Polygons(of.points, map_points=of.map_points)
    for number, face in enumerate(of.faces):
        for corners in triangles_of([of.points[at] for at in face]):
            made.faces.append([face[at] for at in corners])
            if of.map_faces:
                made.map_faces.append([of.map_faces[number][at] for at in corners])
            made.groups.append(of.groups[number])
            made.ids.append(of.ids[number])
            made.parts.append(of.parts[number] if of.parts else number)
    return made


def joined(of: Polygons) -> Polygons:
    """Return polygons without the hidden edges."""
    if not of.parts:
        return of
    made = Polygons(of.points, map_points=of.map_points)
    for part in dict.fromkeys(of.parts):
        own = [number for number, each in enumerate(of.parts) if each == part]
        made.faces.append(_outline([of.faces[number] for number in own]))
        if of.map_faces:
            mapped = {
                at: uv
                for number in own
                for at, uv in zip(of.faces[number], of.map_faces[number], strict=True)
            }
            made.map_faces.append([mapped[at] for at in made.faces[-1]])
        made.groups.append(of.groups[own[0]])
        made.ids.append(of.ids[own[0]])
    if not made.fits_a_poly():
        raise NotImplementedError(
            "the double doesn't model a poly of faces that point in opposite directions"
        )
    return made


def _outline(triangles):
    edges = [edge for triangle in triangles for edge in around(triangle)]
    after = {start: end for start, end in edges if (end, start) not in edges}
    if len(after) != len(triangles) + 2:
        raise NotImplementedError(
            "the double doesn't model hidden edges between triangles "
            "pointing in opposite directions"
        )
    face = [triangles[0][0]]
    while after[face[-1]] != face[0]:
        face.append(after[face[-1]])
    return face


def turned(of: Polygons, numbers) -> None:
    for number in numbers:
        of.faces[number].reverse()
        if of.map_faces:
            of.map_faces[number].reverse()


def smoothed(of: Polygons, angle: float) -> None:
    """Group together the faces that meet at ``angle`` or flatter."""
    normals = [_normal([of.points[at] for at in face]) for face in of.faces]
    beside = {}
    for number, face in enumerate(of.faces):
        for start, end in around(face):
            beside.setdefault((min(start, end), max(start, end)), []).append(number)
    near = {number: set() for number in range(len(of.faces))}
    for first, second in (pair for pair in beside.values() if len(pair) == 2):
        along = sum(a * b for a, b in zip(normals[first], normals[second], strict=True))
        if degrees(acos(max(-1.0, min(1.0, along)))) <= angle:
            near[first].add(second)
            near[second].add(first)
    of.groups = [0] * len(of.faces)
    group = 0
    for number in near:
        if of.groups[number] or not near[number]:
            continue
        waiting = [number]
        while waiting:
            at = waiting.pop()
            of.groups[at] = 1 << group
            waiting += [each for each in near[at] if not of.groups[each]]
        group += 1


def _normal(points):
    turns = list(zip(points, [*points[1:], points[0]], strict=True))
    across = [
        sum((a[i] - b[i]) * (a[j] + b[j]) for a, b in turns) for i, j in ((1, 2), (2, 0), (0, 1))
    ]
    length = sqrt(sum(each * each for each in across)) or 1.0
    return [each / length for each in across]


def shelled(of: Polygons) -> Polygons:
    """Return a closed shape twice, the second time inside out, as its inner side. The distance
    between them isn't modelled."""
    count = len(of.points)
    inner = [[at + count for at in reversed(face)] for face in of.faces]
    return Polygons([*of.points, *of.points], [*of.faces, *inner])


# -- primitives -----------------------------------------------------------------------------------

_BOX = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


def outline(type, of):
    """Return points that enclose the object as 3ds Max makes it: on the ground, with its pivot at
    the bottom."""
    if type in ("Sphere", "GeoSphere"):
        rings = [pi * i / 16 for i in range(17)]
        return [p for a in rings for p in circle(of["radius"] * sin(a), of["radius"] * cos(a))]
    if type == "Box":
        x, y, z = of["width"] / 2, of["length"] / 2, of["height"]
        return [[a * x, b * y, c * z] for a in (-1, 1) for b in (-1, 1) for c in (0, 1)]
    if type == "Plane":
        x, y = of["width"] / 2, of["length"] / 2
        return [[a * x, b * y, 0.0] for a in (-1, 1) for b in (-1, 1)]
    if type == "Cylinder":
        return [*circle(of["radius"], of["height"]), *circle(of["radius"], 0.0)]
    if type == "Cone":
        return [*circle(of["radius2"], of["height"]), *circle(of["radius1"], 0.0)]
    if type == "Torus":
        turn = [2 * pi * i / 16 for i in range(16)]
        major, minor = of["radius1"], of["radius2"]
        return [p for a in turn for p in circle(major + minor * cos(a), minor * sin(a))]
    return [[-5.0, -5.0, -5.0], [5.0, 5.0, 5.0]]


def circle(radius, height):
    turn = [2 * pi * i / _AROUND for i in range(_AROUND)]
    return [[radius * cos(a), radius * sin(a), height] for a in turn]


_AROUND = 32


def primitive(type, of) -> Polygons | None:
    """Return the primitive's polygons, or None for an object without faces."""
    points = outline(type, of)
    if type == "Box":
        return Polygons(points, [list(face) for face in _BOX])
    if type == "Plane":
        return Polygons(points, [[0, 2, 3, 1]])
    if type not in ("Sphere", "GeoSphere", "Cylinder", "Cone", "Torus"):
        return None
    rings = len(points) // _AROUND
    faces = []
    # From the top down or, for a torus, around the tube, upward from its outer edge.
    for ring in range(rings if type == "Torus" else rings - 1):
        here, next = ring * _AROUND, (ring + 1) % rings * _AROUND
        for at in range(_AROUND):
            beside = (at + 1) % _AROUND
            face = [here + at, next + at, next + beside, here + beside]
            faces.append(face[::-1] if type == "Torus" else face)
    if type in ("Cylinder", "Cone"):
        faces.append(list(range(_AROUND)))
        faces.append([_AROUND + at for at in reversed(range(_AROUND))])
    return Polygons(points, faces)
