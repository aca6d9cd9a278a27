"""Arnold's plug-in, which comes with Maya: its lights, and what it adds to Maya's own."""

from __future__ import annotations

from maya import cmds

from callboard_maya.application.names import bare, full_path, parent_of

PLUGIN = "mtoa"
#: Arnold is given centimetres, whatever the scene is counted in.
METERS_PER_UNIT = 0.01
DOME = "aiSkyDomeLight"
#: What lights the scene where nothing says otherwise.
_EVERYWHERE = "defaultLightSet"


def make(kind: str, name: str) -> tuple[str, str]:
    """A light of that node type; the paths of the object and of its shape."""
    made = full_path(cmds.shadingNode(kind, asLight=True, name=name, skipSelect=True))
    # Of Maya's own lights the answer is the object, of Arnold's it may be the shape.
    path = made if cmds.ls(made, type="transform") else parent_of(made) or made
    path = full_path(cmds.rename(path, name))
    (shape,) = cmds.listRelatives(path, shapes=True, fullPath=True)
    shape = full_path(cmds.rename(shape, f"{bare(path)}Shape"))
    cmds.sets(path, edit=True, addElement=_EVERYWHERE)
    return path, shape
