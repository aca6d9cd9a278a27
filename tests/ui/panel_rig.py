"""Servers with panels, which tests operate by mouse and keyboard."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from typing import Any

from qtpy.QtCore import QCoreApplication, QEvent, QPoint, Qt
from qtpy.QtWidgets import QLabel, QPlainTextEdit, QTabWidget, QTreeView, QWidget

from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import FakeHost
from callboard_ui import make_panel
from callboard_ui.panel import Panel
from serving import Served, served

PATIENCE = 60_000
LEFT = Qt.MouseButton.LeftButton


class Shown:
    """A server, its panel, and the actions of an artist and a client."""

    def __init__(self, qtbot: Any, server: Served, panel: Panel) -> None:
        self.qtbot = qtbot
        self.server = server
        self.panel = panel

    def until(self, condition: Callable[[], object]) -> None:
        """Run Qt until the condition holds."""
        self.qtbot.waitUntil(lambda: bool(condition()), timeout=PATIENCE)

    def wait(self, future: Future[Any]) -> Any:
        self.until(future.done)
        return future.result()

    def call(self, client: FakeClient, tool: str, **arguments: Any) -> Any:
        """Return the whole answer to a call. Qt runs until the answer arrives."""
        return self.wait(self.begin(client, tool, **arguments))

    def begin(self, client: FakeClient, tool: str, **arguments: Any) -> Future[Any]:
        return client.start("tools/call", {"name": tool, "arguments": arguments})

    def click(self, widget: QWidget) -> None:
        self.until(
            lambda: (
                widget.isVisible() and widget.isEnabled() and not widget.visibleRegion().isEmpty()
            )
        )
        self.qtbot.mouseClick(widget, LEFT)

    def press(self, widget: QWidget, key: Qt.Key, **how: Any) -> None:
        self.qtbot.keyClick(widget, key, **how)

    def turn_to(self, number: int) -> None:
        """Click a tab."""
        tabs: QTabWidget = self.panel.tabs
        self.qtbot.mouseClick(tabs.tabBar(), LEFT, pos=tabs.tabBar().tabRect(number).center())
        assert tabs.currentIndex() == number

    def click_row(self, view: QTreeView, index: Any, *, on_box: bool = False) -> None:
        rect = view.visualRect(index)
        # The check box is at the left end of the row.
        at = QPoint(rect.left() + 9, rect.center().y()) if on_box else rect.center()
        self.qtbot.mouseClick(view.viewport(), LEFT, pos=at)


def texts(widget: QWidget) -> list[str]:
    """Return the texts in the widget that a person can read now."""
    labels = [label.text() for label in widget.findChildren(QLabel) if label.isVisible()]
    fields = widget.findChildren(QPlainTextEdit)
    return labels + [field.toPlainText() for field in fields if field.isVisible()]


def reads(widget: QWidget, words: str) -> bool:
    """Return whether a person can read these words in the widget."""
    return any(words in text for text in texts(widget))


class Opened:
    """Opens any number of servers with panels."""

    def __init__(self, qtbot: Any) -> None:
        self._qtbot = qtbot
        self._stack = ExitStack()

    def __call__(self, make_host: Callable[[], FakeHost] = FakeHost, **config: Any) -> Shown:
        config.setdefault("records", True)
        server = self._stack.enter_context(served(make_host, **config))
        return Shown(self._qtbot, server, self.panel(server))

    def panel(self, server: Served, width: int = 420) -> Panel:
        panel = make_panel(server.app)
        assert isinstance(panel, Panel)
        self._stack.callback(_close, panel)
        panel.resize(width, 640)
        panel.show()
        self._qtbot.waitUntil(lambda: "Serving" in panel.header.state.text(), timeout=PATIENCE)
        return panel

    def close(self) -> None:
        self._stack.close()


def _close(panel: Panel) -> None:
    panel.shut()
    # A test may have closed the panel, which deletes it.
    with suppress(RuntimeError):
        panel.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
