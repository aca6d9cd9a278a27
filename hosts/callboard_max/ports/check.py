"""The ``check`` port: the facts that checks of the scene need. Meshes are triangulated, and their
modifiers are applied, as in the views."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pymxs import runtime as rt

from callboard.host import MeshData, Rows, UsedFile, inverse, times
from callboard_max.application.names import Node, find, objects, path_of
from callboard_max.parts.matrices import rows_of
from callboard_max.parts.shapes import is_geometry
from callboard_qt import ApplicationChecks

#: The map channel that textures expect.
_UVS = 1


class MaxChecks(ApplicationChecks):
    def meshes(self) -> list[str]:
        return [path_of(node) for node in objects() if is_geometry(node)]

    def face_count(self, path: str) -> int:
        return int(rt.getTriMeshFaceCount(find(path))[0])

    def mesh(self, path: str) -> MeshData:
        node = find(path)
        with _snapshot(node) as mesh:
            own = inverse(rows_of(node.transform))
            points = [_moved(rt.getVert(mesh, n), own) for n in _counted(rt.getNumVerts(mesh))]
            faces = _counted(rt.getNumFaces(mesh))
            corners = [at for n in faces for at in _three(rt.getFace(mesh, n))]
            return MeshData(points, [3] * len(faces), corners, _uvs(mesh, len(faces)))

    def files(self) -> Iterator[UsedFile]:
        for texture in rt.getClassInstances(rt.BitmapTexture):
            path = str(texture.filename or "")
            if path:
                # This call also searches the folders in which 3ds Max looks for maps.
                there = bool(str(rt.mapPaths.getFullFilePath(path))) or Path(path).exists()
                yield UsedFile(path, str(texture.name), not there, "auto")


@contextmanager
def _snapshot(node: Node) -> Iterator[Any]:
    """Yield a copy of the mesh as shown, in world coordinates."""
    mesh = rt.snapshotAsMesh(node)
    try:
        yield mesh
    finally:
        # The copy is large, and 3ds Max doesn't free it with the scene.
        rt.free(mesh)


def _uvs(mesh: Any, faces: int) -> list[tuple[float, float]] | None:
    if not rt.meshop.getMapSupport(mesh, _UVS):
        return None
    there = [
        rt.meshop.getMapVert(mesh, _UVS, n) for n in _counted(rt.meshop.getNumMapVerts(mesh, _UVS))
    ]
    corners = [
        at for n in range(1, faces + 1) for at in _three(rt.meshop.getMapFace(mesh, _UVS, n))
    ]
    return [(float(there[at].x), float(there[at].y)) for at in corners]


def _counted(count: Any) -> range:
    """Return the numbers that 3ds Max assigns to ``count`` items, starting at one."""
    return range(1, int(count) + 1)


def _three(face: Any) -> list[int]:
    return [int(number) - 1 for number in (face.x, face.y, face.z)]


def _moved(point: Any, by: Rows) -> list[float]:
    place = [float(value) for value in (point.x, point.y, point.z)]
    return times([[0.0] * 3, [0.0] * 3, [0.0] * 3, place], by)[3]
