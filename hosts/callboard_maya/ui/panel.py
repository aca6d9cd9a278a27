"""The dockable panel. Maya stores the panel's position with the window layout and rebuilds the
panel with a script. At start-up, Maya does this before the server is running."""

from __future__ import annotations

from maya import OpenMayaUI, cmds
from qtpy import shiboken
from qtpy.QtWidgets import QWidget

CONTROL = "callboardWorkspaceControl"
_REBUILD = "from callboard_maya.plugin import plug_in; plug_in.restore_panel()"


def show() -> None:
    """Open the panel, or bring it to the front."""
    if cmds.workspaceControl(CONTROL, exists=True):
        cmds.workspaceControl(CONTROL, edit=True, restore=True)
        return
    cmds.workspaceControl(
        CONTROL,
        label="Callboard",
        uiScript=_REBUILD,
        # The name of the plug-in's file. Maya loads the plug-in only because `checksPlugins` is
        # set.
        requiredPlugin="callboard_plugin.py",
        checksPlugins=True,
        retain=False,
        loadImmediately=True,
        initialWidth=360,
        minimumWidth=280,
    )


def fill(frame: QWidget) -> None:
    """Put the frame into the control that Maya is building. Maya keeps the frame alive for Qt, but
    not for Python."""
    parent = OpenMayaUI.MQtUtil.getCurrentParent()
    OpenMayaUI.MQtUtil.addWidgetToMayaLayout(shiboken.getCppPointer(frame)[0], int(parent))


def close() -> None:
    """Remove the panel. Maya then forgets where it was. Idempotent."""
    if cmds.workspaceControl(CONTROL, exists=True):
        cmds.deleteUI(CONTROL, control=True)
