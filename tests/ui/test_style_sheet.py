"""The panel under style sheets, which color widgets without changing the palette."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from needed import need

need("qt")

from qtpy.QtGui import QColor, QPalette
from qtpy.QtWidgets import QApplication, QDockWidget, QMainWindow, QTextEdit

from callboard_ui.theme import LEGIBLE, contrast

#: Typical themes. Each has rules for lists, for everything, and for labels.
SHEETS = {
    "dark": "QWidget { color: #dddddd; background-color: #2b2b2b; }",
    "light on a dark palette": "* { background-color: #fafafa; } QLabel { color: #333333; }",
    "unreadable": "* { color: #555555; background-color: #505050; }",
    "orange": "QTreeView { background-color: #ff8800; } QLabel { color: #ff9911; }",
}


@pytest.fixture
def application() -> Iterator[Any]:
    running = QApplication.instance()
    assert isinstance(running, QApplication)
    yield running
    running.setStyleSheet("")


@pytest.mark.parametrize("name", SHEETS)
def test_labels_are_legible(open_panel: Any, application: Any, name: str) -> None:
    shown = open_panel()
    application.setStyleSheet(SHEETS[name])
    label = shown.panel.header.state

    def legible() -> bool:
        picture = shown.panel.grab().toImage()
        at = label.mapTo(shown.panel, label.rect().topLeft())
        colors = {
            picture.pixel(at.x() + x, at.y() + y)
            for x in range(label.width())
            for y in range(label.height())
        }
        ground = shown.panel.palette().color(QPalette.ColorRole.Window)
        return max(contrast(QColor(color), ground) for color in colors) >= LEGIBLE

    shown.until(legible)
    application.setStyleSheet("")
    shown.until(lambda: not shown.panel.styleSheet())


def test_a_question_comes_back_when_the_dock_is_covered(open_panel: Any, qtbot: Any) -> None:
    from qtpy.QtCore import Qt

    shown = open_panel()
    window = QMainWindow()
    qtbot.addWidget(window)
    docks = [QDockWidget(name, window) for name in ("Callboard", "Other")]
    docks[0].setWidget(shown.panel)
    docks[1].setWidget(QTextEdit())
    for dock in docks:
        window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
    window.tabifyDockWidget(*docks)
    window.resize(600, 700)
    window.show()
    docks[0].raise_()
    shown.panel.link.controls.set_consent_policy("destructive", "ask")
    ran: list[str] = []
    shown.server.tool(
        "wipe", lambda: ran.append("wiped"), affinity="any", annotations={"destructiveHint": True}
    )
    with shown.server.client() as client:
        call = shown.begin(client, "wipe")
        status = shown.panel.link.controls.status
        shown.until(lambda: status.snapshot.questions)
        shown.until(lambda: not shown.panel.notice.isVisible())
        docks[1].raise_()
        shown.until(shown.panel.notice.isVisible)
        docks[0].raise_()
        shown.until(lambda: not shown.panel.notice.isVisible())
        docks[0].close()
        shown.until(shown.panel.notice.isVisible)
        shown.panel.link.controls.answer(status.snapshot.questions[0].id, "refuse")
        assert "error" in shown.wait(call)
    docks[0].setWidget(None)
    shown.panel.setParent(None)
