"""The dockable panel. Maya keeps its place with the window layout and rebuilds it by a script, at
its start also before the server runs."""

from __future__ import annotations

from maya import OpenMayaUI, cmds
from qtpy import shiboken
from qtpy.QtWidgets import QWidget

CONTROL = "callboardWorkspaceControl"
_REBUILD = "from callboard_maya.plugin import plug_in; plug_in.restore_panel()"


def show() -> None:
    """Opens the panel, or brings it to the front."""
    if cmds.workspaceControl(CONTROL, exists=True):
        cmds.workspaceControl(CONTROL, edit=True, restore=True)
        return
    cmds.workspaceControl(
        CONTROL,
        label="Callboard",
        uiScript=_REBUILD,
        # By its file's name, and Maya loads it only where it is told to look.
        requiredPlugin="callboard_plugin.py",
        checksPlugins=True,
        retain=False,
        loadImmediately=True,
        initialWidth=360,
        minimumWidth=280,
    )


def fill(frame: QWidget) -> None:
    """Puts the frame into the control that Maya is building. Maya keeps it alive for Qt, not for
    Python."""
    parent = OpenMayaUI.MQtUtil.getCurrentParent()
    OpenMayaUI.MQtUtil.addWidgetToMayaLayout(shiboken.getCppPointer(frame)[0], int(parent))


def close() -> None:
    """Removes the panel; Maya forgets its place. Idempotent."""
    if cmds.workspaceControl(CONTROL, exists=True):
        cmds.deleteUI(CONTROL, control=True)
