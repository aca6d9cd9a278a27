"""The widget that a host puts into its dock or pane. It shows the running server's panel, or a line
that says that no server is running.

A host restores its layout before the server is running, and the artist may stop and start the
server. So the frame stays and its content is replaced.
"""

from __future__ import annotations

from collections.abc import Callable

from qtpy.compat import isalive
from qtpy.QtWidgets import QLabel, QVBoxLayout, QWidget

from callboard.app import Callboard


class PanelFrame(QWidget):
    """The frame around the panel. Use it on the main thread."""

    def __init__(self, server: Callboard | None) -> None:
        super().__init__()
        self.setObjectName("callboardPanel")
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self.show_server(server)

    def show_server(self, server: Callboard | None) -> None:
        """Show the server, or a note that no server is running. The old server may already be
        gone."""
        while (item := self._layout.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.close()
                old.deleteLater()
        self._layout.addWidget(_content(server))


class PanelFrames:
    """Every frame that the application shows. The application may delete them. Use it on the main
    thread."""

    def __init__(self) -> None:
        self._frames: list[PanelFrame] = []

    def make(self, server: Callboard | None) -> PanelFrame:
        frame = PanelFrame(server)
        self._frames.append(frame)
        return frame

    def show_server(self, server: Callboard | None) -> None:
        """Show that server, or a note that no server is running, in every open frame."""
        alive: Callable[[PanelFrame], bool] = isalive
        self._frames = [*filter(alive, self._frames)]
        for frame in self._frames:
            frame.show_server(server)


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
    label = QLabel(text)
    label.setWordWrap(True)
    label.setMargin(8)
    return label
