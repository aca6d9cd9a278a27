"""The self-test in Maya, Houdini and 3ds Max: on an ordinary double, and on a double that has the
faults that live reports found in the application. The self-test reports each fault, and the adapter
either keeps working or refuses with an explanation."""

from __future__ import annotations

import asyncio
import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from needed import need

need("qt")

from qt_plugin_rigs import RIGS, Rig, new_rig
from qt_rig import application, in_thread, spin_until
from qtpy.QtCore import QTimer
from qtpy.QtWidgets import QApplication, QMainWindow, QMessageBox

from callboard.selftest.doubles_data import for_doubles
from callboard.selftest.page import page

# Each self-test waits for what the application may do late.
pytestmark = pytest.mark.slow

#: The delay, in seconds, of a late report of an undo.
LATE = 0.4


@pytest.fixture(params=RIGS)
def rig(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Rig]:
    made: Rig = new_rig(request.param, tmp_path, monkeypatch)
    made.load()
    window = QMainWindow()
    window.resize(400, 300)
    window.show()
    yield made
    made.session.harden()
    window.close()
    made.unload()


def report(rig: Rig, *only: str) -> Any:
    """Run the checks with these names, while the application handles its events."""
    server = rig.plug_in.server
    assert server is not None
    running = server.controls.self_test.run(discard=True, only=only)
    events = QTimer()
    events.timeout.connect(lambda: _turn(rig))
    events.start(20)
    try:
        return spin_until(asyncio.run_coroutine_threadsafe(running, server.guest.loop))
    finally:
        events.stop()


def _turn(rig: Rig) -> None:
    rig.session.handle_events(LATE)
    if hasattr(rig.session, "turn"):
        rig.session.turn()


def faults(told: Any) -> str:
    return "\n".join(fault for check in told["checks"] for fault in check["faults"])


def test_a_double_as_it_is_passes(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    # This must hold however busy the machine is.
    for limit in ("SLOW", "REPORTED"):
        monkeypatch.setattr(f"callboard.selftest.checks.{limit}", 2.5)
    told = report(rig, "plug_ins", "primitives", "undo_reports", "captures", "renderers", "menus")
    assert faults(told) == ""
    assert for_doubles(told)["switches"] == {
        "blank_views": False,
        "blank_when_hidden": False,
        "late_notices": False,
        "plug_ins_missing": bool(for_doubles(told)["switches"]["plug_ins_missing"]),
        "cook_seconds": 0,
        "native_dialog": False,
    }
    assert "works" in page(told, "")


def test_files_go_out_and_come_back_as_the_first_act(rig: Rig) -> None:
    told = report(rig, "exchange")
    assert faults(told) == ""
    assert told["first_act"] is True
    (exchange,) = [each for each in told["checks"] if each["name"] == "exchange"]
    assert exchange["good"]


def test_a_dialog_and_playback_are_waited_out(rig: Rig) -> None:
    told = report(rig, "dialog", "playback")
    assert faults(told) == ""
    by_name = {check["name"]: check for check in told["checks"]}
    assert by_name["dialog"]["data"]["held_by"] == "Self-test"
    assert by_name["playback"]["data"]["calls"] > 0


def test_blank_captures_are_named(rig: Rig) -> None:
    rig.session.blank_views = True
    told = report(rig, "captures")
    assert "viewport, window as it was: the view's picture is black all over" in faults(told)
    assert for_doubles(told)["switches"]["blank_views"] is True


def test_hidden_windows_are_named(rig: Rig) -> None:
    rig.session.blank_when_hidden = True
    told = report(rig, "captures")
    assert "window as it was" not in faults(told)
    for state in ("covered", "minimized"):
        assert f"viewport, window {state}: the view's picture is black" in faults(told)
    assert for_doubles(told)["switches"]["blank_when_hidden"] is True
    assert for_doubles(told)["switches"]["blank_views"] is False


def test_late_reports_of_an_undo_are_named(rig: Rig) -> None:
    rig.session.late_notices = True
    told = report(rig, "undo_reports")
    assert "the artist's undo is reported late" in faults(told)
    assert for_doubles(told)["switches"]["late_notices"] is True
    # Our own undos don't depend on the report.
    assert "undo" not in faults(report(rig, "primitives"))


MISSING = {"maya": "fbxmaya", "houdini": "ifd opengl", "3dsmax": "fbx"}
WORDS = {"maya": "fbx isn't here", "houdini": "no Mantra", "3dsmax": "fbx isn't here"}


def test_missing_plug_ins_are_named(rig: Rig) -> None:
    kind = rig.plug_in.server.host.identity.kind if rig.plug_in.server else ""
    rig.session.not_installed.update(MISSING[kind].split())
    told = report(rig, "exchange", "renderers")
    absent = "\n".join(each for check in told["checks"] for each in check["absent"])
    assert WORDS[kind] in absent + faults(told)


def test_long_cooks_are_named(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("callboard.selftest.checks.SLOW", 0.05)
    rig.session.cook_seconds = 0.1
    told = report(rig, "primitives")
    assert "cube: making it held the main thread for 0." in faults(told)


def test_a_native_dialog_is_named_and_ends_the_self_test(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("callboard.selftest.trial.PATIENCE", 3.0)
    enabled = SimpleNamespace(IsWindowEnabled=lambda window: int(not rig.session.native_dialog))
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(user32=enabled), raising=False)

    def opened() -> None:
        rig.session.native_dialog = True
        if rig.session.__module__.startswith("maya"):
            rig.session.tell("condition", "busy", True)

    QTimer.singleShot(100, opened)
    told = report(rig, "playback", "primitives", "menus")
    assert "the host is busy (" in faults(told)
    assert for_doubles(told)["switches"]["native_dialog"] is True
    (menus,) = [each for each in told["checks"] if each["name"] == "menus"]
    assert menus["absent"][0].startswith("not reached: the host is busy")


@pytest.mark.parametrize("answer", [True, False])
def test_the_menu_asks_before_it_starts(
    rig: Rig, answer: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("callboard.selftest.self_test.CHECKS", ())
    opened: list[str] = []
    monkeypatch.setattr(
        "qtpy.QtGui.QDesktopServices.openUrl", lambda url: opened.append(url.toString())
    )
    asked: list[str] = []

    def press() -> None:
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox)
        asked.append(box.text())
        box.button(
            QMessageBox.StandardButton.Yes if answer else QMessageBox.StandardButton.No
        ).click()

    QTimer.singleShot(0, press)
    rig.choose("self_test")
    assert "replaces the scene with an empty one" in asked[0]
    if answer:
        spin_until(in_thread(lambda: _wait(lambda: opened)))
        assert opened[0].endswith(".html")
    application().processEvents()
    assert bool(opened) is answer


def _wait(condition: Callable[[], object]) -> None:
    from waiting import until

    until(condition, "the report")
