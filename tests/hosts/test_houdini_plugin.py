"""The package inside a Houdini with windows: a real QApplication around the double."""

from __future__ import annotations

import runpy
import threading
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

pytest.importorskip("PySide6", reason="these tests need a Qt")
pytest.importorskip("pxr", reason="this Python has no OpenUSD")

from houdini_rig import PACKAGE, REAL, hou, new_houdini

if REAL:
    pytest.skip("hython has no windows", allow_module_level=True)

from hou._session import session
from hou._windows import Interface
from qt_rig import Calls, application, in_thread, spin_until, spin_while
from qtpy.QtWidgets import QApplication, QDialog, QLabel

from callboard.errors import HOST_BUSY
from callboard.testing.compliance import Bench, Check, checks
from callboard.transport.client import Client, RemoteError
from callboard_houdini import options, plugin
from callboard_houdini.host import HoudiniHost
from callboard_qt.main_thread import QtMainThread
from callboard_qt.residence import Residence

UIREADY = sorted(PACKAGE.glob("python3.*libs/uiready.py"))


@pytest.fixture(autouse=True)
def windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    application()
    new_houdini(windows=True)
    session.preferences = str(tmp_path)
    script = ET.parse(PACKAGE / "python_panels/callboard.pypanel").findtext("interface/script")
    session.interfaces["callboard"] = Interface("callboard", script)


@pytest.fixture
def loaded() -> Iterator[None]:
    runpy.run_path(str(UIREADY[0]))
    yield
    plugin.unload()


@pytest.fixture
def server(loaded: None) -> Any:
    running = plugin.running_session()
    assert running is not None
    assert running.server is not None
    return running.server


def watchers() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("callboard-watcher")]


def menu(id: str) -> None:
    """What Houdini does when that entry is chosen."""
    entries = ET.parse(PACKAGE / "MainMenuCommon.xml").iter("scriptItem")
    (code,) = (entry.findtext("scriptCode") for entry in entries if entry.get("id") == id)
    assert code is not None
    exec(code, {})


# -- the contract, on Qt's own loop -------------------------------------------------------------


@pytest.mark.parametrize("check", list(checks()), ids=lambda check: check.id)
def test_compliance_on_qts_loop(check: Check, tmp_path: Path) -> None:
    main = QtMainThread()
    host = HoudiniHost(main.post, main.blocked_by)
    bench = Bench(host, tmp_path.resolve())
    done: Future[None] = Future()

    def run() -> None:
        try:
            bench.run(check)
        except Exception as error:
            done.set_exception(error)
        else:
            done.set_result(None)

    try:
        if missing := bench.missing(check):
            pytest.skip(f"the host doesn't offer {', '.join(missing)}")
        in_thread(lambda: host.post(run))
        spin_until(done)
    finally:
        host.close()
        main.close()


# -- loading and unloading ----------------------------------------------------------------------


def test_every_python_of_houdinis_gets_the_same_file() -> None:
    assert [file.parent.name for file in UIREADY] == [
        "python3.10libs",
        "python3.11libs",
        "python3.13libs",
    ]
    assert len({file.read_bytes() for file in UIREADY}) == 1


def test_it_serves_once_the_windows_are_there(server: Any) -> None:
    def talk() -> dict[str, Any]:
        with Client(server.url, server.token) as client:
            create = {"name": "scene__create_primitive", "arguments": {"kind": "cube"}}
            client.request("tools/call", create)
            picture = {"name": "viewport__capture", "arguments": {"width": 32, "height": 16}}
            return client.request("tools/call", picture)

    answer = spin_while(talk)
    assert answer["content"][0]["type"] == "image"
    assert hou.node("/obj/Cube") is not None
    assert hou.undos.undoLabels() == ("Callboard: scene__create_primitive",)


def test_nothing_is_left_after_the_unload() -> None:
    from hou._nodes import _callbacks

    for _ in range(3):
        plugin.load()
        plugin.load()
        assert len(watchers()) == 1
        assert session.file_callbacks
        assert _callbacks
        plugin.unload()
        plugin.unload()
        session.unloaded = True
        assert watchers() == []
        assert session.file_callbacks == session.playbar_callbacks == []
        assert session.selection_callbacks == _callbacks == []
        # Whatever Houdini still does, nothing of ours hears of it.
        session.unloaded = False
        hou.hipFile.clear(suppress_save_prompt=True)


def test_quitting_houdini_stops_the_server(server: Any) -> None:
    application().aboutToQuit.emit()
    assert watchers() == []
    assert plugin.running_session() is None


def test_a_new_file_keeps_the_server_and_its_messages(server: Any) -> None:
    heard: list[str] = []
    stop = server.host.watch(heard.append)
    hou.hipFile.clear(suppress_save_prompt=True)
    assert heard == ["project"]
    hou.node("/obj").createNode("geo")
    assert heard == ["project", "scene"]
    stop()


# -- the menu and the panel ---------------------------------------------------------------------


def test_the_menu_stops_starts_and_copies(server: Any) -> None:
    menu("h.callboard_copy_url")
    assert session.clipboard == server.url
    menu("h.callboard_stop")
    assert watchers() == []
    menu("h.callboard_copy_url")
    assert "isn't running" in session.status[-1]
    menu("h.callboard_start")
    assert len(watchers()) == 1
    assert "serves at" in session.status[-1]


def test_autostart_is_the_artists_choice(loaded: None) -> None:
    menu("h.callboard_autostart")
    plugin.unload()
    plugin.load()
    assert watchers() == []
    menu("h.callboard_autostart")
    assert options.option(options.AUTOSTART, 0) == 1


def test_preferences_that_can_not_be_read_are_none(tmp_path: Path) -> None:
    (tmp_path / "callboard.json").write_text("[1, 2", encoding="utf-8")
    assert options.option(options.PORT, 7) == 7
    options.set_option(options.PORT, 8123)
    assert options.option(options.PORT, 7) == 8123


def test_a_port_that_is_taken_is_said(loaded: None) -> None:
    running = plugin.running_session()
    assert running is not None
    assert running.server is not None
    port = int(running.server.url.split(":")[2].split("/")[0])
    options.set_option(options.PORT, port)
    other = Residence(HoudiniHost, lambda: options.option(options.PORT, 0))
    with pytest.raises(OSError):
        other.start()
    assert other.server is None
    assert len(watchers()) == 1


def test_the_panel_opens_once_and_follows_the_server(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    # As in a bundle without the panel.
    monkeypatch.setitem(sys.modules, "callboard_ui", None)
    menu("h.callboard_show")
    (pane,) = [tab for tab in hou.ui.paneTabs() if isinstance(tab, hou.PythonPanel)]
    menu("h.callboard_show")
    assert len([tab for tab in hou.ui.paneTabs() if isinstance(tab, hou.PythonPanel)]) == 1

    def words() -> str:
        label = pane._widget.layout().itemAt(0).widget()
        assert isinstance(label, QLabel)
        return label.text()

    assert "isn't installed" in words()
    menu("h.callboard_stop")
    assert "isn't running" in words()
    pane._widget.deleteLater()


# -- what Houdini is busy with ------------------------------------------------------------------


def test_a_modal_dialog_is_named(server: Any) -> None:
    server.dispatcher.default_timeout = 1.0
    artist = Calls()
    dialog = QDialog(QApplication.activeWindow())
    dialog.setWindowTitle("Save changes?")
    dialog.setModal(True)

    def talk() -> RemoteError:
        with Client(server.url, server.token) as client:
            assert client.request("ping", {}) == {}
            assert client.request("tools/list", {})["tools"]
            with pytest.raises(RemoteError) as refused:
                client.request("tools/call", {"name": "scene__scene_info", "arguments": {}})
            artist.call(dialog.accept)
            return refused.value

    outcome = in_thread(talk)
    dialog.exec_()
    refused = spin_until(outcome)
    assert refused.code == HOST_BUSY
    assert refused.data is not None
    assert refused.data["blocked_by"] == "Save changes?"
    dialog.deleteLater()


def test_playback_and_files_are_told(server: Any) -> None:
    host = server.host
    assert host.blocked_by() is None
    session.tell(session.playbar_callbacks, hou.playbarEvent.Started, 1.0)
    assert host.blocked_by() == "playing the animation"
    session.tell(session.file_callbacks, hou.hipFileEventType.BeforeLoad)
    assert host.blocked_by() == "opening a scene"
    session.tell(session.file_callbacks, hou.hipFileEventType.AfterLoad)
    assert host.blocked_by() == "playing the animation"
    session.tell(session.playbar_callbacks, hou.playbarEvent.Stopped, 1.0)
    assert host.blocked_by() is None


def test_skills_of_houdini_are_loaded_and_scripts_are_off(server: Any) -> None:
    def talk() -> tuple[set[str], Any]:
        with Client(server.url, server.token) as client:
            tools = client.request("tools/list", {})["tools"]
            prompts = client.request("prompts/list", {})["prompts"]
            call = {"name": "script__execute", "arguments": {"code": "hou.fps()"}}
            with pytest.raises(RemoteError, match=r"script\.execute"):
                client.request("tools/call", call)
            server.capabilities.restore("script.execute")
            value = client.request("tools/call", call)["structuredContent"]["value"]
            return {found["name"] for found in [*tools, *prompts]}, value

    names, value = spin_while(talk)
    assert value == 24.0
    assert {"houdini_nodes__create_node", "houdini-nodes.repair_network"} <= names
    assert "houdini-nodes.raised_box" in names


def test_the_workflow_builds_what_it_says(server: Any) -> None:
    def talk() -> Any:
        with Client(server.url, server.token) as client:

            def call(tool: str, **arguments: Any) -> Any:
                asked = {"name": tool, "arguments": arguments}
                return client.request("tools/call", asked)["structuredContent"]

            run = call("workflows__run", name="houdini-nodes.raised_box", inputs={"height": 3})
            end = monotonic() + 20
            while (found := call("workflows__status", run_id=run["job_id"]))["status"] == "running":
                assert monotonic() < end, found
            return found

    found = spin_while(talk)
    assert found["status"] == "completed", found
    shown = hou.node("/obj/Crate").displayNode()
    assert shown.path() == "/obj/Crate/raise"
    assert shown.geometry().boundingBox().minvec()[1] == 2.0
