"""The large panel as a window of Blender's process, by mouse and keyboard."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callboard.errors import CAPABILITY_MISSING, REFUSED_BY_ARTIST
from callboard_testing.fake_client import FakeClient
from hosts.blender_gui_rig import Gui, blender_gui, install, missing
from needed import need

if reason := missing():
    pytest.skip(reason, allow_module_level=True)
need("qt")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

#: The folder of this Python's Qt, which any newer Python can load.
SITE = sysconfig.get_path("platlib")
#: The windows are side by side, because there is no window manager here.
BLENDER = ("--window-geometry", "0", "0", "800", "700")
PANEL = "820, 20, 440, 700"
#: Distances from the sidebar's upper corners: its tab, and a button in it.
TAB, OPEN = (-14, 174), (90, 98)
ADDON = "callboard_addon"

RESIDENCE = "from callboard_blender.addon import residence\n"
LEFT_BEHIND = """
import sys, threading
from pathlib import Path
def files():
    for each in Path("/proc/self/fd").iterdir():
        try: yield str(each.readlink())
        except OSError: pass
handlers = [getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers)]
# Qt can't be loaded twice, so it stays, and with it qtpy, which changes its classes.
stays = "callboard_vendor.qtpy"
names = [n for n in sys.modules if n.startswith("callboard") and not n.startswith(stays)]
tasks = [task.joinpath("comm").read_text().strip() for task in Path("/proc/self/task").iterdir()]
answer = {
    "modules": sorted(set(names) - {"callboard_vendor"}),
    "threads": sorted(thread.name for thread in threading.enumerate()),
    "qt": [name for name in tasks if name.startswith("QXcb")],
    "sockets": len([name for name in files() if name.startswith("socket")]),
    "handlers": sum(len(found) for found in handlers if isinstance(found, list)),
    "timer": tick is not None and bpy.app.timers.is_registered(tick),
    "path": list(sys.path),
}
"""


@pytest.fixture
def fresh(blender_archive: Path, display: str, tmp_path: Path) -> Iterator[Gui]:
    """Yield a Blender with the add-on installed but not yet enabled. This Blender has no Qt."""
    with blender_gui(tmp_path, display, *BLENDER) as gui:
        install(gui, blender_archive)
        gui.run("import sys\ntick = None")
        yield gui


@pytest.fixture
def gui(fresh: Gui) -> Gui:
    """Yield a Blender with Qt and a server."""
    fresh.run(f"sys.path.append({SITE!r})")
    fresh.enable()
    return fresh


def opened(gui: Gui) -> None:
    """Wait for the window."""
    gui.wait(
        lambda: gui.run(f"{RESIDENCE}answer = bool(residence.window and residence.window.panel)"),
        "window",
    )


def open_by_mouse(gui: Gui) -> None:
    """Open the panel through the sidebar."""
    gui.run(
        "window = bpy.context.window_manager.windows[0]\n"
        "view = next(a for a in window.screen.areas if a.type == 'VIEW_3D')\n"
        "view.spaces.active.show_region_ui = True\n"
        # The panel is drawn when its tab is in front.
        "seen = []\n"
        "class CALLBOARD_PT_seen(bpy.types.Panel):\n"
        "    bl_label, bl_space_type, bl_region_type = 'Seen', 'VIEW_3D', 'UI'\n"
        "    bl_category, bl_order = 'Callboard', 99\n"
        "    def draw(self, context): seen.append(1)\n"
        "bpy.utils.register_class(CALLBOARD_PT_seen)"
    )
    handle = (
        "region = next(r for r in view.regions if r.type == 'UI')\n"
        "answer = region.width > 1 and [region.x, region.x + region.width,"
        " region.y + region.height]"
    )
    left, right, top = gui.wait(lambda: gui.run(handle), "sidebar")
    top = 800 - top
    gui.click_until("bool(seen)", right + TAB[0], top + TAB[1])
    gui.run(RESIDENCE)
    gui.click_until("residence.window is not None", left + OPEN[0], top + OPEN[1])
    opened(gui)
    gui.run(f"panel = residence.window.panel\npanel.setGeometry({PANEL})")
    gui.run("bpy.utils.unregister_class(CALLBOARD_PT_seen)")


def turn_to(gui: Gui, tab: int) -> None:
    bar = "panel.tabs.tabBar()"
    at = f"p = {bar}.mapToGlobal({bar}.tabRect({tab}).center())\nanswer = [p.x(), p.y()]"
    gui.click(*gui.run(at))
    gui.wait(lambda: gui.run(f"answer = panel.tabs.currentIndex() == {tab}"), "tab")


def switch(gui: Gui, capability: str) -> None:
    """Click a capability's box in the list."""
    box = (
        "tab = panel.capabilities\n"
        f"index = tab.model.find({capability!r}, {{}})\n"
        "area = tab.view.visualRect(index)\n"
        "area.setWidth(18)\n"
        "p = tab.view.viewport().mapToGlobal(area.center())\n"
        "answer = [p.x(), p.y()] if index.isValid() else None"
    )
    group = "Code" if capability.startswith("script") else "Scene"
    gui.click(*gui.wait(lambda: gui.run(box.format(repr(group))), capability))


def create(client: FakeClient) -> Any:
    """Return the error's code, or None if there is no error."""
    params = {"name": "scene__create_primitive", "arguments": {"kind": "cube"}}
    return client.request("tools/call", params).get("error", {}).get("code")


def test_what_the_artist_clicks_holds_for_clients(gui: Gui, tmp_path: Path) -> None:
    open_by_mouse(gui)
    with gui.client() as client:
        client.listen()
        withdraw_and_restore(gui, client)
        add_a_root(gui, client, tmp_path / "shots")
        allow_once_then_refuse(gui, client)
    assert "Traceback" not in gui.output()


def withdraw_and_restore(gui: Gui, client: FakeClient) -> None:
    turn_to(gui, 2)
    switch(gui, "scene.mutate")
    client.wait_for("notifications/tools/list_changed")
    assert create(client) == CAPABILITY_MISSING
    switch(gui, "scene.mutate")
    client.wait_for("notifications/tools/list_changed", 2)
    assert create(client) is None


def add_a_root(gui: Gui, client: FakeClient, folder: Path) -> None:
    folder.mkdir()
    turn_to(gui, 1)
    gui.press("panel.roots.add")
    dialog = "from PySide6.QtWidgets import QFileDialog\ndialog = panel.findChild(QFileDialog)\n"
    shown = f"{dialog}answer = dialog is not None and dialog.isVisible() and int(dialog.winId())"
    window = gui.wait(lambda: gui.run(shown), "dialog")
    gui.xdotool("windowfocus", "--sync", str(window))
    gui.xdotool("type", str(folder))
    typed = f"answer = dialog.selectedFiles() == [{str(folder)!r}]"
    gui.wait(lambda: gui.run(typed), "what was typed")
    gui.xdotool("key", "Return")
    gui.wait(lambda: gui.run(f"{dialog}answer = dialog is None"), "end of the dialog")
    leads = "answer = panel.roots.workspace.toolTip()"
    gui.wait(lambda: str(folder) in gui.run(leads), "workspace")
    saved = client.call("scene__save_file", {"path": "workspace://kept.blend"})
    assert saved["structuredContent"]["path"] == str(folder / "kept.blend")
    assert (folder / "kept.blend").is_file()


def allow_once_then_refuse(gui: Gui, client: FakeClient) -> None:
    turn_to(gui, 2)

    def ask(name: str) -> Any:
        arguments = {"code": f"bpy.data.objects['Camera'].name = {name!r}"}
        return client.start("tools/call", {"name": "script__execute", "arguments": arguments})

    first = ask("Allowed")
    gui.wait(lambda: gui.run("answer = panel.banner.button.isVisible()"), "question")
    gui.press("panel.banner.button")
    gui.press("panel.consent.cards.cards[0].once")
    gui.wait(first.done, "answer")
    assert "error" not in first.result(), first.result()
    assert "Allowed" in gui.names()
    second = ask("Refused")
    gui.press("panel.consent.cards.cards[0].refuse")
    gui.wait(second.done, "answer")
    assert second.result()["error"]["code"] == REFUSED_BY_ARTIST
    assert "Refused" not in gui.names()


def test_without_qt_or_what_it_needs_the_sidebar_says_what_to_do(fresh: Gui) -> None:
    fresh.enable()
    text = fresh.run(
        "try:\n    bpy.ops.callboard.window()\nexcept RuntimeError as error: answer = str(error)"
    )
    assert "light bundle, without Qt" in text
    words = "From 6.5.0, xcb-cursor0 or libxcb-cursor0 is needed"
    stand_in = f"import os, sys\\nsys.stderr.write({words!r})\\nsys.stderr.flush()\\nos.abort()"
    fresh.run(
        "import os, zipfile\n"
        f"folder = sys.modules['{ADDON}'].__path__[0] + '/wheels'\nos.mkdir(folder)\n"
        "name = folder + '/pyside6-1-cp310-abi3-manylinux_2_34_' + os.uname().machine + '.whl'\n"
        "with zipfile.ZipFile(name, 'w') as wheel:\n"
        "    wheel.writestr('PySide6/__init__.py', '')\n"
        f"    wheel.writestr('PySide6/QtWidgets.py', \"{stand_in}\")"
    )
    fresh.run("bpy.ops.callboard.window()")
    problem = f"{RESIDENCE}answer = residence.window.problem"
    assert "Install the package libxcb-cursor0" in fresh.wait(
        lambda: fresh.run(problem), "the message of the problem"
    )
    fresh.run(f"sys.path.append({SITE!r})\nbpy.ops.callboard.window()")
    opened(fresh)


def test_a_full_bundle_brings_qt(fresh: Gui, tmp_path: Path) -> None:
    from build_blender import QT
    from build_library import OLDEST_PYTHON
    from build_requirements import BuildError, targets, wheels

    try:
        carried = wheels(QT, targets(OLDEST_PYTHON)[0])
    except BuildError as error:
        pytest.skip(str(error))
    folder = Path(fresh.run(f"import {ADDON}\nanswer = {ADDON}.__path__[0]")) / "wheels"
    folder.mkdir()
    for wheel in carried:
        (folder / wheel.name).symlink_to(wheel)
    # The second time, Qt is already loaded, but it is no longer on Python's path.
    for _ in range(2):
        fresh.enable()
        fresh.run("path = list(sys.path)\nbpy.ops.callboard.window()")
        opened(fresh)
        brought = Path(fresh.run("answer = sys.modules['PySide6'].__file__"))
        assert tmp_path / "callboard" / "cache" / "qt" in brought.parents
        fresh.run(f"bpy.ops.preferences.addon_disable(module='{ADDON}')")
        assert fresh.run("answer = [each for each in sys.path if each not in path]") == []


@pytest.mark.parametrize(
    "order",
    # Each comes first once, and before and after each other one.
    [("close", "disable", "quit"), ("disable", "quit", "close"), ("quit", "close", "disable")],
    ids="-".join,
)
def test_closing_disabling_and_quitting_in_any_order(
    fresh: Gui, order: tuple[str, ...], tmp_path: Path
) -> None:
    fresh.run(f"sys.path.append({SITE!r})")
    acts = {
        "close": "panel.isVisible() and panel.close()\n",
        "disable": f"bpy.ops.preferences.addon_disable(module='{ADDON}')\n",
        "quit": "bpy.ops.wm.quit_blender()\n",
    }
    # The first time, Qt allocates memory that it never frees.
    begin(fresh)
    fresh.run(acts["disable"] + "import gc; gc.collect()")
    before = fresh.run(LEFT_BEHIND)
    assert before["modules"] == [ADDON]
    for _ in range(2):
        begin(fresh)
        for act in order:
            if act != "quit":
                fresh.run(f"try:\n    {acts[act]}except RuntimeError: pass  # Qt deleted it")
        assert fresh.run(LEFT_BEHIND) == before
    assert list((tmp_path / "callboard" / "instances").iterdir()) == []
    begin(fresh)
    fresh.send("".join(f"try:\n    {acts[act]}except RuntimeError: pass\n" for act in order))
    assert fresh.process.wait(60) == 0, fresh.output()
    assert "Traceback" not in fresh.output()
    assert list(tmp_path.glob("*.crash.txt")) == []
    assert list((tmp_path / "callboard" / "instances").iterdir()) == []


def begin(gui: Gui) -> None:
    gui.enable()
    gui.run(f"{RESIDENCE}tick = residence._inbox._tick\nbpy.ops.callboard.window()")
    opened(gui)
    gui.run("panel = residence.window.panel\ndel residence")
