"""Reads the polygons and triangles of an object below its modifiers. An editable poly and an
editable mesh are read directly. Anything else is read from a temporary copy that is turned into a
poly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pymxs
from pymxs import runtime as rt

from callboard.errors import HostError
from callboard.host import MeshData, Rows, inverse, times
from callboard_max.application.names import Node, telling
from callboard_max.parts.matrices import rows_of
from callboard_max.parts.shapes import kind_of

#: The map channel that textures expect.
_UVS = 1
POLY, MESH = "editable_poly", "editable_mesh"


@dataclass(frozen=True)
class Modelled:
    """A mesh. ``groups`` has each face's smoothing groups, as bits. ``uv_sets`` has the map
    channels in use."""

    mesh: MeshData
    groups: list[int]
    uv_sets: list[str]


def modelled(node: Node) -> Modelled:
    """Return the mesh in the object's own coordinates. Raises HostError when the object can't be
    converted to polygons."""
    with telling(f"read the faces of '{node.name}'"), _editable(node) as read:
        triangles = kind_of(read) == MESH
        ops, base = (rt.meshop if triangles else rt.polyop), read.baseObject
        # Values of the base object are in its own coordinates.
        place = times(rows_of(node.objectTransform), inverse(rows_of(node.transform)))
        points = [_moved(ops.getVert(base, at), place) for at in _counted(ops.getNumVerts(base))]
        numbers = _counted(ops.getNumFaces(base))
        channels = [
            each for each in range(_UVS, int(ops.getNumMaps(base))) if _used(ops, base, each)
        ]
        corners: list[int] = []
        counts: list[int] = []
        groups: list[int] = []
        uvs: list[tuple[float, float]] | None = None
        if _UVS in channels:
            uvs = []
            there = [
                ops.getMapVert(base, _UVS, at) for at in _counted(ops.getNumMapVerts(base, _UVS))
            ]
        for number in numbers:
            face = rt.getFace(base, number) if triangles else ops.getFaceVerts(base, number)
            own = _indices(face)
            counts.append(len(own))
            corners += own
            smoothing = rt.getFaceSmoothGroup if triangles else ops.getFaceSmoothGroup
            groups.append(int(smoothing(base, number)))
            if uvs is not None:
                mapped = (there[at] for at in _indices(ops.getMapFace(base, _UVS, number)))
                uvs += [(float(each.x), float(each.y)) for each in mapped]
        return Modelled(
            MeshData(points, counts, corners, uvs), groups, [str(each) for each in channels]
        )


@contextmanager
def _editable(node: Node) -> Iterator[Node]:
    if kind_of(node) in (POLY, MESH):
        yield node
        return
    unsaved = bool(rt.getSaveRequired())
    with pymxs.undo(False):
        copy = rt.copy(node)
        try:
            for modifier in list(copy.modifiers):
                rt.deleteModifier(copy, modifier)
            rt.convertToPoly(copy)
            if kind_of(copy) != POLY:
                raise HostError(f"3ds Max can't convert a {kind_of(node)} to polygons")
            yield copy
        finally:
            rt.delete(copy)
            rt.setSaveRequired(unsaved)


def _used(ops: Any, base: Any, channel: int) -> bool:
    return bool(ops.getMapSupport(base, channel)) and int(ops.getNumMapVerts(base, channel)) > 0


def _counted(count: Any) -> range:
    """Return the numbers that 3ds Max assigns to that many items, starting at one."""
    return range(1, int(count) + 1)


def _indices(face: Any) -> list[int]:
    """Return the indices of a face's vertices. 3ds Max returns a list for a poly, and a point for a
    triangle."""
    numbers = (face.x, face.y, face.z) if hasattr(face, "x") else face
    return [int(each) - 1 for each in numbers]


def _moved(point: Any, by: Rows) -> list[float]:
    place = [float(value) for value in (point.x, point.y, point.z)]
    return times([[0.0] * 3, [0.0] * 3, [0.0] * 3, place], by)[3]
