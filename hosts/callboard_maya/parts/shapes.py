"""Makes primitives, and recognizes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import maya.api.OpenMaya as om
from maya import cmds

from callboard.host import PrimitiveKind
from callboard_maya.application.names import full_path

#: The mesh attribute that names the primitive. It survives copying and renaming.
KIND_ATTRIBUTE = "callboardKind"

#: Primitives by the type of the node that made the mesh. The node exists as long as the history
#: does.
_MAKERS = {
    "polySphere": "sphere",
    "polyCube": "cube",
    "polyPlane": "plane",
    "polyCylinder": "cylinder",
    "polyCone": "cone",
    "polyTorus": "torus",
}


def create(kind: PrimitiveKind, name: str, of: Mapping[str, float]) -> str:
    """Make a polygon primitive at the top of the scene. Return its full path."""
    upright = str(cmds.upAxis(query=True, axis=True)).lower() == "y"
    axis = (0.0, 1.0, 0.0) if upright else (0.0, 0.0, 1.0)
    if kind == "sphere":
        made = cmds.polySphere(name=name, radius=of["radius"], axis=axis)
    elif kind == "cube":
        size = of["size"]
        made = cmds.polyCube(name=name, width=size, height=size, depth=size, axis=axis)
    elif kind == "plane":
        made = cmds.polyPlane(
            name=name,
            width=of["width"],
            height=of["depth"],
            axis=axis,
            subdivisionsX=1,
            subdivisionsY=1,
        )
    elif kind == "cylinder":
        made = cmds.polyCylinder(name=name, radius=of["radius"], height=of["height"], axis=axis)
    elif kind == "cone":
        made = cmds.polyCone(name=name, radius=of["radius"], height=of["height"], axis=axis)
    else:
        made = cmds.polyTorus(
            name=name, radius=of["major_radius"], sectionRadius=of["minor_radius"], axis=axis
        )
    path = full_path(made[0])
    shape = shape_of(path)
    cmds.addAttr(shape, longName=KIND_ATTRIBUTE, dataType="string")
    cmds.setAttr(f"{shape}.{KIND_ATTRIBUTE}", kind, type="string")
    return path


def forget_kind(shape: str) -> None:
    """Mark the shape as no longer a primitive."""
    if cmds.attributeQuery(KIND_ATTRIBUTE, node=shape, exists=True):
        cmds.deleteAttr(shape, attribute=KIND_ATTRIBUTE)


def shape_of(path: str) -> str | None:
    """Return the shape that is drawn, or None for a group."""
    drawn = cmds.listRelatives(path, shapes=True, noIntermediate=True, fullPath=True)
    return str(drawn[0]) if drawn else None


def mesh_functions(shape: str | None) -> Any:
    """Return the API's functions for a mesh, which report more than the commands."""
    return om.MFnMesh(dag_path(shape))


def dag_path(path: str | None) -> Any:
    """Return the API's object for a node of the scene's tree."""
    named = om.MSelectionList()
    named.add(path)
    return named.getDagPath(0)


def kind_of(path: str) -> str:
    """Return a primitive's kind, or else the Maya type of the shape or node, in lower case."""
    shape = shape_of(path)
    if shape is None:
        return str(cmds.nodeType(path)).lower()
    of_shape = str(cmds.nodeType(shape))
    if of_shape != "mesh":
        return of_shape.lower()
    if cmds.attributeQuery(KIND_ATTRIBUTE, node=shape, exists=True):
        return str(cmds.getAttr(f"{shape}.{KIND_ATTRIBUTE}"))
    made_by = cmds.listConnections(f"{shape}.inMesh", source=True, destination=False) or []
    return _MAKERS.get(str(cmds.nodeType(made_by[0])), "mesh") if made_by else "mesh"
