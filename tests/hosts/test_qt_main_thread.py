from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from needed import need

need("qt")

from qt_rig import Calls, application, in_thread, spin_until, spin_while, while_open
from qtpy.QtCore import QAbstractEventDispatcher, QEvent, QEventLoop, QTimer
from qtpy.QtWidgets import QApplication, QDialog

from callboard.app import Callboard
from callboard.config import McpHttpConfig
from callboard.errors import HOST_BUSY, HostError
from callboard_programs.client import Client, RemoteError
from callboard_qt.application.main_thread import QtMainThread
from callboard_testing.fake_host import FakeHost
from waiting import until


class QtFakeHost(FakeHost):
    """A scene in memory inside a real Qt application."""

    def __init__(self, main: QtMainThread) -> None:
        super().__init__()
        self._main_thread = main

    def post(self, fn):  # type: ignore[no-untyped-def]
        self.posts += 1
        self._main_thread.post(fn)

    def blocked_by(self) -> str | None:
        return self._main_thread.blocked_by()


def test_the_binding_is_the_one_in_which_the_application_runs(tmp_path: Path) -> None:
    """A different binding is on the path and has been imported, and the environment selects it."""
    stray = tmp_path / "PySide2"
    stray.mkdir()
    (stray / "__init__.py").write_text("__version__ = '5.15.2'", encoding="utf-8")
    core = "class QCoreApplication:\n    instance = staticmethod(lambda: None)\n__version__ = ''"
    (stray / "QtCore.py").write_text(core, encoding="utf-8")
    code = (
        "import os, PySide2.QtCore\n"
        "from PySide6.QtCore import QCoreApplication\n"
        "app = QCoreApplication([])\n"
        "from callboard_qt.application.binding import choose_binding\n"
        "choose_binding()\n"
        "import qtpy\n"
        "print(qtpy.API, os.environ['QT_API'], 'FORCE_QT_API' in os.environ)"
    )
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    environment = {**os.environ, "PYTHONPATH": paths, "QT_API": "pyside2"}
    told = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert told.stdout.split() == ["pyside6", "pyside2", "False"], told.stderr


@pytest.fixture
def main() -> Iterator[QtMainThread]:
    application()
    main = QtMainThread()
    yield main
    main.close()


@pytest.fixture
def server(
    main: QtMainThread, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callboard]:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    config = McpHttpConfig(records=False, announce=False)
    running = Callboard(QtFakeHost(main), config).start()
    yield running
    running.stop()


@contextmanager
def modal(title: str) -> Iterator[QDialog]:
    dialog = QDialog()
    dialog.setWindowTitle(title)
    dialog.setModal(True)
    yield dialog
    dialog.deleteLater()


def posted(main: QtMainThread) -> Future[int]:
    """Return the thread that runs a posted function."""
    done: Future[int] = Future()
    main.post(lambda: done.set_result(threading.get_ident()))
    return done


def test_what_any_thread_posts_runs_on_the_main_thread(main: QtMainThread) -> None:
    ran = spin_while(lambda: posted(main).result(20))
    assert ran == threading.get_ident()


def test_posting_runs_nothing_itself_and_keeps_the_order(main: QtMainThread) -> None:
    order: list[int] = []
    for number in range(50):
        main.post(lambda number=number: order.append(number))  # type: ignore[misc]
    assert order == []
    spin_until(posted(main))
    assert order == list(range(50))


def test_an_error_loses_only_itself(main: QtMainThread, caplog: pytest.LogCaptureFixture) -> None:
    def fails() -> None:
        raise SystemExit(3)

    main.post(fails)
    assert spin_until(posted(main)) == threading.get_ident()
    assert "failed" in caplog.text


def test_work_that_never_ends_leaves_the_windows_their_turn(main: QtMainThread) -> None:
    fired: list[int] = []
    done: Future[int] = Future()

    def again() -> None:
        if len(fired) >= 3:
            done.set_result(len(fired))
        else:
            main.post(again)

    timer = QTimer()
    timer.timeout.connect(lambda: fired.append(1))
    timer.start(1)
    main.post(again)
    assert spin_until(done) >= 3
    timer.stop()


def test_it_is_made_on_the_main_thread_only(main: QtMainThread) -> None:
    with pytest.raises(HostError, match="main thread"):
        in_thread(QtMainThread).result(20)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None is immortal since Python 3.12")
def test_a_qt_that_aborts_python_is_refused(
    main: QtMainThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qtpy.PYSIDE_VERSION", "6.12.0")
    with pytest.raises(HostError, match=r"6\.12\.0"):
        QtMainThread()


def test_nothing_runs_after_close(main: QtMainThread) -> None:
    ran: list[int] = []
    main.post(lambda: ran.append(1))
    main.close()
    main.post(lambda: ran.append(2))
    loop = QEventLoop()
    QTimer.singleShot(0, loop.quit)
    loop.exec_()
    assert ran == []


# -- modal dialogs ------------------------------------------------------------------------------


def test_posted_work_waits_until_the_dialog_is_gone(main: QtMainThread) -> None:
    artist = Calls()
    with modal("Save changes?") as dialog:

        def meanwhile() -> tuple[str | None, bool]:
            work = posted(main)
            # Later events in Qt's queue have run, so this event would have run too.
            seen: Future[str | None] = Future()
            artist.call(lambda: seen.set_result(main.blocked_by()))
            title, ran = seen.result(20), work.done()
            artist.call(dialog.accept)
            work.result(20)
            return title, ran

        assert while_open(dialog, meanwhile) == ("Save changes?", False)
    assert main.blocked_by() is None


def test_a_dialog_over_a_dialog(main: QtMainThread) -> None:
    artist = Calls()
    with modal("Outer") as outer, modal("Inner") as inner:

        def title() -> str | None:
            seen: Future[str | None] = Future()
            artist.call(lambda: seen.set_result(main.blocked_by()))
            return seen.result(20)

        def meanwhile() -> list[str | None]:
            work = posted(main)
            titles = [title()]
            artist.call(inner.accept)
            titles += [title(), title()]
            artist.call(outer.accept)
            work.result(20)
            return titles

        QTimer.singleShot(0, inner.exec_)
        titles = while_open(outer, meanwhile)
    assert titles[0] in ("Outer", "Inner")
    assert titles[-1] == "Outer"


def test_a_dialog_that_is_destroyed_holds_nothing_up(main: QtMainThread) -> None:
    dialog = QDialog()
    dialog.setWindowTitle("Gone")
    dialog.setModal(True)
    dialog.show()
    work = posted(main)
    artist = Calls()
    artist.call(dialog.deleteLater)
    assert spin_until(work) == threading.get_ident()
    assert main.blocked_by() is None


# -- a server inside the application ---------------------------------------------------------------


def test_a_server_answers_inside_a_qt_application(server: Callboard) -> None:
    def talk() -> int:
        with Client(server.url, server.token) as client:
            arguments = {"name": "scene__scene_info", "arguments": {}}
            info = client.request("tools/call", arguments)
            return int(info["structuredContent"]["object_count"])

    assert spin_while(talk) == 0


def test_an_idle_server_does_not_wake_the_application(server: Callboard) -> None:
    def connect() -> Client:
        return Client(server.url, server.token).__enter__()

    client = spin_while(connect)
    host = server.host
    assert isinstance(host, QtFakeHost)
    wakes: list[int] = []
    dispatcher = QAbstractEventDispatcher.instance()
    dispatcher.awake.connect(lambda: wakes.append(1))
    before = host.posts
    loop = QEventLoop()
    QTimer.singleShot(400, loop.quit)
    loop.exec_()
    dispatcher.awake.disconnect()
    # These few come from the test's own timer, and from Qt's own events when a loop starts.
    assert len(wakes) <= 5
    assert host.posts - before <= 1
    spin_while(lambda: client.__exit__(None, None, None))


def test_a_modal_dialog_leaves_the_protocol_alive(server: Callboard) -> None:
    artist = Calls()
    with modal("Unsaved changes") as dialog:

        def talk() -> tuple[int, RemoteError, int]:
            with Client(server.url, server.token) as client:
                assert client.request("ping", {}) == {}
                tools = len(client.request("tools/list", {})["tools"])
                create = {"name": "scene__create_primitive", "arguments": {"kind": "sphere"}}
                patience, server.dispatcher.default_timeout = server.dispatcher.default_timeout, 1.0
                with pytest.raises(RemoteError) as refused:
                    client.request("tools/call", create)
                server.dispatcher.default_timeout = patience
                assert client.request("ping", {}) == {}
                artist.call(dialog.accept)
                info = client.request("tools/call", {"name": "scene__scene_info", "arguments": {}})
                return tools, refused.value, info["structuredContent"]["object_count"]

        tools, refused, count = while_open(dialog, talk)
    assert tools > 5
    assert refused.code == HOST_BUSY
    assert "Unsaved changes" in refused.message
    assert refused.data is not None
    assert refused.data["blocked_by"] == "Unsaved changes"
    assert refused.data["stalled_ms"] > 250
    # The call that was answered with host_busy never runs, not even later.
    assert count == 0


def test_a_call_waits_for_a_short_dialog(server: Callboard) -> None:
    artist = Calls()
    with modal("Brief") as dialog:

        def talk() -> int:
            with Client(server.url, server.token) as client:
                artist.call(dialog.accept)
                call = {"name": "scene__create_primitive", "arguments": {"kind": "sphere"}}
                created = client.request("tools/call", call)
                assert "structuredContent" in created, created
                return len(created["structuredContent"]["created"])

        assert while_open(dialog, talk) == 1


# The exception that ends the tool may land in Qt's handler first. The handler prints the exception,
# and it is raised again.
@pytest.mark.qt_no_exception_capture
def test_a_tool_without_an_end_is_ended_though_it_runs_qts_loop(server: Callboard) -> None:
    def forever() -> None:
        while True:
            QApplication.processEvents()

    server.tools.register("forever", forever, "Never ends.", timeout_secs=1.0)

    def talk() -> object:
        with Client(server.url, server.token) as client:
            with pytest.raises(RemoteError):
                client.request("tools/call", {"name": "forever", "arguments": {}})

            def answered() -> object:
                # The tool is ended some time after its limit. Until then, the limits of other calls
                # pass too.
                with suppress(RemoteError):
                    asked = {"name": "scene__scene_info", "arguments": {}}
                    return client.request("tools/call", asked)
                return None

            return until(answered, "the main thread to be free again")

    assert spin_while(talk)


class CountingMainThread(QtMainThread):
    """Counts the events that Qt delivers to it."""

    delivered = 0

    def event(self, event: QEvent) -> bool:
        self.delivered += event.type() == QEvent.Type.User
        return super().event(event)


def test_each_posted_function_costs_qt_one_event(main: QtMainThread) -> None:
    """More events would hold up the interface, which waits for all of them."""
    thread = CountingMainThread()
    left = 50
    done: Future[None] = Future()

    def again() -> None:
        nonlocal left
        left -= 1
        if left:
            thread.post(again)
        else:
            done.set_result(None)

    try:
        thread.post(again)
        spin_until(done)
        QApplication.processEvents()
        assert thread.delivered == 50
    finally:
        thread.close()
