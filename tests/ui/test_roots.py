from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from needed import need

need("qt")

from qtpy.QtCore import QMimeData, QPointF, Qt, QUrl
from qtpy.QtGui import QDropEvent
from qtpy.QtWidgets import QFileDialog

from callboard_ui.panel import ROOTS
from callboard_ui.roots_tab import OWN

PATH = {
    "type": "object",
    "properties": {"path": {"type": "string", "format": "workspace-path"}},
}


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    made = [tmp_path / name for name in ("hero", "library")]
    for folder in made:
        folder.mkdir()
    return made


@pytest.fixture
def shown(open_panel: Any) -> Any:
    panel = open_panel()
    panel.turn_to(ROOTS)
    return panel


def drop(tab: Any, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    event = QDropEvent(
        QPointF(20, 20),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    # Qt delivers drops only from its own drag manager.
    tab.dropEvent(event)


def own(shown: Any) -> list[str]:
    return [root.name for root in shown.server.app.roots.artist]


def select(shown: Any, number: int) -> None:
    tab = shown.panel.roots
    shown.click_row(tab.view, tab.model.index(number, 0, tab.model.find(OWN)))


def rows(shown: Any, group: str) -> list[tuple[str, ...]]:
    return [r.cells for g in shown.panel.roots.model.rows if g.key == group for r in g.rows]


def test_a_folder_from_the_dialog_is_where_workspace_leads(shown: Any, folders: Any) -> None:
    tab = shown.panel.roots
    shown.server.tool("where", lambda path: path, PATH, required_capabilities=("filesystem.read",))
    shown.click(tab.add)
    dialog = tab.findChild(QFileDialog)
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog, True)
    dialog.selectFile(str(folders[0]))
    dialog.accept()
    shown.until(lambda: own(shown) == ["hero"])
    shown.until(lambda: tab.workspace.text() == str(folders[0]))
    with shown.server.client() as client:
        answer = shown.call(client, "where", path="workspace://wood.png")
    assert str(folders[0] / "wood.png") in str(answer["result"])


def test_roots_are_dropped_reordered_locked_and_removed(shown: Any, folders: Any) -> None:
    tab = shown.panel.roots
    drop(tab, *folders)
    shown.until(lambda: len(rows(shown, OWN)) == 2)
    select(shown, 1)
    # Shortcuts work only in the active window, and without a window manager no window becomes
    # active on its own.
    shown.panel.activateWindow()
    tab.view.setFocus()
    shown.until(tab.view.hasFocus)
    shown.press(tab.view, Qt.Key.Key_Up, modifier=Qt.KeyboardModifier.AltModifier)
    shown.until(lambda: own(shown) == ["library", "hero"])
    shown.until(lambda: tab.down.isEnabled() and not tab.up.isEnabled())
    shown.click(tab.down)
    shown.until(lambda: own(shown) == ["hero", "library"])
    shown.until(lambda: tab.up.isEnabled() and not tab.down.isEnabled())
    shown.click(tab.lock)
    shown.until(lambda: [root.read_only for root in shown.server.app.roots.artist] == [False, True])
    shown.until(lambda: rows(shown, OWN)[1][1] == "read-only")
    select(shown, 0)
    shown.press(tab.view, Qt.Key.Key_Delete)
    shown.until(lambda: own(shown) == ["library"])


def test_a_tried_path_says_where_it_leads_or_why_not(shown: Any, folders: Any) -> None:
    tab = shown.panel.roots
    drop(tab, folders[0])
    shown.until(lambda: own(shown) == ["hero"])
    shown.qtbot.keyClicks(tab.path, "workspace://a.png")
    shown.until(lambda: tab.answer.text() == f"{folders[0] / 'a.png'}\ninside hero")
    tab.path.clear()
    shown.qtbot.keyClicks(tab.path, "workspace://../a.png")
    shown.until(lambda: "leaves the workspace" in tab.answer.text())
    shown.press(tab.policy, Qt.Key.Key_Down)
    shown.press(tab.policy, Qt.Key.Key_Return)
    tab.policy.activated.emit(tab.policy.currentIndex())
    shown.until(lambda: shown.server.app.roots.policy == "strict")
    tab.path.clear()
    shown.qtbot.keyClicks(tab.path, "/elsewhere/a.png")
    shown.until(lambda: "outside the workspace" in tab.answer.text())


def test_what_was_decided_for_the_project_is_there_next_time(
    open_panel: Any, home: Path, folders: Any
) -> None:
    first = open_panel()
    drop(first.panel.roots, *folders)
    first.until(lambda: len(own(first)) == 2)
    first.panel.roots.own.set_read_only(1, True)
    first.panel.roots.own.set_policy("strict")
    first.panel.shut()

    def saved() -> bool:
        return any(
            '"strict"' in file.read_text("utf-8") for file in home.glob("projects/[!.]*.json")
        )

    first.until(saved)
    again = open_panel()
    again.until(lambda: own(again) == ["hero", "library"])
    again.until(lambda: again.server.app.roots.policy == "strict")
    assert again.server.app.roots.artist[1].read_only


def test_a_client_s_roots_show_with_what_is_wrong_with_them(shown: Any, folders: Any) -> None:
    answer = {
        "roots": [
            {"uri": folders[0].as_uri(), "name": "Hero"},
            {"uri": (folders[0] / "gone").as_uri()},
            {"uri": "https://example.com/a"},
        ]
    }
    client = shown.server.client({"roots": {}}, {"roots/list": lambda params: answer})
    with client:
        client.listen()
        shown.until(lambda: len(shown.panel.roots.model.rows) == 2)
        group = shown.panel.roots.model.rows[1]
        assert group.cells[0].startswith("fake 1")
        key = group.key
        shown.until(lambda: len(rows(shown, key)) == 3)
        shown.until(lambda: rows(shown, key)[1][1] == "not found")
        assert rows(shown, key)[0] == (f"Hero  —  {folders[0]}", "")
        assert rows(shown, key)[2][1] == "not on this machine"
        assert shown.panel.roots.workspace.text() == str(folders[0])
    shown.until(lambda: len(shown.panel.roots.model.rows) == 1)


def test_the_workspace_of_one_client_is_not_shown_as_everybody_s(shown: Any, tmp_path: Any) -> None:
    def naming(name: str) -> Any:
        (tmp_path / name).mkdir()
        answer = {"roots": [{"uri": (tmp_path / name).as_uri()}]}
        return shown.server.client({"roots": {}}, {"roots/list": lambda params: answer})

    workspace = shown.panel.roots.workspace
    with naming("one") as one:
        one.listen()
        shown.until(lambda: workspace.text() == str(tmp_path / "one"))
        with naming("two") as two:
            two.listen()
            shown.until(lambda: str(tmp_path / "two") in workspace.toolTip())
            assert str(tmp_path / "one") in workspace.toolTip()
            assert workspace.text() == "different for each client"


def test_a_folder_that_hangs_holds_up_no_other_disk_work(shown: Any) -> None:
    hanging, heard = threading.Event(), []
    link = shown.panel.link
    link.folders.run(lambda: hanging.wait(10), lambda value, error: None)
    link.background.run(lambda: "read", lambda value, error: heard.append(value))
    shown.until(lambda: heard == ["read"])
    hanging.set()


def test_roots_given_at_the_start_stand(open_panel: Any, folders: Any) -> None:
    shown = open_panel(roots=[str(folders[1])])
    shown.turn_to(ROOTS)
    shown.until(lambda: rows(shown, OWN) == [(f"library  —  {folders[1]}", "")])
    assert own(shown) == ["library"]
