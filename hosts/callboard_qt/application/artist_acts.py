"""Actions that the self-test performs as the artist would, in any Qt application. Use them on the
main thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from callboard.host import NotOffered


def acts() -> Mapping[str, Callable[..., Any]]:
    """Return the actions, as ``Host.acts`` describes them."""
    return {"dialog": _dialog, "window": _Window().show, "toolkit": _toolkit}


def later(seconds: float, act: Callable[[], object]) -> None:
    """Call ``act`` after the given number of seconds, even while a dialog is open."""
    from qtpy.QtCore import QTimer  # An application without a GUI may have no Qt.

    QTimer.singleShot(round(1000 * seconds), act)


def main_window() -> Any:
    """Return the largest window that is shown, or None."""
    from qtpy.QtWidgets import QApplication

    shown = [each for each in QApplication.topLevelWidgets() if each.isVisible()]
    return max(shown, key=lambda each: each.width() * each.height(), default=None)


def _dialog(title: str, seconds: float) -> None:
    def open_it() -> None:
        from qtpy.QtWidgets import QDialog, QLabel, QVBoxLayout

        dialog = QDialog(main_window())
        dialog.setWindowTitle(title)
        QVBoxLayout(dialog).addWidget(QLabel("This closes by itself."))
        later(seconds, dialog.reject)
        dialog.exec_()
        dialog.deleteLater()

    later(0, open_it)


def _toolkit() -> str:
    import qtpy

    binding = qtpy.PYSIDE_VERSION or qtpy.PYQT_VERSION
    return f"{qtpy.API_NAME} {binding} on Qt {qtpy.QT_VERSION}"


class _Window:
    """The application's window, which the self-test covers and minimizes."""

    def __init__(self) -> None:
        self._cover: Any = None
        self._minimized: Any = None
        self._before: Any = None

    def show(self, state: str) -> None:
        from qtpy.QtCore import Qt
        from qtpy.QtWidgets import QWidget

        if self._cover is not None:
            self._cover.close()
            self._cover.deleteLater()
            self._cover = None
        if self._minimized is not None:
            self._minimized.setWindowState(self._before)
            self._minimized = None
        window = main_window()
        if state == "shown":
            return
        if window is None:
            raise NotOffered("no window of the application is open")
        if state == "minimized":
            self._minimized, self._before = window, window.windowState()
            window.showMinimized()
            return
        flags = Qt.WindowType.Tool | Qt.WindowType.FramelessWindowHint
        self._cover = QWidget(None, flags | Qt.WindowType.WindowStaysOnTopHint)
        self._cover.setObjectName("callboardCover")
        self._cover.setGeometry(window.frameGeometry())
        self._cover.show()
        self._cover.raise_()
