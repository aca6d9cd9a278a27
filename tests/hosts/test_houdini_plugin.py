"""Tests specific to Houdini's package. The rest is in ``test_qt_plugins.py``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from needed import need

need("qt")

from qt_plugin_rigs import HoudiniRig, new_rig

from waiting import until


@pytest.fixture(autouse=True)
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HoudiniRig]:
    made: HoudiniRig = new_rig("houdini", tmp_path, monkeypatch)
    yield made
    made.unload()


def test_every_python_of_houdinis_gets_the_same_file(rig: HoudiniRig) -> None:
    files = sorted(rig.package.glob("python3.*libs/uiready.py"))
    assert [file.parent.name for file in files] == [
        "python3.10libs",
        "python3.11libs",
        "python3.13libs",
    ]
    assert len({file.read_bytes() for file in files}) == 1


def test_a_new_file_keeps_the_server_and_its_messages(rig: HoudiniRig) -> None:
    rig.load()
    server: Any = rig.plug_in.server
    heard: list[str] = []
    stop = server.host.watch(heard.append)
    rig.hou.hipFile.clear(suppress_save_prompt=True)
    assert heard == ["project"]
    rig.hou.node("/obj").createNode("geo")
    assert heard == ["project", "scene"]
    stop()


def test_nothing_runs_behind_a_message_window_of_houdinis_own(rig: HoudiniRig) -> None:
    from PySide6.QtWidgets import QApplication, QWidget

    rig.load()
    server: Any = rig.plug_in.server
    now = [0.0]
    loop = server.host._own_loop
    loop._clock = lambda: now[0]
    # The loop has never answered, so its silence means nothing.
    now[0] += 3600
    assert server.host.may_run("change") is None
    rig.session.turn()
    assert server.host.may_run("change") is None
    rig.session.turn()
    window = QWidget()
    window.setWindowTitle("Save changes to untitled.hip?")
    rig.session.native_dialog = True
    window.show()
    window.activateWindow()
    until(lambda: QApplication.processEvents() or rig.session.deferred, "Houdini to be asked")
    # Qt's events are handled all the time, and there is no modal widget.
    assert QApplication.activeModalWidget() is None
    rig.session.turn()
    held = "Houdini's window 'Save changes to untitled.hip?'"
    until(lambda: QApplication.processEvents() or server.host.may_run("read") == held, held)
    assert server.host.may_run("change") is not None
    for _ in range(100):
        server.host.may_run("change")
    assert len(rig.session.deferred) <= 2
    window.close()
    rig.session.native_dialog = False
    rig.session.turn()
    assert server.host.may_run("change") is None
    window.deleteLater()


def test_a_long_cook_is_no_message_window(rig: HoudiniRig) -> None:
    from PySide6.QtWidgets import QApplication

    rig.load()
    server: Any = rig.plug_in.server
    now = [0.0]
    loop = server.host._own_loop
    loop._clock = lambda: now[0]
    rig.session.turn()
    assert server.host.may_run("read") is None
    # The cook held up both Houdini's loop and Qt's. Afterwards, Qt's loop runs first.
    now[0] += 3600
    assert server.host.may_run("change") is None
    rig.session.turn()
    QApplication.processEvents()
    assert server.host.may_run("change") is None


def test_preferences_that_can_not_be_read_are_none(rig: HoudiniRig, tmp_path: Path) -> None:
    (tmp_path / "callboard.json").write_text("[1, 2", encoding="utf-8")
    assert rig.plug_in.options.port == 0
    assert rig.plug_in.options.autostart
    rig.plug_in.options.port = 8123
    assert rig.plug_in.options.port == 8123
