"""Access to 3ds Max's Qt windows."""

from __future__ import annotations

from pymxs._session import session
from PySide6.QtWidgets import QMainWindow, QWidget

_window: QMainWindow | None = None


def GetQMaxMainWindow() -> QMainWindow:
    global _window
    session.guard("qtmax.GetQMaxMainWindow")
    session.needs_windows("qtmax.GetQMaxMainWindow")
    if _window is None:
        _window = QMainWindow()
    return _window


def DisableMaxAcceleratorsOnFocus(widget: QWidget, disable: bool) -> None:
    session.guard("qtmax.DisableMaxAcceleratorsOnFocus")
    session.accelerators_off.append(widget)
