"""The panel inside Maya, Houdini and 3ds Max: findings from FreeCAD's real window, on the
doubles."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from needed import need

need("qt")

from qt_plugin_rigs import RIGS, Rig, new_rig
from qt_rig import Calls, application, in_thread, spin_while
from qtpy.QtCore import Qt
from qtpy.QtTest import QTest
from qtpy.QtWidgets import QApplication, QWidget

from callboard.errors import HOST_BUSY, HOST_OFFLINE, REFUSED_BY_ARTIST
from callboard_programs.client import Client, RemoteError
from callboard_ui.panel import Panel
from callboard_ui.theme import LEGIBLE
from ui.legible_text import HOSTS, least, palette
from waiting import DEADLINE, until

CREATE = {"name": "scene__create_primitive", "arguments": {"kind": "cube"}}


@pytest.fixture(params=RIGS)
def rig(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Rig]:
    made: Rig = new_rig(request.param, tmp_path, monkeypatch)
    made.load()
    before = application().palette()
    yield made
    application().setPalette(before)
    made.unload()


@pytest.fixture
def server(rig: Rig) -> Any:
    return rig.plug_in.server


def opened(rig: Rig) -> tuple[QWidget, Panel]:
    """Open the panel. Return the window or dock that it is in, and the panel."""
    rig.choose("open")
    (window,) = rig.panels()
    window.window().show()  # in 3ds Max the dock is in the application's window
    window.resize(420, 640)
    window.show()
    panel = window.findChild(Panel)
    assert isinstance(panel, Panel)
    return window, panel


def refused_call(client: Client, call: dict[str, Any]) -> RemoteError:
    with pytest.raises(RemoteError) as refused:
        client.request("tools/call", call)
    return refused.value


def test_a_change_waits_while_a_mouse_button_is_held(rig: Rig, server: Any) -> None:
    server.dispatcher.default_timeout = 1.0
    view, artist = QWidget(), Calls()
    view.show()
    QTest.mousePress(view.windowHandle(), Qt.MouseButton.LeftButton)
    assert QApplication.mouseButtons() == Qt.MouseButton.LeftButton

    def talk() -> RemoteError:
        with Client(server.url, server.token) as client:
            client.request("tools/call", {"name": "scene__scene_info", "arguments": {}})
            refused = refused_call(client, CREATE)
            artist.call(lambda: QTest.mouseRelease(view.windowHandle(), Qt.MouseButton.LeftButton))
            client.request("tools/call", CREATE)
        return refused

    refused = spin_while(talk)
    assert refused.code == HOST_BUSY
    assert "mouse button" in str(refused)
    assert rig.objects() == [rig.cube]
    view.deleteLater()


def test_a_question_comes_back_when_its_dock_goes(rig: Rig, server: Any) -> None:
    window, panel = opened(rig)
    server.controls.set_consent_policy("destructive", "ask")
    artist, seen = Calls(), []

    def act(*acts: Any) -> None:
        """Do this as the artist, and record afterwards whether the notice is shown."""

        def then() -> None:
            for each in acts:
                each()
            application().processEvents()
            seen.append(panel.notice.isVisible())

        count = len(seen)
        artist.call(then)
        until(lambda: len(seen) > count, "the artist's act")

    def asked(shown: bool) -> None:
        def as_wanted() -> bool:
            act()
            return seen[-1] == shown

        until(as_wanted, f"a notice {shown}")

    def talk() -> RemoteError:
        with Client(server.url, server.token) as client:
            client.request("tools/call", CREATE)
            delete = {"name": "scene__delete", "arguments": {"name": rig.cube}}
            call = in_thread(lambda: refused_call(client, delete))
            status = server.controls.status
            until(lambda: status.snapshot.questions, "the question")
            asked(False)
            act(window.hide)
            asked(True)
            act(window.show)
            asked(False)
            server.controls.answer(status.snapshot.questions[0].id, "refuse")
            return call.result(DEADLINE)

    assert spin_while(talk).code == REFUSED_BY_ARTIST


@pytest.mark.parametrize(
    "rig",
    ["maya", *(pytest.param(name, marks=pytest.mark.sweep) for name in ("houdini", "3dsmax"))],
    indirect=True,
)
@pytest.mark.parametrize("sheet", ["", "QWidget { color: #555555; background-color: #505050; }"])
def test_the_panel_is_readable_on_the_applications_palette(
    rig: Rig, server: Any, sheet: str
) -> None:
    names = {"MayaRig": "maya", "HoudiniRig": "houdini", "MaxRig": "3ds max dark"}
    application().setPalette(palette(HOSTS[names[type(rig).__name__]]))
    window, panel = opened(rig)
    # The panel scrolls, and only the visible part is measured.
    window.window().resize(900, 900)
    window.setStyleSheet(sheet)

    def served() -> None:
        with Client(server.url, server.token) as client:
            client.request("tools/call", CREATE)

    spin_while(served)
    texts = least(panel)
    assert len(texts) > 20
    assert texts[0][0] >= LEGIBLE, texts[:3]


def test_clients_hear_that_the_application_is_closing(rig: Rig, server: Any) -> None:
    artist = Calls()
    rig.begin("open")

    def talk() -> RemoteError:
        with Client(server.url, server.token) as client:

            def quit_once_it_waits() -> None:
                if server.dispatcher.calls:
                    rig.quit()
                else:
                    artist.call(quit_once_it_waits)

            artist.call(quit_once_it_waits)
            return refused_call(client, CREATE)

    refused = spin_while(talk)
    assert refused.code == HOST_OFFLINE
    assert "the application is closing" in str(refused)
