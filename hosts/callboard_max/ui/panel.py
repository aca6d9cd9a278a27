"""The panel, docked into 3ds Max's main window."""

from __future__ import annotations

from collections.abc import Callable

import qtmax
from qtpy.compat import isalive
from qtpy.QtCore import Qt
from qtpy.QtWidgets import QDockWidget, QWidget

#: The name under which 3ds Max stores the panel's position.
NAME = "callboardDock"

_dock: QDockWidget | None = None


def show(make_frame: Callable[[], QWidget]) -> None:
    """Open the panel, or bring it to the front."""
    global _dock
    if _dock is None or not isalive(_dock):  # type: ignore[no-untyped-call]
        window, frame = qtmax.GetQMaxMainWindow(), make_frame()
        _dock = QDockWidget("Callboard", window)
        _dock.setObjectName(NAME)
        _dock.setWidget(frame)
        window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, _dock)
        # Without this, typing here would trigger 3ds Max's shortcuts.
        qtmax.DisableMaxAcceleratorsOnFocus(frame, True)
    _dock.show()
    _dock.raise_()


def close() -> None:
    """Remove the panel. Idempotent."""
    global _dock
    dock, _dock = _dock, None
    if dock is not None and isalive(dock):  # type: ignore[no-untyped-call]
        dock.close()
        dock.deleteLater()
