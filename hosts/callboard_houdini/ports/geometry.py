"""The ``geometry`` port: facts about a mesh, and changes to it. Each change is a node at the end of
the object's network, so that the artist sees it and can remove it. The nodes that change faces come
first, then callboard's node for normals, then its node that subdivides."""

from __future__ import annotations

import hou

from callboard.errors import HostError
from callboard.host import (
    FacesLook,
    Json,
    MeshData,
    SubdivisionScheme,
    counted,
    faces_to_turn,
    rounded,
)
from callboard_houdini.application.names import find, telling, type_of
from callboard_houdini.parts.assets import refuse_contents
from callboard_houdini.parts.faces import refuse_materials_of_faces
from callboard_houdini.parts.parms import number, parm, refuse_keyed
from callboard_houdini.parts.shapes import geometry, kind_of, show, shown
from callboard_houdini.ports.check import polygons

_ROUNDING, _NORMALS = "callboard_subdivide", "callboard_normals"
#: The parameter for the angle in degrees at which an edge stays sharp.
_LIMIT = "cuspangle"


class HoudiniGeometry:
    def info(self, name: str) -> Json:
        node = _object(name)
        mesh = self.mesh(name)
        counts = counted(mesh)
        levels = _levels(node)
        return {
            "path": node.path(),
            "type": kind_of(node),
            "mesh": counts,
            "result": rounded(counts, len(mesh.corners), levels),
            "shading": _shading(node),
            "subdivision": {"scheme": "catmull_clark" if levels else "none", "levels": levels},
            "uv_sets": [] if mesh.uvs is None else ["uv"],
            "modifiers": [],
        }

    def mesh(self, name: str) -> MeshData:
        return polygons(name, _modelled(_object(name)))

    def subdivide(self, name: str, scheme: SubdivisionScheme, levels: int) -> None:
        node = _object(name)
        if scheme not in ("none", "catmull_clark"):
            raise HostError("in Houdini, the scheme must be catmull_clark or none")
        refuse_contents(node)
        rounding = _last(node, _ROUNDING)
        with telling(f"subdivide '{node.name()}'"):
            if scheme == "none":
                if rounding is not None:
                    _take_away(rounding)
                return
            if rounding is None:
                rounding = _after(node, _end(node), "subdivide", _ROUNDING)
            refuse_keyed(rounding, ["iterations"])
            parm(rounding, "iterations").set(levels)

    def orient(self, name: str, side: FacesLook) -> None:
        node = _changed(name)
        turn = faces_to_turn(self.mesh(name), side)
        faces = [face for face, turned in enumerate(turn) if turned]
        if faces:
            with telling(f"turn the faces of '{node.name()}'"):
                turning = _before_normals(node, "reverse")
                parm(turning, "group").set(" ".join(map(str, faces)))

    def triangulate(self, name: str) -> None:
        node = _changed(name)
        refuse_materials_of_faces(node, "triangulated")
        with telling(f"triangulate '{node.name()}'"):
            # The node makes triangles by default.
            _before_normals(node, "divide")

    def shade(self, name: str, smooth: bool, angle: float | None) -> None:
        node = _changed(name)
        sharp = (180.0 if angle is None else angle) if smooth else 0.0
        with telling(f"shade '{node.name()}'"):
            normals = _last(node, _NORMALS) or _after(node, _body(node), "normal", _NORMALS)
            refuse_keyed(normals, [_LIMIT])
            parm(normals, _LIMIT).set(sharp)


def _object(name: str) -> hou.ObjNode:
    """Return the object. Raises HostError when it shows no geometry."""
    node = find(name)
    if geometry(node) is None:
        raise HostError(f"'{node.name()}' is of type {type_of(node)} and shows no geometry")
    return node


def _changed(name: str) -> hou.ObjNode:
    node = _object(name)
    refuse_contents(node)
    return node


def _end(node: hou.ObjNode) -> hou.SopNode:
    displayed = shown(node)
    assert displayed is not None
    return displayed


def _last(node: hou.ObjNode, name: str) -> hou.SopNode | None:
    """Return our node with that name if only our own nodes come after it."""
    at: hou.SopNode | None = _end(node)
    while at is not None and at.name() in (_ROUNDING, _NORMALS):
        if at.name() == name:
            return at
        at = _input(at)
    return None


def _body(node: hou.ObjNode) -> hou.SopNode:
    """Return the node before our subdivision node, or else the node that the object shows."""
    rounding = _last(node, _ROUNDING)
    return (rounding and _input(rounding)) or _end(node)


def _input(node: hou.SopNode) -> hou.SopNode | None:
    wired = node.inputs()
    return wired[0] if wired and isinstance(wired[0], hou.SopNode) else None


def _before_normals(node: hou.ObjNode, type: str) -> hou.SopNode:
    normals = _last(node, _NORMALS)
    return _after(node, (normals and _input(normals)) or _body(node), type)


def _after(
    node: hou.ObjNode, before: hou.SopNode, type: str, name: str | None = None
) -> hou.SopNode:
    """Make a node after ``before``, either ahead of our nodes that follow it or at the end."""
    made = node.createNode(type, name)
    assert isinstance(made, hou.SopNode)
    ours = [each for each in before.outputs() if each.name() in (_ROUNDING, _NORMALS)]
    made.setInput(0, before)
    for each in ours:
        each.setInput(0, made)
    if not ours:
        show(made)
    made.moveToGoodPosition(move_inputs=False, move_outputs=False, move_unconnected=False)
    return made


def _take_away(node: hou.SopNode) -> None:
    before = _input(node)
    node.destroy()
    if before is not None:
        show(before)


def _modelled(node: hou.ObjNode) -> hou.Geometry:
    """Return the geometry before our subdivision node. Raises HostError when it can't be cooked."""
    try:
        made = _body(node).geometry()
    except hou.OperationFailed as error:
        raise HostError(f"Houdini can't cook '{node.name()}': {error}") from None
    if made is None:
        raise HostError(f"'{node.name()}' shows no geometry")
    return made


def _levels(node: hou.ObjNode) -> int:
    rounding = _last(node, _ROUNDING)
    return 0 if rounding is None else int(number(parm(rounding, "iterations")))


def _shading(node: hou.ObjNode) -> str:
    normals = _last(node, _NORMALS)
    if normals is not None:
        limit = number(parm(normals, _LIMIT))
        return "flat" if limit <= 0 else "smooth" if limit >= 180 else "mixed"
    # Without normals in the geometry, Houdini shows edges beyond a certain angle as sharp.
    return "smooth" if _modelled(node).findPointAttrib("N") is not None else "mixed"
