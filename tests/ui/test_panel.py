from __future__ import annotations

import gc
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from needed import need

need("qt")

from panel_rig import reads
from qtpy.QtCore import QCoreApplication, QEvent, Qt
from qtpy.QtGui import QColor, QFont, QPalette
from qtpy.QtWidgets import QAbstractScrollArea, QApplication, QLabel, QTreeView, QWidget

from callboard.clients.book import ClientBook
from callboard.errors import PAUSED, REFUSED_BY_ARTIST
from callboard.protocol.stateless import KEPT
from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import FakeHost
from callboard_ui import make_panel
from callboard_ui.connect_dialog import ConnectDialog
from callboard_ui.panel import CAPABILITIES, CONSENT, Panel
from serving import served
from stateless_client import Stateless

NOTHING = {"type": "object"}


def test_pause_and_resume_by_mouse_and_keyboard(open_panel: Any) -> None:
    shown = open_panel()
    shown.server.tool("work", lambda: "done", NOTHING)
    header = shown.panel.header
    with shown.server.client() as client:
        shown.click(header.pause)
        shown.until(lambda: header.state.text() == "Paused")
        assert shown.call(client, "work")["error"]["code"] == PAUSED
        assert "result" in shown.wait(client.start("tools/list"))
        header.pause.setFocus()
        shown.press(header.pause, Qt.Key.Key_Space)
        shown.until(lambda: header.state.text() == "Serving")
        assert "result" in shown.call(client, "work")


def test_stop_says_how_many_calls_it_ended_and_resume_takes_calls_again(open_panel: Any) -> None:
    shown = open_panel()
    held = threading.Event()
    shown.server.tool("hold", lambda: held.wait(10))
    header = shown.panel.header
    with shown.server.client() as client:
        future = shown.begin(client, "hold")
        shown.until(lambda: header.state.text() == "Busy with hold")
        shown.click(header.stop)
        assert shown.wait(future)["error"]["code"] == REFUSED_BY_ARTIST
        held.set()
        shown.until(lambda: header.state.text() == "Stopped, calls ended: 1")
        shown.click(header.pause)
        shown.until(lambda: header.state.text() == "Serving")


def test_a_server_that_was_stopped_is_said_to_be(open_panel: Any) -> None:
    shown = open_panel()
    header = shown.panel.header
    with shown.server.client():
        shown.until(lambda: header.clients.text().startswith("fake"))
        shown.server.on_main(shown.server.app.stop)
        shown.until(lambda: header.state.text() == "The server was stopped")
        assert header.clients.text() == "No client is connected"
        assert not header.pause.isEnabled()
        assert not header.connect_button.isEnabled(), "there is nothing to connect to"


def test_the_header_says_who_is_connected_and_where(open_panel: Any) -> None:
    shown = open_panel()
    header = shown.panel.header
    assert header.host.text().startswith("Fake Host 1.0")
    assert header.clients.text() == "No client is connected"
    with shown.server.client():
        shown.until(lambda: header.clients.text() == "fake")
    shown.until(lambda: header.clients.text() == "No client is connected")
    shown.click(header.copy)
    assert QApplication.clipboard().text() == shown.server.app.url


def test_a_client_without_a_session_is_shown_until_it_is_long_gone(open_panel: Any) -> None:
    shown = open_panel()
    header, now = shown.panel.header, [0.0]
    recent = shown.server.app.endpoint.stateless.recent
    recent.clock = lambda: now[0]
    client = Stateless(shown.server.client())
    client.request("tools/list")
    client.request("tools/list")
    shown.until(lambda: header.clients.text() == "stateless")
    now[0] = KEPT + 1
    shown.server.app.controls.refresh()
    shown.until(lambda: header.clients.text() == "No client is connected")


@pytest.mark.parametrize("installed", [True, False])
def test_a_client_of_a_program_gets_one_that_runs_wherever_this_runs(
    open_panel: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: bool
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / ("callboard.exe" if os.name == "nt" else "callboard")
    if installed:
        program.write_text("")
        program.chmod(0o755)
    # Inside an application, Python's executable is the application.
    monkeypatch.setattr(sys, "executable", str(tmp_path / "maya.bin"))
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    shown = open_panel()
    shown.click(shown.panel.header.connect_button)
    dialog = shown.panel.findChild(ConnectDialog)
    dialog.client.setCurrentIndex(dialog.client.findData("claude-desktop"))
    entry = json.loads(dialog.configuration.toPlainText())["mcpServers"]["callboard"]
    assert entry["args"] == ["stdio", "--client", "claude-desktop"]
    assert entry["command"] == (str(program) if installed else "callboard")
    shown.until(dialog.difference.toPlainText)
    assert dialog.write.isEnabled() is installed
    assert reads(dialog, "isn't installed") is not installed
    dialog.close()


@pytest.mark.parametrize(
    ("client", "key", "file"),
    [
        ("claude-code", "mcpServers", ".mcp.json"),
        ("cursor", "mcpServers", "mcp.json"),
        ("vscode", "servers", "mcp.json"),
        ("other", "mcpServers", None),
    ],
)
def test_every_client_gets_its_own_words(
    open_panel: Any, client: str, key: str, file: str | None
) -> None:
    shown = open_panel()
    shown.click(shown.panel.header.connect_button)
    dialog = shown.panel.findChild(ConnectDialog)
    dialog.client.setCurrentIndex(dialog.client.findData(client))
    entry = json.loads(dialog.configuration.toPlainText())[key]["callboard"]
    assert entry["args"][-2:] == ["--client", client]
    assert dialog.write.isVisible() is (file is not None)
    assert dialog.file.text() == "" if file is None else Path(dialog.file.text()).name == file
    shown.click(dialog.direct)
    entry = json.loads(dialog.configuration.toPlainText())[key]["callboard"]
    app = shown.server.app
    assert (entry["type"], entry["url"]) == ("http", app.url)
    # A token must not be in a file that the project shares.
    assert dialog.write.isVisible() is (client == "cursor")
    shown.click(dialog.copy)
    shown.until(lambda: reads(dialog, "Copied."))
    entry = json.loads(QApplication.clipboard().text())[key]["callboard"]
    token = entry["headers"]["Authorization"].removeprefix("Bearer ")
    assert ClientBook().find(token).name == client
    assert app.token not in QApplication.clipboard().text()
    dialog.close()


def test_a_client_is_connected_after_seeing_what_changes(open_panel: Any, tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    before = '{\n  "mcpServers": {\n    "other": {}\n  }\n}\n'
    file.write_text(before, encoding="utf-8")
    shown = open_panel()
    shown.click(shown.panel.header.connect_button)
    dialog = shown.panel.findChild(ConnectDialog)
    dialog.client.setCurrentIndex(dialog.client.findData("cursor"))
    dialog.file.selectAll()
    shown.qtbot.keyClicks(dialog.file, str(file))
    shown.until(lambda: '+    "callboard": {' in dialog.difference.toPlainText())
    assert file.read_text("utf-8") == before
    assert ClientBook().all() == []
    dialog.name.selectAll()
    shown.qtbot.keyClicks(dialog.name, "my cursor")
    shown.click(dialog.write)
    shown.until(lambda: reads(dialog, "can't be a client's name"))
    dialog.name.selectAll()
    shown.qtbot.keyClicks(dialog.name, "my-cursor")
    shown.click(dialog.write)
    shown.until(lambda: reads(dialog, "Written."))
    written = json.loads(file.read_text("utf-8"))["mcpServers"]
    assert written["callboard"]["args"][-2:] == ["--client", "my-cursor"]
    assert "other" in written
    assert [known.name for known in ClientBook().all()] == ["my-cursor"]
    assert not dialog.write.isEnabled()
    dialog.file.setText(str(tmp_path))
    shown.until(lambda: "is not a file; move it away" in dialog.difference.toPlainText())
    assert not dialog.write.isEnabled()
    dialog.close()


def test_a_client_that_takes_the_address_gets_its_own_token(
    open_panel: Any, tmp_path: Path
) -> None:
    file = tmp_path / "mcp.json"
    shown = open_panel()
    shown.click(shown.panel.header.connect_button)
    dialog = shown.panel.findChild(ConnectDialog)
    dialog.client.setCurrentIndex(dialog.client.findData("cursor"))
    shown.click(dialog.direct)
    dialog.file.setText(str(file))
    shown.until(lambda: "its own token" in dialog.difference.toPlainText())
    shown.click(dialog.write)
    shown.until(lambda: reads(dialog, "Written."))
    entry = json.loads(file.read_text("utf-8"))["mcpServers"]["callboard"]
    token = entry["headers"]["Authorization"].removeprefix("Bearer ")
    with FakeClient(shown.server.app.url, token) as client:
        assert "result" in client.request("tools/list")
        shown.until(lambda: "cursor" in shown.panel.consent.clients.rows)
    dialog.close()


def test_a_narrow_dock_has_room_for_everything(open_panel: Any) -> None:
    shown = open_panel(skills=True)
    panel = shown.panel
    panel.resize(280, 600)
    for number in range(panel.tabs.count()):
        shown.turn_to(number)
        shown.until(lambda: panel.width() == 280)
        bar = panel.tabs.tabBar()
        assert bar.tabRect(bar.count() - 1).right() <= 280
        assert panel.tabs.tabText(number)
        for child in panel.findChildren(QWidget):
            if child.isVisible() and child.window() is panel:
                right = child.mapTo(panel, child.rect().topLeft()).x()
                assert right < 280, child
    panel.resize(900, 600)
    shown.until(lambda: all(panel.tabs.tabText(n) for n in range(panel.tabs.count())))


def test_a_narrow_dock_is_wide_enough_for_every_tab(open_panel: Any) -> None:
    shown = open_panel(skills=True)
    panel = shown.panel
    panel.resize(280, 600)
    assert panel.minimumSizeHint().width() <= 280
    for number in range(panel.tabs.count()):
        shown.turn_to(number)
        shown.until(lambda: panel.width() == 280)
        assert panel.tabs.widget(number).minimumSizeHint().width() <= 280
        areas = panel.tabs.widget(number).findChildren(QAbstractScrollArea)
        # A view has its width only once it has been laid out.
        shown.until(lambda all=areas: not any(a.horizontalScrollBar().isVisible() for a in all))


def test_a_short_dock_is_scrolled_and_cuts_nothing(open_panel: Any) -> None:
    shown = open_panel(skills=True)
    panel = shown.panel
    panel.resize(420, panel.minimumSizeHint().height())
    shown.until(lambda: panel.area.verticalScrollBar().maximum() > 0)
    for number in range(panel.tabs.count()):
        panel.tabs.setCurrentIndex(number)
        tab = panel.tabs.widget(number)
        shown.until(lambda tab=tab: tab.height() >= tab.minimumSizeHint().height())
        panel.area.verticalScrollBar().setValue(panel.area.verticalScrollBar().maximum())
        edge = panel.area.viewport().mapFromGlobal(tab.mapToGlobal(tab.rect().bottomLeft()))
        assert edge.y() < panel.area.viewport().height()
    panel.resize(420, 640)
    shown.until(lambda: not panel.area.verticalScrollBar().isVisible())


def test_six_questions_and_their_buttons_fit_a_narrow_dock(open_panel: Any) -> None:
    shown = open_panel()
    shown.server.tool("wipe", lambda names: "gone", annotations={"destructiveHint": True})
    shown.panel.link.controls.set_consent_policy("destructive", "ask")
    policies = shown.panel.consent.policies
    shown.until(lambda: policies["destructive"].currentData() == "ask")
    shown.panel.resize(280, 620)
    with shown.server.client() as client:
        calls = [shown.begin(client, "wipe", names=[f"prop_{number}"]) for number in range(6)]
        cards = shown.panel.consent.cards
        shown.until(lambda: len(cards.cards) == 6)
        shown.turn_to(CONSENT)
        view = cards.parentWidget()
        shown.until(lambda: cards.width() <= view.width() and cards.cards[0].text.end_seen)
        assert shown.panel.width() == 280
        for card in cards.cards:
            for button in (card.refuse, card.once, card.session, card.more):
                assert button.mapTo(view, button.rect().topRight()).x() < view.width()
                assert button.width() >= button.fontMetrics().horizontalAdvance(button.text())
        for question in shown.panel.link.controls.status.snapshot.questions:
            shown.panel.link.controls.answer(question.id, "refuse")
        for call in calls:
            shown.wait(call)


def test_words_in_a_narrow_dock_are_whole(open_panel: Any) -> None:
    shown = open_panel(skills=True, records=True)
    panel = shown.panel
    panel.resize(280, 620)
    with shown.server.client() as client:
        shown.call(client, "scene__create_primitive", kind="cube", name="left_hand_prop")
        calls = panel.activity
        shown.until(lambda: calls.model.rowCount() == 1)
        index = calls.model.index(0, 0)
        shown.until(lambda: calls.view.visualRect(index).width() > 0)
        room = calls.view.visualRect(index).width() - calls.view.iconSize().width() - 16
        assert calls.view.fontMetrics().horizontalAdvance(index.data()) <= room
        shown.click_row(calls.view, index)
        details = calls.details

        def inside(button: QWidget) -> bool:
            corner = button.mapTo(panel, button.rect().bottomRight())
            return button.isVisible() and corner.x() < 280 and corner.y() < 620

        shown.until(lambda: all(map(inside, (details.select, details.undo, details.copy))))
        assert panel.height() == 620
    shown.turn_to(CAPABILITIES)
    for view in panel.capabilities.findChildren(QTreeView):
        model = view.model()
        shown.until(lambda model=model: model.rowCount())
        for group in (model.index(row, 0) for row in range(model.rowCount())):
            for row in range(model.rowCount(group)):
                state = model.index(row, 1, group)
                words = view.fontMetrics().horizontalAdvance(state.data() or "")
                assert words <= view.columnWidth(1), state.data()


def test_what_a_call_waits_for_is_said(open_panel: Any) -> None:
    class Dragging(FakeHost):
        doing: str | None = "dragging Cube"

        def may_run(self, work: str) -> str | None:
            return self.doing if work == "change" else None

    shown = open_panel(Dragging, skills=True)
    with shown.server.client() as client:
        call = shown.begin(client, "scene__create_primitive", kind="cube")
        state = shown.panel.header.state
        shown.until(lambda: state.text() == "On hold: dragging Cube")
        shown.server.on_main(lambda: setattr(shown.server.host, "doing", None))
        assert "result" in shown.wait(call)
        shown.until(lambda: state.text() == "Serving")


def test_tabs_and_filters_have_keys_while_the_keyboard_is_in_the_panel(open_panel: Any) -> None:
    shown = open_panel(skills=True)
    panel = shown.panel
    panel.activateWindow()
    shown.until(panel.isActiveWindow)
    panel.header.pause.setFocus()
    control = Qt.KeyboardModifier.ControlModifier
    shown.press(panel.header.pause, Qt.Key.Key_4, modifier=control)
    assert panel.tabs.currentIndex() == CONSENT
    shown.press(panel.tabs.tabBar(), Qt.Key.Key_1, modifier=control)
    shown.press(panel.tabs.tabBar(), Qt.Key.Key_F, modifier=control)
    assert panel.activity.search.hasFocus()
    # A typed digit stays a digit.
    shown.qtbot.keyClicks(panel.activity.search, "3")
    assert panel.activity.search.text() == "3"
    assert panel.tabs.currentIndex() == 0


def test_whatever_takes_the_keyboard_has_a_name_and_its_turn(open_panel: Any) -> None:
    shown = open_panel(skills=True)
    panel = shown.panel
    for number in range(panel.tabs.count()):
        shown.turn_to(number)
        wanted = {
            child
            for child in panel.findChildren(QWidget)
            if child.isVisible()
            and child.isEnabled()
            and child.window() is panel
            and child.focusPolicy() & Qt.FocusPolicy.TabFocus
            and child.focusProxy() is None
        }
        nameless = [c for c in wanted if not (c.accessibleName() or getattr(c, "text", str)())]
        assert [type(c).__name__ for c in nameless] in ([], ["QTabBar"])
        panel.activateWindow()
        panel.header.pause.setFocus()
        reached = set()
        for _ in range(3 * len(wanted)):
            reached.add(panel.focusWidget())
            panel.focusNextChild()
        assert wanted <= reached


def test_it_follows_the_host_s_palette_and_font(open_panel: Any) -> None:
    shown = open_panel()
    panel, before = shown.panel, shown.panel.header.copy.icon().cacheKey()
    dark = QPalette(QColor("#444444"))
    dark.setColor(QPalette.ColorRole.WindowText, QColor("#eeeeee"))
    panel.setPalette(dark)
    shown.until(lambda: panel.header.copy.icon().cacheKey() != before)
    text = panel.header.state.palette().color(QPalette.ColorRole.WindowText)
    assert text.lightness() > 128
    big = QFont(panel.font())
    big.setPointSizeF(big.pointSizeF() * 2)
    height = panel.header.height()
    panel.setFont(big)
    shown.until(lambda: panel.header.height() > height)
    assert not panel.styleSheet()


def test_a_panel_that_stands_still_slows_no_call(open_panel: Any) -> None:
    shown = open_panel()
    shown.server.tool("work", lambda: "done", NOTHING)
    with shown.server.client() as client:
        # Qt's loop isn't running here, so the panel receives nothing. Every call is answered
        # anyway.
        for _ in range(100):
            assert "result" in client.request("tools/call", {"name": "work", "arguments": {}})
    shown.until(lambda: len(shown.panel.activity.model.past) == 100)


def test_without_a_server_it_says_so(qtbot: Any) -> None:
    label = make_panel(None)
    qtbot.addWidget(label)
    assert isinstance(label, QLabel)
    assert "isn't running" in label.text()


@pytest.mark.slow
@pytest.mark.parametrize("order", ["panel first", "server first", "deleted"])
def test_closing_in_any_order_leaves_nothing(qtbot: Any, home: Path, order: str) -> None:
    for _ in range(20):
        with served() as server:
            panel = make_panel(server.app)
            assert isinstance(panel, Panel)
            panel.show()
            link, status = panel.link, server.app.controls.status
            qtbot.waitUntil(lambda panel=panel: "Serving" in panel.header.state.text())
            if order == "panel first":
                panel.close()
            elif order == "deleted":
                panel.deleteLater()
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            if order != "server first":
                assert not status.wanted
                assert not link.open
        if order == "server first":
            panel.close()
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        assert not status.wanted
        del panel, link
    gc.collect()
    assert not [w for w in QApplication.topLevelWidgets() if isinstance(w, Panel)]
