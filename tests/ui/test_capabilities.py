from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from needed import need

need("qt")

from panel_rig import texts
from qtpy.QtCore import Qt
from qtpy.QtGui import QColor, QPalette
from qtpy.QtWidgets import QLabel

from callboard.bundles.installed.install_folders import user_bundles
from callboard.bundles.installed.manifest import HOST_KEY
from callboard.errors import CAPABILITY_MISSING, HostError
from callboard.host import USD, PlugIn
from callboard_testing.fake_host import FakeHost
from callboard_ui.panel import CAPABILITIES, SKILLS
from callboard_ui.theme import LEGIBLE, contrast

CUBE = {"kind": "cube"}
WANTED = {"com.example/files": {"required": True}, "com.example/tags": {"required": False}}


@pytest.fixture
def shown(open_panel: Any) -> Any:
    panel = open_panel(skills=True, capture_missing_capabilities=True)
    panel.turn_to(CAPABILITIES)
    panel.until(lambda: panel.panel.capabilities.model.rowCount())
    return panel


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
    assert tools["scene__create_primitive"].cells == ("Create a primitive", "")
    assert tools["render__still"].cells[1] == "missing: render"
    shown.press(tab.page, Qt.Key.Key_Down)
    shown.until(lambda: all(r.cells[1] for group in tab.below.rows for r in group.rows))
    shown.qtbot.keyClicks(tab.search, "no such tool")
    assert tab.below.rowCount() == 0
    assert texts(tab)  # Check that the widget shows something.


def test_what_agents_asked_for_is_counted(shown: Any) -> None:
    tab = shown.panel.capabilities
    with shown.server.client() as client:
        shown.call(client, "mcpeye_request_capability", capability="bake cloth", context="a cape")
        shown.call(client, "render__still", path="/tmp/a.png")
    for _ in range(3):
        shown.press(tab.page, Qt.Key.Key_Down)
    shown.until(lambda: {row.cells[0] for row in tab.below.rows} == {"bake cloth", "render"})
    rows = {row.cells[0]: row for row in tab.below.rows}
    assert rows["bake cloth"].cells[1] == "asked for, sessions: 1"
    assert "a cape" in rows["bake cloth"].tip


class WithoutUsd(FakeHost):
    """A host whose USD plug-in isn't loaded. If ``fails`` is set, loading the plug-in fails."""

    def __init__(self, fails: bool = False) -> None:
        super().__init__()
        self._all, self._fails = dict(self.ports), fails
        self.plug_ins = {USD: PlugIn("fakeUsd", "the plug-in fakeUsd isn't loaded", self._load)}
        self.set_ports({name: port for name, port in self._all.items() if name != USD})

    def _load(self) -> None:
        self.require_main_thread()
        if self._fails:
            raise HostError("fakeUsd could not be loaded: no licence")
        self.set_ports(self._all)


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_a_plug_in_that_is_missing_is_loaded(open_panel: Any, by: str) -> None:
    shown = open_panel(WithoutUsd, skills=True)
    shown.turn_to(CAPABILITIES)
    tab = shown.panel.capabilities
    shown.until(lambda: USD in tab.plug_ins.buttons)
    assert tab.model.row(tab.model.find(USD, "Scene")).cells[1] == "not loaded"
    assert "the plug-in fakeUsd isn't loaded" in tab.plug_ins.words[USD].text()
    button = tab.plug_ins.buttons[USD]
    if by == "mouse":
        shown.click(button)
    else:
        button.setFocus()
        shown.press(button, Qt.Key.Key_Space)
    shown.until(lambda: tab.model.row(tab.model.find(USD, "Scene")).checked)
    shown.until(lambda: not tab.plug_ins.isVisible())
    assert USD in shown.server.app.capabilities.declared


def test_why_a_plug_in_was_not_loaded_is_said_and_it_can_be_tried_again(open_panel: Any) -> None:
    shown = open_panel(lambda: WithoutUsd(fails=True), skills=True)
    shown.turn_to(CAPABILITIES)
    tab = shown.panel.capabilities
    shown.until(lambda: USD in tab.plug_ins.buttons)
    shown.click(tab.plug_ins.buttons[USD])
    shown.until(lambda: "no licence" in tab.plug_ins.words[USD].text())
    assert tab.plug_ins.buttons[USD].isEnabled()
    assert USD not in shown.server.app.capabilities.declared


def test_a_plug_in_that_only_the_artist_can_install_has_no_button(open_panel: Any) -> None:
    class Uninstalled(WithoutUsd):
        def __init__(self) -> None:
            super().__init__()
            self.plug_ins = {USD: PlugIn("USD", "install the component")}

    shown = open_panel(Uninstalled, skills=True)
    shown.turn_to(CAPABILITIES)
    tab = shown.panel.capabilities
    shown.until(lambda: USD in tab.plug_ins.words)
    assert "install the component" in tab.plug_ins.words[USD].text()
    assert not tab.plug_ins.buttons


def test_bundles_show_what_they_want_of_the_host(
    open_panel: Any, home: Path, tmp_path: Path
) -> None:
    block = {"host_version": "1.1", "host_capabilities": WANTED}
    files = {
        "manifest.json": json.dumps(
            {
                "manifest_version": "0.3",
                "name": "rigging",
                "version": "1.2.0",
                "description": "Rigs bipeds",
                "author": {"name": "A studio"},
                "_meta": {HOST_KEY: block},
            }
        ),
        "SKILL.md": "---\nname: rigging\ndescription: Rigs bipeds.\n---\n",
    }
    with zipfile.ZipFile(tmp_path / "rigging.mcpb", "w") as packed:
        for name, text in files.items():
            packed.writestr(name, text)
    user_bundles().install(tmp_path / "rigging.mcpb", ["com.example/files"])
    shown = open_panel(skills=True)
    shown.turn_to(CAPABILITIES)
    tab = shown.panel.capabilities
    for _ in range(2):
        shown.press(tab.page, Qt.Key.Key_Down)
    shown.until(lambda: [row.key for row in tab.below.rows] == ["rigging"])
    (row,) = tab.below.rows
    assert row.cells == ("rigging 1.2.0",)
    problem, *wanted = row.rows
    assert problem.cells[0] == "Doesn't run"
    assert "requires com.example/files, which this host doesn't offer now" in problem.cells[1]
    assert [child.cells for child in wanted] == [
        ("com.example/files", "required, missing"),
        ("com.example/tags", "preferred, missing"),
    ]
    shown.qtbot.keyClicks(tab.search, "zzz")
    assert tab.below.rowCount() == 0
    assert "No bundle matches." in texts(tab)


def test_words_are_legible_after_the_host_changed_its_palette(open_panel: Any) -> None:
    shown = open_panel(WithoutUsd, skills=True)
    shown.turn_to(CAPABILITIES)
    panel = shown.panel
    shown.until(lambda: USD in panel.capabilities.plug_ins.words)
    for colours in (("#bbbbbb", "#444444", "#2b2b2b"), ("#000000", "#efefef", "#ffffff")):
        text, window, base = map(QColor, colours)
        palette = QPalette(window)
        palette.setColor(QPalette.ColorRole.WindowText, text)
        palette.setColor(QPalette.ColorRole.Window, window)
        palette.setColor(QPalette.ColorRole.Base, base)
        panel.setPalette(palette)
        for label in panel.findChildren(QLabel):
            if label.text() and label.isEnabled():
                told = label.palette().color(QPalette.ColorRole.WindowText)
                assert contrast(told, window) >= LEGIBLE, label.text()


def test_tools_that_their_first_call_loads_are_counted(shown: Any) -> None:
    shown.turn_to(SKILLS)
    skills = shown.panel.skills.model
    shown.until(lambda: any("when called" in row.cells[1] for row in skills.rows))
    areas = shown.panel.capabilities.model.rows
    offered = [row for area in areas for row in area.rows if row.checked is not None]
    assert offered
    assert all(row.cells[1] != "0 tools" for row in offered)
