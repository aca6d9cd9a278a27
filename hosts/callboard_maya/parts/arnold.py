"""Makes lights for Arnold, whose plug-in comes with Maya."""

from __future__ import annotations

from maya import cmds

from callboard_maya.application.names import bare, full_path, parent_of

PLUGIN = "mtoa"
#: Arnold receives centimeters, whatever the scene's unit is.
METERS_PER_UNIT = 0.01
DOME = "aiSkyDomeLight"
#: The set of lights that light every object by default.
_EVERYWHERE = "defaultLightSet"


def make(kind: str, name: str) -> tuple[str, str]:
    """Make a light of that node type. Return the paths of the object and of its shape."""
    made = full_path(cmds.shadingNode(kind, asLight=True, name=name, skipSelect=True))
    # Maya returns the object for its own lights, but may return the shape for Arnold's.
    path = made if cmds.ls(made, type="transform") else parent_of(made) or made
    path = full_path(cmds.rename(path, name))
    (shape,) = cmds.listRelatives(path, shapes=True, fullPath=True)
    shape = full_path(cmds.rename(shape, f"{bare(path)}Shape"))
    cmds.sets(path, edit=True, addElement=_EVERYWHERE)
    return path, shape
