"""The dockable panel. Maya keeps it with the window layout and rebuilds it by :func:`restore`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from maya import OpenMayaUI, cmds

if TYPE_CHECKING:
    from qtpy.QtWidgets import QWidget

CONTROL = "callboardWorkspaceControl"
_REBUILD = "import callboard_maya.panel; callboard_maya.panel.restore()"

#: Qt's object, which Maya's layout doesn't keep alive for Python.
_widget: object = None


def show() -> None:
    """Opens the panel, or brings it to the front."""
    if cmds.workspaceControl(CONTROL, exists=True):
        cmds.workspaceControl(CONTROL, edit=True, restore=True)
        return
    cmds.workspaceControl(
        CONTROL,
        label="Callboard",
        uiScript=_REBUILD,
        requiredPlugin="callboard_plugin",
        retain=False,
        loadImmediately=True,
        initialWidth=360,
        minimumWidth=280,
    )


def restore() -> None:
    """Fills the control that Maya is building."""
    global _widget
    from qtpy import shiboken

    parent = OpenMayaUI.MQtUtil.getCurrentParent()
    widget = _make()
    widget.setObjectName("callboardPanel")
    OpenMayaUI.MQtUtil.addWidgetToMayaLayout(shiboken.getCppPointer(widget)[0], int(parent))
    _widget = widget


def close() -> None:
    """Removes the panel; Maya forgets its place. Idempotent."""
    global _widget
    if cmds.workspaceControl(CONTROL, exists=True):
        cmds.deleteUI(CONTROL, control=True)
    _widget = None


def _make() -> QWidget:
    from qtpy.QtWidgets import QLabel

    from callboard_maya.plugin import running_session

    session = running_session()
    server = session.server if session is not None else None
    try:
        from callboard_ui import make_panel
    except ImportError as error:
        label = QLabel(f"Callboard's panel isn't installed ({error}). The Callboard menu works.")
        label.setWordWrap(True)
        return label
    panel: QWidget = make_panel(server)
    return panel
