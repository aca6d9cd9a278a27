"""The plug-in inside a Maya with windows: a real QApplication around the double."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6", reason="these tests need a Qt")

from maya import cmds, utils
from maya_rig import PLUGIN, REAL, new_maya
from qt_rig import Calls, application, in_thread, spin_until, spin_while, while_open
from qtpy.QtCore import QEvent
from qtpy.QtWidgets import QApplication, QDialog, QLabel

from callboard.errors import HOST_BUSY
from callboard.host import VIEWPORT
from callboard.testing.compliance import Bench, Check, checks
from callboard.transport.client import Client, RemoteError
from callboard_maya import panel, plugin
from callboard_maya.host import MayaHost
from callboard_maya.options import AUTOSTART, PORT
from callboard_maya.panel import CONTROL
from callboard_qt.main_thread import QtMainThread

pytestmark = pytest.mark.skipif(REAL, reason="mayapy has no windows")


@pytest.fixture(autouse=True)
def windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    application()
    new_maya(batch=False)
    yield
    plugin.unload()


@pytest.fixture
def loaded() -> Iterator[None]:
    cmds.loadPlugin(PLUGIN)
    utils.processIdleEvents()
    yield
    if cmds.pluginInfo("callboard_plugin", query=True, loaded=True):
        cmds.unloadPlugin("callboard_plugin")


@pytest.fixture
def server(loaded: None) -> Any:
    session = plugin.running_session()
    assert session is not None
    assert session.server is not None
    return session.server


def watchers() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("callboard-watcher")]


def menu() -> dict[str, Any]:
    from maya._session import session

    items: dict[str, Any] = session.windows["callboardMenu"]["items"]
    return items


def shown(control: Any) -> str:
    """The words in the panel, once Qt has removed what it was told to."""
    application().sendPostedEvents(None, QEvent.Type.DeferredDelete)
    (label,) = control.findChildren(QLabel)
    return str(label.text())


def tell(kind: str, what: object, *arguments: object) -> None:
    """Maya sends one of its messages."""
    from maya._session import session

    session.tell(kind, what, *arguments)


# -- the contract, on Qt's own loop -------------------------------------------------------------


@pytest.mark.parametrize("check", list(checks()), ids=lambda check: check.id)
def test_compliance_on_qts_loop(check: Check, tmp_path: Path) -> None:
    main = QtMainThread()
    host = MayaHost(main.post, main.blocked_by)
    if find_spec("pxr") is not None:
        cmds.loadPlugin("mayaUsdPlugin")
    bench = Bench(host, tmp_path.resolve())
    if missing := bench.missing(check):
        pytest.skip(f"the host doesn't offer {', '.join(missing)}")
    done: Future[None] = Future()

    def run() -> None:
        try:
            bench.run(check)
        except Exception as error:
            done.set_exception(error)
        else:
            done.set_result(None)

    in_thread(lambda: host.post(run))
    try:
        spin_until(done)
    finally:
        host.close()
        main.close()


# -- loading and unloading ----------------------------------------------------------------------


def test_it_serves_as_soon_as_maya_is_idle(server: Any) -> None:
    def talk() -> dict[str, Any]:
        with Client(server.url, server.token) as client:
            create = {"name": "scene__create_primitive", "arguments": {"kind": "cube"}}
            client.request("tools/call", create)
            picture = {"name": "viewport__capture", "arguments": {"width": 32, "height": 16}}
            return client.request("tools/call", picture)

    answer = spin_while(talk)
    assert answer["content"][0]["type"] == "image"
    assert cmds.ls("Cube", long=True) == ["|Cube"]
    assert cmds.undoInfo(query=True, undoName=True) == "Callboard: scene__create_primitive"


def test_unloading_leaves_nothing(loaded: None) -> None:
    from maya._session import session

    assert session.callbacks
    assert watchers()
    menu()["Open Callboard"]()
    cmds.unloadPlugin("callboard_plugin")
    assert session.callbacks == {}
    assert session.windows == {}
    assert watchers() == []
    assert plugin.running_session() is None


def test_load_and_unload_many_times() -> None:
    before = threading.active_count()
    for _ in range(20):
        cmds.loadPlugin(PLUGIN)
        utils.processIdleEvents()
        session = plugin.running_session()
        assert session is not None
        assert session.server is not None
        cmds.unloadPlugin("callboard_plugin")
    assert threading.active_count() <= before


def test_unloaded_before_maya_was_idle() -> None:
    cmds.loadPlugin(PLUGIN)
    cmds.unloadPlugin("callboard_plugin")
    utils.processIdleEvents()
    assert watchers() == []


def test_it_does_not_start_where_the_artist_does_not_want_it() -> None:
    cmds.optionVar(intValue=(AUTOSTART, 0))
    cmds.loadPlugin(PLUGIN)
    utils.processIdleEvents()
    session = plugin.running_session()
    assert session is not None
    assert session.server is None
    menu()["Start"]()
    assert session.server is not None
    menu()["Copy URL"]()
    assert QApplication.clipboard().text() == session.server.url
    menu()["Stop"]()
    assert session.server is None
    menu()["Start with Maya"](True)
    assert cmds.optionVar(query=AUTOSTART) == 1
    cmds.unloadPlugin("callboard_plugin")


def test_a_taken_port_is_said_and_leaves_nothing(caplog: pytest.LogCaptureFixture) -> None:
    import socket

    from maya._session import session

    with socket.create_server(("127.0.0.1", 0)) as taken:
        cmds.optionVar(intValue=(PORT, taken.getsockname()[1]))
        cmds.loadPlugin(PLUGIN)
        utils.processIdleEvents()
        assert "can't serve" in caplog.text
        assert session.callbacks == {}
        assert watchers() == []
        cmds.unloadPlugin("callboard_plugin")


def test_batch_mode_has_no_menu_and_no_server() -> None:
    new_maya(batch=True)
    cmds.loadPlugin(PLUGIN)
    utils.processIdleEvents()
    assert watchers() == []
    cmds.unloadPlugin("callboard_plugin")


def test_quitting_maya_stops_the_server(server: Any) -> None:
    from maya.api.OpenMaya import MSceneMessage

    tell("scene", MSceneMessage.kMayaExiting)
    assert watchers() == []


# -- the panel ----------------------------------------------------------------------------------


def test_the_panel_is_built_by_maya_and_rebuilt(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    from maya._session import session

    # As in a bundle without the panel.
    monkeypatch.setitem(sys.modules, "callboard_ui", None)
    menu()["Open Callboard"]()
    control = session.windows[CONTROL]
    assert "isn't installed" in shown(control)
    menu()["Open Callboard"]()
    assert session.windows[CONTROL] is control
    menu()["Stop"]()
    assert "isn't running" in shown(control)
    menu()["Start"]()
    assert "isn't installed" in shown(control)


def test_maya_restores_the_panel_before_the_server_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import sys

    from maya._session import session

    monkeypatch.setitem(sys.modules, "callboard_ui", None)
    cmds.loadPlugin(PLUGIN)
    panel.show()
    assert "isn't running" in shown(session.windows[CONTROL])
    utils.processIdleEvents()
    assert "isn't installed" in shown(session.windows[CONTROL])
    cmds.unloadPlugin("callboard_plugin")
    assert CONTROL not in session.windows


# -- what Maya is busy with ---------------------------------------------------------------------


def test_a_modal_dialog_is_named(server: Any) -> None:
    server.dispatcher.default_timeout = 1.0
    artist = Calls()
    dialog = QDialog()
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

    refused = while_open(dialog, talk)
    assert refused.code == HOST_BUSY
    assert refused.data is not None
    assert refused.data["blocked_by"] == "Save changes?"
    dialog.deleteLater()


def test_playback_and_files_are_told(server: Any) -> None:
    from maya.api.OpenMaya import MSceneMessage

    host = server.host
    assert host.blocked_by() is None
    tell("condition", "playingBack", True)
    assert host.blocked_by() == "playing the animation"
    tell("scene", MSceneMessage.kBeforeOpen)
    assert host.blocked_by() == "opening a scene"
    tell("scene", MSceneMessage.kAfterOpen)
    assert host.blocked_by() == "playing the animation"
    tell("condition", "playingBack", False)
    assert host.blocked_by() is None


def test_a_new_workspace_is_the_new_project(server: Any) -> None:
    from maya._session import session

    session.workspace = "/projects/other"
    tell("event", "workspaceChanged")
    roots = server.host.project_roots()
    assert roots == [str(Path("/projects/other"))]


def test_skills_of_maya_are_loaded(server: Any) -> None:
    def talk() -> set[str]:
        with Client(server.url, server.token) as client:
            tools = client.request("tools/list", {})["tools"]
            prompts = client.request("prompts/list", {})["prompts"]
            return {found["name"] for found in [*tools, *prompts]}

    names = spin_while(talk)
    assert "maya_geometry__bevel_edges" in names
    assert "maya-geometry.bevel_all_edges" in names
    assert "maya-geometry.rounded_crate" in names


def test_scripts_are_off_until_the_artist_turns_them_on(server: Any) -> None:
    assert VIEWPORT in server.capabilities.declared
    assert "script.execute" not in server.capabilities.declared

    def run() -> Any:
        with Client(server.url, server.token) as client:
            call = {"name": "script__execute", "arguments": {"code": "cmds.polyCube(name='Made')"}}
            with pytest.raises(RemoteError, match=r"script\.execute"):
                client.request("tools/call", call)
            server.capabilities.restore("script.execute")
            return client.request("tools/call", call)

    answer = spin_while(run)
    assert answer["structuredContent"]["value"][0] == "Made"
    assert answer["_meta"]["callboard/undo"]
