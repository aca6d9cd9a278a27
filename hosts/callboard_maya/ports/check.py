"""The ``check`` port: the facts that checks of the scene need."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from maya import cmds

from callboard.host import MeshData, UsedFile
from callboard_maya.application.names import find, parent_of
from callboard_maya.parts.shapes import mesh_functions, shape_of
from callboard_maya.parts.units import units_per_meter
from callboard_qt import ApplicationChecks


class MayaChecks(ApplicationChecks):
    def meshes(self) -> list[str]:
        shapes = cmds.ls(type="mesh", noIntermediate=True, long=True) or []
        return list(dict.fromkeys(path for shape in shapes if (path := parent_of(shape))))

    def face_count(self, path: str) -> int:
        return int(cmds.polyEvaluate(shape_of(find(path)), face=True))

    def mesh(self, path: str) -> MeshData:
        mesh = mesh_functions(shape_of(find(path)))
        counts, corners = mesh.getVertices()
        # Maya's API uses centimeters.
        unit = units_per_meter() / 100.0
        points = [[value * unit for value in (p.x, p.y, p.z)] for p in mesh.getPoints()]
        return MeshData(points, list(counts), list(corners), _uvs(mesh, len(corners)))

    def files(self) -> Iterator[UsedFile]:
        for node in cmds.ls(type="file") or []:
            path = str(cmds.getAttr(f"{node}.fileTextureName") or "")
            if path:
                several = "<" in path or bool(cmds.getAttr(f"{node}.useFrameExtension"))
                space = str(cmds.getAttr(f"{node}.colorSpace") or "")
                yield UsedFile(path, str(node), not several and not _is_there(path), space)
        # The published stubs declare the list as a flag.
        referenced: Any = cmds.file(query=True, reference=True)
        for path in referenced or []:
            # If a file is referenced twice, Maya adds a number to its name.
            file = str(path).partition("{")[0]
            yield UsedFile(file, "", not _is_there(file))


def _uvs(mesh: Any, corners: int) -> list[tuple[float, float]] | None:
    """Return the UVs of the current set if each corner has one."""
    _, ids = mesh.getAssignedUVs()
    if not len(ids) or len(ids) != corners:
        return None
    us, vs = mesh.getUVs()
    return [(us[each], vs[each]) for each in ids]


def _is_there(path: str) -> bool:
    # Relative paths start from the project's folder.
    return Path(str(cmds.workspace(expandName=path))).exists()
