from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pytestqt", reason="these tests need pytest-qt")
pytest.importorskip("qtpy.QtWidgets", reason="these tests need a Qt", exc_type=ImportError)

from qtpy.QtCore import Qt

from callboard.errors import CAPABILITY_MISSING
from callboard_ui.panel import CAPABILITIES

CUBE = {"kind": "cube"}


@pytest.fixture
def shown(open_panel: Any) -> Any:
    found = open_panel(skills=True, capture_missing_capabilities=True)
    found.turn_to(CAPABILITIES)
    found.until(lambda: found.panel.capabilities.model.rowCount())
    return found


def test_a_click_withdraws_and_the_space_key_restores(shown: Any) -> None:
    tab = shown.panel.capabilities
    with shown.server.client() as client:
        client.listen()
        index = tab.model.find("scene.mutate", "Scene")
        shown.click_row(tab.view, index, on_box=True)
        shown.wait(client.in_thread(lambda: client.wait_for("notifications/tools/list_changed")))
        answer = shown.call(client, "scene__create_primitive", **CUBE)
        assert answer["error"]["code"] == CAPABILITY_MISSING
        shown.until(lambda: tab.model.row(tab.model.find("scene.mutate", "Scene")).checked is False)
        tab.view.setCurrentIndex(tab.model.find("scene.mutate", "Scene"))
        shown.press(tab.view, Qt.Key.Key_Space)
        shown.until(lambda: "scene.mutate" in shown.server.app.capabilities.declared)
        assert "result" in shown.call(client, "scene__create_primitive", **CUBE)


def test_what_the_host_lacks_has_no_switch(shown: Any) -> None:
    tab = shown.panel.capabilities
    row = tab.model.row(tab.model.find("render", "Pictures"))
    assert row.checked is None
    assert row.cells[1] == "not here"
    assert not tab.model.flags(tab.model.find("render", "Pictures")) & Qt.ItemFlag.ItemIsEnabled


def test_tools_are_listed_with_what_they_lack(shown: Any) -> None:
    tab = shown.panel.capabilities
    tools = {row.key: row for group in tab.below.rows for row in group.rows}
    assert tools["scene__create_primitive"].cells == ("create_primitive", "")
    assert tools["render__still"].cells[1] == "lacks render"
    shown.press(tab.page, Qt.Key.Key_Down)
    shown.until(lambda: all(r.cells[1] for group in tab.below.rows for r in group.rows))
    shown.qtbot.keyClicks(tab.search, "no such tool")
    assert tab.below.rowCount() == 0
    assert tab._note.isVisible()


def test_what_agents_asked_for_is_counted(shown: Any) -> None:
    tab = shown.panel.capabilities
    with shown.server.client() as client:
        shown.call(client, "mcpeye_request_capability", capability="bake cloth", context="a cape")
        shown.call(client, "render__still", path="/tmp/a.png")
    for _ in range(3):
        shown.press(tab.page, Qt.Key.Key_Down)
    shown.until(lambda: {row.cells[0] for row in tab.below.rows} == {"bake cloth", "render"})
    said = {row.cells[0]: row for row in tab.below.rows}
    assert said["bake cloth"].cells[1] == "asked for, sessions: 1"
    assert "a cape" in said["bake cloth"].tip
