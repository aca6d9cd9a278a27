"""Takes the pictures of the sidebar: with no client, with one, while a call runs, while one asks,
and after changes by two clients; and sidebar-VERSION.png, which shows them side by side.

    python docs/blender/make_sidebar.py FOLDER

Needs Blender, Xvfb, xdotool and Pillow; ``CALLBOARD_BLENDER_ROOM`` names another Blender's folder.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

PROJECT = Path(__file__).resolve().parents[2]
for source in ("core", "hosts", "tests", "packaging"):
    sys.path.insert(0, str(PROJECT / source))

from callboard_testing.fake_client import FakeClient  # noqa: E402
from hosts.blender_gui_rig import (  # noqa: E402
    PERMIT,
    ROOM,
    Gui,
    blender_gui,
    build_addon,
    install,
    screen,
)

WINDOW = ("--window-geometry", "0", "0", "1100", "700")
#: The same on the screen, which begins at its top.
ALL = (0, 100, 1100, 800)
#: The tab from the sidebar's upper right corner.
TAB = (-14, 174)
SHOWN = """
from callboard_blender.addon import residence
window = bpy.context.window_manager.windows[0]
view = next(a for a in window.screen.areas if a.type == "VIEW_3D")
view.spaces.active.show_region_ui = True
view.spaces.active.shading.color_type = "MATERIAL"
"""
#: The sidebar's top and bottom on the window's picture, and the order of the states.
SIDEBAR = (84, 628)
STATES = ("idle", "connected", "running", "asked", "changed")
#: A tool that runs until it is cancelled.
SLOW = """
from callboard_blender import addon

def bake():
    while True:
        yield

addon.residence.app.tools.register("bake__normals", bake, "Bakes.", title="Bake normals")
"""


def agent(gui: Gui, name: str) -> FakeClient:
    client = gui.client()
    params = {
        "protocolVersion": client.revision,
        "capabilities": {},
        "clientInfo": {"name": name, "version": "2.0"},
    }
    answer = client.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
    client.headers["Mcp-Session-Id"] = answer.headers["mcp-session-id"]
    client.notify("notifications/initialized")
    return client


def open_tab(gui: Gui) -> None:
    """Open the sidebar's tab, by its name where Blender knows how, and otherwise by a click."""
    gui.run(
        "drawn, region = [], next(r for r in view.regions if r.type == 'UI')\n"
        "bpy.types.CALLBOARD_PT_main.append(lambda *_: drawn.append(1))"
    )
    corner = "answer = region.width > 1 and [region.x + region.width, region.y + region.height]"
    right, top = gui.wait(lambda: gui.run(corner), "sidebar")
    if gui.run("answer = bpy.app.version >= (4, 2)"):
        gui.run("region.active_panel_category = 'Callboard'\nview.tag_redraw()")
        gui.wait(lambda: gui.run("answer = bool(drawn)"), "the tab")
    else:
        gui.click_until("bool(drawn)", right + TAB[0], 800 - top + TAB[1])


def pictures(gui: Gui, display: Any, folder: Path, version: str) -> None:
    def take(name: str) -> None:
        gui.xdotool("mousemove", "420", "600")
        gui.wait(lambda: gui.run("answer = not residence.snapshot.stalled_ms"), "rest")
        for _ in range(20):
            gui.run("")
        (folder / f"sidebar-{name}-{version}.png").write_bytes(display.frame().png(ALL))

    def done(client: FakeClient, tool: str, **arguments: Any) -> None:
        answer = client.call(tool, arguments)
        assert not answer.get("isError"), answer

    take("idle")
    claude, cursor = agent(gui, "claude-code"), agent(gui, "cursor")
    try:
        done(claude, "scene__list_objects")
        cursor.close()
        take("connected")
        cursor = agent(gui, "cursor")
        done(cursor, "scene__create_primitive", kind="sphere", name="Ball", radius=1.2)
        done(claude, "scene__set_material_color", name="Ball", color=[0.75, 0.02, 0.02])
        done(claude, "scene__create_primitive", kind="plane", name="Floor", width=8, depth=8)
        done(claude, "scene__transform", name="Floor", translate=[0, 0, -1.2])
        gui.run("bpy.ops.object.select_all(action='DESELECT')")
        take("changed")
        gui.run(SLOW)
        running = claude.start("tools/call", {"name": "bake__normals", "arguments": {}})
        gui.wait(
            lambda: gui.run("answer = bool(residence.snapshot.calls)") or running.done(), "call"
        )
        assert not running.done(), running.result()
        take("running")
        gui.run("residence.app.controls.cancel(residence.snapshot.calls[0].id)")
        gui.wait(running.done, "answer")
        gui.run("residence.app.controls.set_consent_policy('script', 'ask')")
        code = "import math\nfor number in range(12):\n    bpy.ops.mesh.primitive_cube_add()"
        params = {"name": "script__execute", "arguments": {"code": code}}
        claude.start("tools/call", params, id=9)
        gui.wait(lambda: gui.run("answer = bool(residence.snapshot.questions)"), "question")
        take("asked")
        claude.notify("notifications/cancelled", {"requestId": 9})
    finally:
        claude.close()
        cursor.close()


def side_by_side(folder: Path, version: str, left: int, right: int) -> None:
    wide, high = right - left, SIDEBAR[1] - SIDEBAR[0]
    strip = Image.new("RGB", ((wide + 8) * len(STATES) - 8, high), "white")
    for number, name in enumerate(STATES):
        shot = Image.open(folder / f"sidebar-{name}-{version}.png").convert("RGB")
        strip.paste(shot.crop((left, SIDEBAR[0], right, SIDEBAR[1])), (number * (wide + 8), 0))
    strip.quantize(64).save(folder / f"sidebar-{version}.png", optimize=True)


def main() -> None:
    where = f"{ROOM}/tmp" if ROOM else None
    out = Path(sys.argv[1])
    with tempfile.TemporaryDirectory(dir=where) as folder, screen() as display:
        archive = build_addon(Path(folder))
        with blender_gui(Path(folder) / "window", display, *WINDOW) as gui:
            gui.run("", 600)
            install(gui, archive)
            gui.enable()
            gui.run(SHOWN + PERMIT)
            version = gui.run("answer = '%d.%d' % bpy.app.version[:2]")
            open_tab(gui)
            try:
                pictures(gui, display, out, version)
                place = gui.run("answer = [region.x, region.x + region.width]")
                side_by_side(out, version, *place)
            except BaseException:
                print(gui.output())
                raise


if __name__ == "__main__":
    main()
