"""The panel, docked into 3ds Max's main window."""

from __future__ import annotations

import qtmax
from qtpy import shiboken
from qtpy.QtCore import Qt
from qtpy.QtWidgets import QDockWidget

from callboard.app import Callboard
from callboard_qt.panel_frame import PanelFrame

#: By this name 3ds Max remembers the place.
NAME = "callboardDock"

_dock: QDockWidget | None = None
_frame: PanelFrame | None = None


def show(server: Callboard | None) -> None:
    """Opens the panel, or brings it to the front."""
    global _dock, _frame
    if _dock is None or not shiboken.isValid(_dock):
        window = qtmax.GetQMaxMainWindow()
        _frame = PanelFrame(server)
        _dock = QDockWidget("Callboard", window)
        _dock.setObjectName(NAME)
        _dock.setWidget(_frame)
        window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, _dock)
        # Otherwise what the artist types here would be 3ds Max's shortcuts.
        qtmax.DisableMaxAcceleratorsOnFocus(_frame, True)
    _dock.show()
    _dock.raise_()


def refresh(server: Callboard | None) -> None:
    """Shows that server, or that none runs, where the panel is open."""
    if _frame is not None and shiboken.isValid(_frame):
        _frame.show_server(server)


def close() -> None:
    """Removes the panel. Idempotent."""
    global _dock, _frame
    dock, _dock, _frame = _dock, None, None
    if dock is not None and shiboken.isValid(dock):
        dock.close()
        dock.deleteLater()
