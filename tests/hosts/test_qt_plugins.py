"""One suite for callboard inside Maya, Houdini and 3ds Max with a GUI. Tests specific to one of
them are in ``test_maya_plugin.py``, ``test_houdini_plugin.py`` and ``test_max_plugin.py``."""

from __future__ import annotations

import re
import socket
import struct
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any
from zlib import compress, crc32

import pytest

from needed import need

need("qt")

from qt_plugin_rigs import RIGS, Rig, new_rig
from qt_rig import Calls, application, in_thread, spin_until, spin_while, while_open
from qtpy.QtCore import QEvent
from qtpy.QtWidgets import QApplication, QDialog

from callboard.errors import HOST_BUSY, HostError
from callboard.host import VIEWPORT, Picture, decode
from callboard_programs.client import Client, RemoteError
from callboard_qt import Messages, seen, seen_or_rendered
from callboard_qt.application.main_thread import QtMainThread
from callboard_testing.compliance import Bench, checks
from waiting import until


@pytest.fixture(params=RIGS)
def rig(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Rig]:
    made: Rig = new_rig(request.param, tmp_path, monkeypatch)
    yield made
    made.unload()


@pytest.fixture
def server(rig: Rig) -> Any:
    rig.load()
    assert rig.plug_in.server is not None
    return rig.plug_in.server


def watchers() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("callboard-watcher")]


# -- the contract, on Qt's own loop -------------------------------------------------------------


#: One check for each kind of work. The whole suite runs without Qt's loop in test_maya.py and the
#: like.
ON_QTS_LOOP = (
    "Rendering.test_a_cancel_keeps_what_is_finished_and_stops",
    "SceneSkill.test_each_edit_answers_with_the_object_as_it_is",
    "Undo.test_a_failed_step_leaves_nothing_behind",
    "Undo.test_steps_that_follow_each_other_are_undone_as_one",
    "Viewport.test_the_tool_returns_the_image_itself",
)


@pytest.mark.parametrize("name", ON_QTS_LOOP)
def test_compliance_on_qts_loop(name: str, rig: Rig, tmp_path: Path) -> None:
    (check,) = (each for each in checks() if each.id == name)
    main = QtMainThread()
    host = rig.host(main.post, main.blocked_by)
    (tmp_path / "files").mkdir()
    bench = Bench(host, tmp_path.resolve() / "files")
    done: Future[None] = Future()

    def run() -> None:
        try:
            bench.run(check)
        except Exception as error:
            done.set_exception(error)
        else:
            done.set_result(None)

    try:
        assert bench.missing(check) == []
        in_thread(lambda: host.post(run))
        spin_until(done)
    finally:
        host.close()
        main.close()


# -- loading and unloading ----------------------------------------------------------------------


def test_it_serves_once_the_windows_are_there(rig: Rig, server: Any) -> None:
    def talk() -> dict[str, Any]:
        with Client(server.url, server.token) as client:
            create = {"name": "scene__create_primitive", "arguments": {"kind": "cube"}}
            client.request("tools/call", create)
            picture = {"name": "viewport__capture", "arguments": {"width": 32, "height": 16}}
            return client.request("tools/call", picture)

    answer = spin_while(talk)
    assert answer["content"][0]["type"] == "image"
    assert rig.objects() == [rig.cube]
    assert rig.newest_undo() == "Callboard: scene__create_primitive"


@pytest.mark.sweep
def test_nothing_is_left_after_the_unload(rig: Rig) -> None:
    before = threading.active_count()
    for _ in range(10):
        rig.load()
        rig.plug_in.load()
        assert len(watchers()) == 1
        assert rig.callbacks()
        rig.choose("open")
        rig.unload()
        rig.plug_in.unload()
        assert watchers() == []
        assert rig.callbacks() == []
        assert not rig.plug_in.loaded
        assert rig.plug_in.server is None

    def threads_left() -> int:
        # The panel's own thread ends with the panel, which Qt deletes later.
        application().sendPostedEvents(None, QEvent.Type.DeferredDelete)
        return max(0, threading.active_count() - before)

    until(lambda: not threads_left(), lambda: f"the end of {threading.enumerate()}")


def test_quitting_the_application_stops_the_server(rig: Rig, server: Any) -> None:
    rig.quit()
    assert watchers() == []
    assert rig.plug_in.server is None


# -- the menu and the panel ---------------------------------------------------------------------


def test_the_menu_stops_starts_and_copies(rig: Rig, server: Any) -> None:
    rig.choose("copy")
    assert QApplication.clipboard().text() == server.url
    rig.choose("stop")
    assert watchers() == []
    rig.choose("copy")
    assert "isn't running" in rig.status_line()
    rig.choose("start")
    assert len(watchers()) == 1
    rig.choose("start")
    assert len(watchers()) == 1


def test_a_refusal_tells_the_menu_path_to_the_panel(rig: Rig, server: Any) -> None:
    server.controls.withdraw("scene.mutate")

    def ask() -> str:
        with Client(server.url, server.token) as client:
            tools = client.request("tools/list", {})["tools"]
        (tool,) = (each for each in tools if each["name"] == "scene__rename")
        return str(tool["description"])

    told = spin_while(ask)
    path = re.search(r"can switch it on in .*'s menu Callboard > ([\w ]+)", told)
    assert path is not None, told
    assert path[1] in rig.labels()
    rig.choose("open")
    assert len(rig.panels()) == 1


def test_autostart_is_the_artists_choice(rig: Rig, server: Any) -> None:
    rig.choose("autostart")
    assert rig.plug_in.server is server
    rig.unload()
    rig.load()
    assert rig.plug_in.loaded
    assert watchers() == []
    rig.choose("autostart")
    rig.unload()
    rig.load()
    assert len(watchers()) == 1


def test_a_taken_port_is_said_and_leaves_nothing(rig: Rig) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        rig.plug_in.options.port = taken.getsockname()[1]
        rig.load()
        assert "can't serve" in rig.status_line()
        assert rig.plug_in.server is None
        assert watchers() == []
    rig.choose("start")
    assert rig.plug_in.server is not None


def test_a_broken_qt_is_said_and_leaves_nothing(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    import qtpy

    # Events in this PySide6 would end the application after a while.
    monkeypatch.setattr(qtpy, "PYSIDE_VERSION", "6.12.0")
    monkeypatch.setattr(sys, "version_info", (3, 11, 0))
    rig.load()
    assert "PySide6 6.12.0" in rig.status_line()
    assert rig.plug_in.server is None


def test_the_panel_opens_once_and_follows_the_server(
    rig: Rig, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # This imitates a bundle without the panel.
    monkeypatch.setitem(sys.modules, "callboard_ui", None)
    rig.choose("open")
    (panel,) = rig.panels()
    rig.choose("open")
    assert rig.panels() == [panel]
    assert "isn't installed" in rig.words()
    rig.choose("stop")
    assert "isn't running" in rig.words()
    rig.choose("start")
    assert "isn't installed" in rig.words()


# -- a window that is hidden or minimized -------------------------------------------------------


def test_a_black_view_is_no_picture_of_the_scene(rig: Rig, tmp_path: Path) -> None:
    main = QtMainThread()
    host = rig.host(main.post, main.blocked_by)
    try:
        bench = Bench(host, tmp_path.resolve())
        rig.session.blank_views = True
        asked = {"width": 32, "height": 16}
        # An empty scene may well be black.
        bench.call("viewport__capture", asked)
        assert "doubt" not in bench.call("viewport__look", asked)
        bench.cube("Crate")
        with pytest.raises(HostError, match="hidden or minimized"):
            bench.call("viewport__capture", asked)
        bench.call("cameras__create", {"name": "Shot"})
        answer = bench.call("viewport__look", {"camera": "Shot", **asked})
        assert "so this picture is rendered" in answer["doubt"]
        assert answer["engine"]
        rig.session.blank_views = False
        bench.call("viewport__capture", asked)
    finally:
        rig.session.blank_views = False
        host.close()
        main.close()


def test_a_picture_of_one_colour_is_doubted_and_alpha_dropped() -> None:
    grey, black = Picture(2, 1, bytes([40] * 6)), Picture(2, 1, bytes(6))
    box = [([0.0] * 3, [1.0] * 3)]

    def render() -> tuple[Picture, dict[str, Any]]:
        raise HostError("the scene has no camera")

    assert "one color" in seen_or_rendered(grey, box, render)[1]["doubt"]
    assert "no camera" in seen_or_rendered(black, box, render)[1]["doubt"]
    assert seen_or_rendered(black, [], render) == (black, {})
    transparent = with_alpha(bytes([0, 0, 0, 0] * 2))
    with pytest.raises(HostError, match="black all over"):
        seen(transparent, box)
    assert decode(seen(with_alpha(bytes([9, 8, 7, 0] * 2)), box)).rgb == bytes([9, 8, 7] * 2)


def with_alpha(rgba: bytes) -> bytes:
    """Return a PNG of two pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc32(kind + data))

    header = struct.pack(">IIBBBBB", 2, 1, 8, 6, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", compress(b"\0" + rgba)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


# -- a busy application -------------------------------------------------------------------------


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


def test_what_holds_the_main_thread_is_told(rig: Rig, server: Any) -> None:
    host = server.host
    assert host.blocked_by() is None
    rig.begin("hold")
    assert host.blocked_by() == rig.held_by
    rig.begin("open")
    assert host.blocked_by() == "opening a scene"
    rig.end("open")
    assert host.blocked_by() == rig.held_by
    rig.end("hold")
    assert host.blocked_by() is None


def test_a_busy_that_never_ends_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("callboard_qt.application.messages.monotonic", lambda: now[0])
    messages = Messages("Maya")
    messages.note("a long command", True)
    messages.note("rendering", True)
    assert messages.holds() == "rendering"
    messages.note("rendering", False)
    assert messages.holds() == messages.busy_with() == "a long command"
    now[0] += 3600
    assert messages.holds() is messages.busy_with() is None


def test_nothing_runs_inside_a_load_that_draws_its_progress(rig: Rig, server: Any) -> None:
    """During a load, the application handles Qt's events, including ours."""
    server.dispatcher.default_timeout = 1.0
    rig.begin("open")

    def talk() -> RemoteError:
        with Client(server.url, server.token) as client:
            create = {"name": "scene__create_primitive", "arguments": {"kind": "cube"}}
            with pytest.raises(RemoteError) as refused:
                client.request("tools/call", create)
            return refused.value

    refused = spin_while(talk)
    assert refused.code == HOST_BUSY
    assert "opening a scene" in str(refused)
    assert rig.objects() == []
    rig.end("open")

    def again() -> Any:
        with Client(server.url, server.token) as client:
            create = {"name": "scene__create_primitive", "arguments": {"kind": "cube"}}
            return client.request("tools/call", create)

    spin_while(again)
    assert rig.objects() == [rig.cube]


# -- skills -------------------------------------------------------------------------------------


def test_its_own_skills_are_loaded_and_scripts_wait_for_somebody(rig: Rig, server: Any) -> None:
    assert VIEWPORT in server.capabilities.declared
    code, value = rig.script

    def talk() -> tuple[set[str], Any]:
        with Client(server.url, server.token) as client:
            tools = client.request("tools/list", {})["tools"]
            prompts = client.request("prompts/list", {})["prompts"]
            call = {"name": "script__execute", "arguments": {"code": code}}
            with pytest.raises(RemoteError, match=r"script\.execute"):
                client.request("tools/call", call)
            server.controls.set_consent_policy("script", "allow")
            server.controls.attend()
            until(lambda: "script.execute" in server.capabilities.declared, "scripts")
            answer = client.request("tools/call", call)["structuredContent"]["value"]
            return {each["name"] for each in [*tools, *prompts]}, answer

    names, answer = spin_while(talk)
    assert answer == value
    assert set(rig.skill) <= names


def run_workflow(server: Any, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
    """Run the workflow. Return its final status."""

    def talk() -> dict[str, Any]:
        with Client(server.url, server.token) as client:

            def call(tool: str, **arguments: Any) -> Any:
                asked = {"name": tool, "arguments": arguments}
                return client.request("tools/call", asked)["structuredContent"]

            run = call("workflows__run", name=name, inputs=inputs)

            def ended() -> dict[str, Any] | None:
                status = call("workflows__status", run_id=run["job_id"])
                return None if status["status"] == "running" else dict(status)

            return until(ended, "the workflow's end") or {}

    return spin_while(talk)


def test_its_workflow_builds_what_it_says(rig: Rig, server: Any) -> None:
    outcome = run_workflow(server, rig.skill[2], rig.inputs)
    assert outcome["status"] == "completed", outcome
    rig.check_built()
