"""The dockable panel. Maya keeps it with the window layout and rebuilds it by :func:`restore`, at
its start also before the server runs; so what it shows is exchanged when the server comes and goes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from maya import OpenMayaUI, cmds

from callboard.app import Callboard

if TYPE_CHECKING:
    from qtpy.QtWidgets import QWidget

CONTROL = "callboardWorkspaceControl"
_REBUILD = "import callboard_maya.panel; callboard_maya.panel.restore()"

#: What we put into Maya's control, which keeps it alive for Qt but not for Python.
_frame: QWidget | None = None


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
    global _frame
    from qtpy import shiboken
    from qtpy.QtWidgets import QVBoxLayout, QWidget

    from callboard_maya.plugin import running_session

    parent = OpenMayaUI.MQtUtil.getCurrentParent()
    frame = QWidget()
    frame.setObjectName("callboardPanel")
    QVBoxLayout(frame).setContentsMargins(0, 0, 0, 0)
    OpenMayaUI.MQtUtil.addWidgetToMayaLayout(shiboken.getCppPointer(frame)[0], int(parent))
    _frame = frame
    session = running_session()
    refresh(session.server if session is not None else None)


def refresh(server: Callboard | None) -> None:
    """Shows that server, or that none runs, where the panel is open."""
    if _frame is None:
        return
    from qtpy import shiboken

    if not shiboken.isValid(_frame):
        return  # Maya has closed the panel
    layout = _frame.layout()
    assert layout is not None
    while (item := layout.takeAt(0)) is not None:
        if (old := item.widget()) is not None:
            old.close()
            old.deleteLater()
    layout.addWidget(_content(server))


def close() -> None:
    """Removes the panel; Maya forgets its place. Idempotent."""
    global _frame
    refresh(None)
    _frame = None
    if cmds.workspaceControl(CONTROL, exists=True):
        cmds.deleteUI(CONTROL, control=True)


def _content(server: Callboard | None) -> QWidget:
    if server is None:
        return _words("Callboard isn't running. Start it from the Callboard menu.")
    try:
        from callboard_ui import make_panel
    except ImportError as error:
        return _words(f"Callboard's panel isn't installed ({error}). The Callboard menu works.")
    panel: QWidget = make_panel(server)
    return panel


def _words(text: str) -> QWidget:
    from qtpy.QtWidgets import QLabel

    label = QLabel(text)
    label.setWordWrap(True)
    label.setMargin(8)
    return label
