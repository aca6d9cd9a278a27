"""The bundle inside a 3ds Max with windows: a real QApplication around the double."""

from __future__ import annotations

import re
import runpy
import sys
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

from max_rig import BUNDLE, REAL, new_max, pymxs

if REAL:
    pytest.skip("3dsmaxbatch has no windows", allow_module_level=True)

import qtmax
from pymxs._session import session
from qt_rig import Calls, application, in_thread, spin_until, spin_while
from qtpy.QtWidgets import QApplication, QDialog, QDockWidget, QLabel

from callboard.errors import HOST_BUSY
from callboard.testing.compliance import Bench, Check, checks
from callboard.transport.client import Client, RemoteError
from callboard_max import options, plugin
from callboard_max.host import MaxHost
from callboard_qt.main_thread import QtMainThread
from callboard_qt.residence import Residence

rt = pymxs.runtime

MACROS = (BUNDLE / "Contents/macroscripts/callboard.mcr").read_text(encoding="utf-8")
MENUS = {
    year: (BUNDLE / f"Contents/menus/callboard_menu_{year}.ms").read_text(encoding="utf-8")
    for year in (2024, 2025)
}


@pytest.fixture(autouse=True)
def windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    application()
    new_max(windows=True)


@pytest.fixture
def loaded() -> Iterator[None]:
    runpy.run_path(str(BUNDLE / "Contents/startup/callboard_startup.py"))
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


def macros() -> dict[str, str]:
    """The Python that each macro runs, by its name."""
    found = re.findall(r'macroScript (\w+)\n.*?python\.Execute "(.*?)"', MACROS, re.DOTALL)
    return dict(found)


def menu(name: str) -> None:
    """What 3ds Max does when that entry is chosen."""
    exec(macros()[name], {})


def ours() -> list[tuple[str, Any, str]]:
    return [each for each in session.callbacks if each[2].startswith("callboard")]


# -- the bundle ---------------------------------------------------------------------------------


def test_the_bundle_names_files_that_are_there() -> None:
    package = ET.parse(BUNDLE / "PackageContents.xml").getroot()
    for needed in ("UpgradeCode", "ProductCode", "AppVersion", "Name"):
        assert package.get(needed), needed
    parts = [
        (components.get("Description"), entry.get("ModuleName"))
        for components in package.iter("Components")
        for entry in components.iter("ComponentEntry")
    ]
    assert [description for description, _ in parts] == [
        "macroscripts parts",
        "pre-start-up scripts parts",
        "post-start-up scripts parts",
        "post-start-up scripts parts",
    ]
    for _, module in parts:
        assert module is not None
        assert (BUNDLE / module).is_file(), module
    assert all(each.get("SeriesMax") for each in package.iter("RuntimeRequirements"))


@pytest.mark.parametrize("year", [2024, 2025])
def test_both_menus_offer_every_macro_once(year: int) -> None:
    offered = re.findall(r'"(Callboard[A-Z]\w*)(?:`Callboard)?"', MENUS[year])
    assert offered == list(macros())


def test_the_menus_guids_are_their_own() -> None:
    guids = re.findall(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", MENUS[2025])
    assert len(guids) == len(set(guids)) == len(macros()) + 2


# -- the contract, on Qt's own loop -------------------------------------------------------------


@pytest.mark.parametrize("check", list(checks()), ids=lambda check: check.id)
def test_compliance_on_qts_loop(check: Check, tmp_path: Path) -> None:
    main = QtMainThread()
    host = MaxHost(main.post, main.blocked_by)
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


def test_it_serves_once_the_windows_are_there(server: Any) -> None:
    def talk() -> dict[str, Any]:
        with Client(server.url, server.token) as client:
            create = {"name": "scene__create_primitive", "arguments": {"kind": "cube"}}
            client.request("tools/call", create)
            picture = {"name": "viewport__capture", "arguments": {"width": 32, "height": 16}}
            return client.request("tools/call", picture)

    answer = spin_while(talk)
    assert answer["content"][0]["type"] == "image"
    assert [str(node.name) for node in rt.objects] == ["Cube"]
    assert [label for label, _ in session.undo] == ["Callboard: scene__create_primitive"]


def test_nothing_is_left_after_the_unload() -> None:
    for _ in range(3):
        plugin.load()
        plugin.load()
        assert len(watchers()) == 1
        assert ours()
        plugin.unload()
        plugin.unload()
        session.unloaded = True
        assert watchers() == []
        assert ours() == []
        # Whatever 3ds Max still does, nothing of ours hears of it.
        rt.resetMaxFile(rt.Name("noPrompt"))
        session.unloaded = False


def test_quitting_3ds_max_stops_the_server(server: Any) -> None:
    session.tell("preSystemShutdown")
    assert watchers() == []
    assert plugin.running_session() is None
    assert ours() == []


@pytest.mark.parametrize("kind", ["batch", "render node"])
def test_without_an_artist_nothing_starts(kind: str) -> None:
    new_max(windows=kind != "batch")
    session.render_node = kind == "render node"
    plugin.load()
    assert plugin.running_session() is None
    assert watchers() == []


def test_the_start_up_script_finds_its_own_modules_last(loaded: None) -> None:
    assert sys.path[-1] == str(BUNDLE.resolve() / "Contents/python")


# -- the menu and the panel ---------------------------------------------------------------------


def test_the_menu_stops_starts_and_copies(server: Any) -> None:
    menu("CallboardCopyUrl")
    assert QApplication.clipboard().text() == server.url
    menu("CallboardStop")
    assert watchers() == []
    menu("CallboardCopyUrl")
    assert "isn't running" in session.prompts[-1]
    menu("CallboardStart")
    assert len(watchers()) == 1
    assert "serves at" in session.prompts[-1]


def test_autostart_is_the_artists_choice(loaded: None) -> None:
    menu("CallboardAutostart")
    plugin.unload()
    plugin.load()
    assert watchers() == []
    menu("CallboardAutostart")
    assert options.option(options.AUTOSTART, 0) == 1


def test_a_port_that_is_taken_is_said_and_leaves_nothing(server: Any) -> None:
    options.set_option(options.PORT, int(server.url.split(":")[2].split("/")[0]))
    other = Residence(MaxHost, lambda: options.option(options.PORT, 0))
    with pytest.raises(OSError):
        other.start()
    assert other.server is None
    assert len(watchers()) == 1


def test_the_panel_docks_once_and_follows_the_server(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As in a bundle without the panel.
    monkeypatch.setitem(sys.modules, "callboard_ui", None)
    menu("CallboardOpen")
    menu("CallboardOpen")
    (dock,) = qtmax.GetQMaxMainWindow().findChildren(QDockWidget)
    assert session.accelerators_off == [dock.widget()]

    def words() -> str:
        label = dock.widget().layout().itemAt(0).widget()
        assert isinstance(label, QLabel)
        return label.text()

    assert "isn't installed" in words()
    menu("CallboardStop")
    assert "isn't running" in words()
    menu("CallboardStart")
    assert "isn't installed" in words()


# -- what 3ds Max is busy with ------------------------------------------------------------------


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

    outcome = in_thread(talk)
    dialog.exec_()
    refused = spin_until(outcome)
    assert refused.code == HOST_BUSY
    assert refused.data is not None
    assert refused.data["blocked_by"] == "Save changes?"
    dialog.deleteLater()


def test_renders_and_files_are_told(server: Any) -> None:
    host = server.host
    assert host.blocked_by() is None
    session.tell("preRender")
    assert host.blocked_by() == "rendering"
    session.tell("filePreOpen")
    assert host.blocked_by() == "opening a scene"
    session.tell("fileOpenFailed")
    assert host.blocked_by() == "rendering"
    session.tell("postRender")
    assert host.blocked_by() is None


def test_skills_of_3ds_max_are_loaded_and_scripts_are_off(server: Any) -> None:
    def talk() -> tuple[set[str], Any]:
        with Client(server.url, server.token) as client:
            tools = client.request("tools/list", {})["tools"]
            prompts = client.request("prompts/list", {})["prompts"]
            call = {"name": "script__execute", "arguments": {"code": "rt.frameRate"}}
            with pytest.raises(RemoteError, match=r"script\.execute"):
                client.request("tools/call", call)
            server.capabilities.restore("script.execute")
            value = client.request("tools/call", call)["structuredContent"]["value"]
            return {found["name"] for found in [*tools, *prompts]}, value

    names, value = spin_while(talk)
    assert value == 30
    assert {"max_modifiers__add_modifier", "max-modifiers.review_stack"} <= names
    assert "max-modifiers.bent_panel" in names


def test_the_workflow_builds_what_it_says(server: Any) -> None:
    def talk() -> Any:
        with Client(server.url, server.token) as client:

            def call(tool: str, **arguments: Any) -> Any:
                asked = {"name": tool, "arguments": arguments}
                return client.request("tools/call", asked)["structuredContent"]

            run = call("workflows__run", name="max-modifiers.bent_panel", inputs={"angle": 30})
            end = monotonic() + 20
            while (found := call("workflows__status", run_id=run["job_id"]))["status"] == "running":
                assert monotonic() < end, found
            return found

    found = spin_while(talk)
    assert found["status"] == "completed", found
    stack = rt.getNodeByName("Panel").modifiers
    assert [str(rt.classOf(modifier)) for modifier in stack] == ["Bend", "Shell"]
    assert stack[0].BendAngle == 30
