"""The ``check`` port: the facts that checks of the scene need."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import hou

from callboard.errors import HostError
from callboard.host import MeshData, UsedFile
from callboard_houdini.application.names import find, objects
from callboard_houdini.parts.shapes import count_of, geometry
from callboard_qt import ApplicationChecks

#: Markers in paths that refer to several files, or to no file on disk.
_SEVERAL = ("$F", "$SF", "<UDIM>", "%(", "op:", "temp:", "ram:")
#: The tag of a parameter that names an output.
_WRITTEN = "write"


class HoudiniChecks(ApplicationChecks):
    def meshes(self) -> list[str]:
        return [str(node.path()) for node in objects() if geometry(node) is not None]

    def face_count(self, path: str) -> int:
        shape = geometry(find(path))
        return 0 if shape is None else count_of(shape)

    def mesh(self, path: str) -> MeshData:
        shape = geometry(find(path))
        return MeshData([], [], [], None) if shape is None else polygons(path, shape)

    def files(self) -> Iterator[UsedFile]:
        for parm, named in hou.fileReferences():
            if parm is None or not named or any(each in named for each in _SEVERAL):
                continue
            node = parm.node()
            written = parm.parmTemplate().tags().get("filechooser_mode") == _WRITTEN
            if written or isinstance(node, hou.RopNode):
                continue
            path = str(hou.text.expandString(named))
            yield UsedFile(path, str(node.path()), not Path(path).exists())


def polygons(path: str, shape: hou.Geometry) -> MeshData:
    """Return the polygons. Raises HostError for other geometry. ``path`` is the path of the object
    that shows the geometry."""
    flat = shape.pointFloatAttribValues("P")
    points = [flat[at : at + 3] for at in range(0, len(flat), 3)]
    counts: list[int] = []
    corners: list[int] = []
    uvs: list[tuple[float, ...]] | None = None
    if shape.findVertexAttrib("uv") is not None:
        uvs = []
    for prim in shape.prims():
        if not isinstance(prim, hou.Polygon):
            raise HostError(f"'{path}' shows geometry that isn't polygons")
        if prim.isClosed():
            # Houdini's polygons have the opposite winding.
            vertices = list(prim.vertices())[::-1]
            counts.append(len(vertices))
            corners += [vertex.point().number() for vertex in vertices]
            if uvs is not None:
                uvs += [tuple(vertex.floatListAttribValue("uv"))[:2] for vertex in vertices]
    return MeshData(points, counts, corners, uvs)
