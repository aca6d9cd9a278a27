"""The ``geometry`` port: facts about a mesh, and changes to it. Subdivision is Maya's smooth mesh
preview, which also shows in renders. Other changes go into the mesh, or to the end of its
construction history if it has one."""

from __future__ import annotations

from typing import Any

from maya import cmds

from callboard.errors import HostError
from callboard.host import (
    CheckPort,
    FacesLook,
    Json,
    MeshData,
    SubdivisionScheme,
    faces_to_turn,
    rounded,
)
from callboard_maya.application.names import bare, find, telling
from callboard_maya.application.referenced import refuse_members, refuse_referenced
from callboard_maya.parts.groups import runs
from callboard_maya.parts.plugs import refuse_driven, refuse_instance
from callboard_maya.parts.shapes import forget_kind, kind_of, mesh_functions, shape_of
from callboard_maya.parts.transforms import to_host_angle

_SHAPES = ("mesh", "nurbsCurve", "nurbsSurface", "bezierCurve")
#: Values of ``displaySmoothMesh``.
_CAGE, _SMOOTH = 0, 2


class MayaGeometry:
    def __init__(self, checks: CheckPort) -> None:
        self._checks = checks

    def info(self, name: str) -> Json:
        path = find(name)
        shape = shape_of(path)
        if shape is None or cmds.nodeType(shape) not in _SHAPES:
            kind = cmds.nodeType(shape or path)
            raise HostError(f"'{bare(path)}' is of type {kind}, which has no shape to model")
        reported: Json = {"path": path, "type": kind_of(path), "modifiers": []}
        if cmds.nodeType(shape) != "mesh":
            nothing = {"scheme": "none", "levels": 0}
            return {
                **reported,
                **dict.fromkeys(("mesh", "result", "shading")),
                "subdivision": nothing,
                "uv_sets": [],
            }
        mesh = mesh_functions(shape)
        counts = _counts(shape)
        levels = _levels(shape)
        return {
            **reported,
            "mesh": counts,
            "result": rounded(counts, mesh.numFaceVertices, levels),
            "shading": _shading(mesh),
            "subdivision": {"scheme": "catmull_clark" if levels else "none", "levels": levels},
            "uv_sets": [str(each) for each in mesh.getUVSetNames() if mesh.numUVs(each)],
        }

    def mesh(self, name: str) -> MeshData:
        path, _ = _mesh(name)
        return self._checks.mesh(path)

    def subdivide(self, name: str, scheme: SubdivisionScheme, levels: int) -> None:
        path, shape = _mesh(name)
        if scheme not in ("none", "catmull_clark"):
            raise HostError("in Maya, the scheme must be catmull_clark or none")
        refuse_instance(path, shape)
        refuse_members([path], "subdivide")
        plugs = {"displaySmoothMesh": _CAGE if scheme == "none" else _SMOOTH}
        if scheme != "none":
            plugs |= {"smoothLevel": levels, "useSmoothPreviewForRender": True}
        refuse_driven(path, [f"{shape}.{plug}" for plug in plugs])
        with telling(f"subdivide '{bare(path)}'"):
            for plug, value in plugs.items():
                cmds.setAttr(f"{shape}.{plug}", value)

    def orient(self, name: str, side: FacesLook) -> None:
        path, shape = _own(name, "turn")
        mesh = self._checks.mesh(path)
        faces = [face for face, turned in enumerate(faces_to_turn(mesh, side)) if turned]
        if faces:
            with telling(f"turn the faces of '{bare(path)}'"):
                cmds.polyNormal(
                    [f"{shape}.{run}" for run in runs(faces)],
                    normalMode=0,
                    constructionHistory=False,
                )

    def triangulate(self, name: str) -> None:
        path, shape = _own(name, "triangulate")
        with telling(f"triangulate '{bare(path)}'"):
            cmds.polyTriangulate(shape, constructionHistory=False)
            forget_kind(shape)

    def shade(self, name: str, smooth: bool, angle: float | None) -> None:
        path, shape = _own(name, "shade")
        sharp = (180.0 if angle is None else angle) if smooth else 0.0
        # The published stubs declare an angle as a string.
        limit: Any = to_host_angle(sharp)
        with telling(f"shade '{bare(path)}'"):
            # Normals from a file are locked, and override the edges.
            cmds.polyNormalPerVertex(shape, unFreezeNormal=True)
            cmds.polySoftEdge(shape, angle=limit, constructionHistory=False)


def _mesh(name: str) -> tuple[str, str]:
    """Return the object's path, and its mesh. Raises HostError when the object has no mesh."""
    path = find(name)
    shape = shape_of(path)
    if shape is None or cmds.nodeType(shape) != "mesh":
        kind = cmds.nodeType(shape or path)
        raise HostError(f"'{bare(path)}' is of type {kind}, not a mesh, so it has no faces")
    return path, shape


def _own(name: str, change: str) -> tuple[str, str]:
    """Return the object's path, and its mesh. Raises HostError if a change wouldn't last or would
    affect other objects."""
    path, shape = _mesh(name)
    refuse_instance(path, shape)
    refuse_referenced([shape], change)
    refuse_members([path], change)
    return path, shape


def _counts(shape: str) -> dict[str, int]:
    return {
        "vertices": int(cmds.polyEvaluate(shape, vertex=True)),
        "edges": int(cmds.polyEvaluate(shape, edge=True)),
        "faces": int(cmds.polyEvaluate(shape, face=True)),
        "triangles": int(cmds.polyEvaluate(shape, triangle=True)),
    }


def _levels(shape: str) -> int:
    if int(cmds.getAttr(f"{shape}.displaySmoothMesh")) == _CAGE:
        return 0
    return int(cmds.getAttr(f"{shape}.smoothLevel"))


def _shading(mesh: Any) -> str:
    if any(mesh.isNormalLocked(number) for number in range(mesh.numNormals)):
        return "mixed"
    first = mesh.isEdgeSmooth(0) if mesh.numEdges else False
    if any(mesh.isEdgeSmooth(number) != first for number in range(mesh.numEdges)):
        return "mixed"
    return "smooth" if first else "flat"
