"""Takes the pictures of Blender's window: session.gif with one short session, window.png with the
sidebar while a client asks to run code, question.png with its pop-up, and panel.png with the large
panel beside Blender.

    python docs/blender/make_pictures.py

Needs Blender 3.4, Xvfb, xdotool, the extra ``ui``, and Pillow for the moving picture.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

PROJECT = Path(__file__).resolve().parents[2]
for source in ("core", "hosts", "tests", "packaging"):
    sys.path.insert(0, str(PROJECT / source))

from callboard_testing.fake_client import FakeClient  # noqa: E402
from hosts.blender_gui_rig import (  # noqa: E402
    Display,
    Gui,
    blender_gui,
    build_addon,
    install,
    screen,
)

#: Side by side on the rig's screen of 1280 x 800.
BLENDER = ("--window-geometry", "0", "0", "780", "800")
WINDOW = ("--window-geometry", "0", "0", "1100", "700")
#: The same on the screen, which begins at its top; and where the view's header is.
ALL, HEADER = (0, 100, 1100, 800), (0, 125, 400, 155)
PANEL = "780, 0, 500, 800"
#: From the upper right corner of the sidebar.
TAB = (-14, 174)
CODE = """import math

ring = bpy.data.collections.new("Ring")
bpy.context.scene.collection.children.link(ring)
for number in range(12):
    angle = 2 * math.pi * number / 12
    bpy.ops.mesh.primitive_cube_add(
        size=0.5, location=(4 * math.cos(angle), 4 * math.sin(angle), 0)
    )
"""
WORK = (
    ("scene__list_objects", {}),
    ("scene__delete", {"names": ["Cube"]}),
    ("scene__create_primitive", {"kind": "sphere", "name": "Ball", "radius": 1.2}),
    ("scene__set_material_color", {"name": "Ball", "color": [0.75, 0.02, 0.02]}),
    ("scene__create_primitive", {"kind": "plane", "name": "Floor", "width": 8, "depth": 8}),
    ("scene__transform", {"name": "Floor", "translate": [0, 0, -1.2]}),
)


def agent(gui: Gui) -> FakeClient:
    """A client with a name that one knows."""
    client = gui.client()
    params = {
        "protocolVersion": client.revision,
        "capabilities": {},
        "clientInfo": {"name": "claude-code", "version": "2.0"},
    }
    answer = client.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
    client.headers["Mcp-Session-Id"] = answer.headers["mcp-session-id"]
    client.notify("notifications/initialized")
    return client


def main() -> None:
    qt = find_spec("PySide6")
    if qt is None or qt.origin is None:
        raise SystemExit("PySide6 is not installed")
    with tempfile.TemporaryDirectory() as folder, screen() as display:
        archive = build_addon(Path(folder))
        with blender_gui(Path(folder) / "plain", display, *WINDOW) as gui:
            install(gui, archive)
            gui.enable()
            window_pictures(gui, display)
        with blender_gui(Path(folder) / "gui", display, *BLENDER) as gui:
            install(gui, archive)
            gui.run(f"import sys\nsys.path.append({str(Path(qt.origin).parents[1])!r})")
            gui.enable()
            picture(gui, Path(__file__).with_name("panel.png"))


def show_tab(gui: Gui) -> None:
    """Opens the sidebar's tab."""
    region = "region = next(r for r in view.regions if r.type == 'UI')\n"
    corner = (
        f"{region}answer = region.width > 1 and [region.x + region.width, region.y + region.height]"
    )
    right, top = gui.wait(lambda: gui.run(corner), "sidebar")
    gui.click(right + TAB[0], 800 - top + TAB[1])


def window_pictures(gui: Gui, display: Display) -> None:
    folder = Path(__file__).parent
    gui.run(
        "from callboard_blender.addon import residence\n"
        "window = bpy.context.window_manager.windows[0]\n"
        "view = next(a for a in window.screen.areas if a.type == 'VIEW_3D')\n"
        "view.spaces.active.show_region_ui = True\n"
        "view.spaces.active.shading.color_type = 'MATERIAL'\n"
        "residence.app.controls.restore('script.execute')"
    )
    show_tab(gui)
    frames = []

    def take(caption: str) -> None:
        for _ in range(20):
            gui.run("")
        frames.append((caption, display.frame().png(ALL)))

    client = agent(gui)
    try:
        gui.xdotool("mousemove", "420", "600")
        take("An AI client is connected to Blender.")
        for tool, arguments in WORK:
            client.call(tool, dict(arguments))
        gui.run("bpy.ops.object.select_all(action='DESELECT')")
        take("“Put a red ball on a floor.” Each change is one undo step.")
        for _ in range(2):
            gui.run("bpy.ops.ed.undo()")
        take("Ctrl+Z twice: the floor is gone, and the ball stays.")
        for _ in range(2):
            gui.run("bpy.ops.ed.redo()")
        params = {"name": "script__execute", "arguments": {"code": CODE}}
        asking = client.start("tools/call", params)
        mark = gui.wait(lambda: display.frame().red(HEADER), "the mark")
        gui.xdotool("mousemove", "420", "600")
        for _ in range(20):
            gui.run("")
        take("The client wants to run a script. Blender asks you first.")
        write_picture(folder / "window.png", frames[-1][1])
        open_popup = "residence._host.may_run('change') is not None"
        gui.click_until(open_popup, (mark[0] + mark[2]) // 2, (mark[1] + mark[3]) // 2)
        for _ in range(20):
            gui.run("")
        take("You read the code, then allow or refuse it.")
        write_picture(folder / "question.png", frames[-1][1])
        gui.run("bpy.ops.callboard.stop()")
        gui.wait(asking.done, "answer")
        write_session(folder / "session.gif", frames)
    finally:
        client.close()


def write_picture(path: Path, data: bytes) -> None:
    """Write a PNG with 256 colors, which is half as large."""
    Image.open(io.BytesIO(data)).convert("RGB").quantize(256).save(path, optimize=True)


def write_session(path: Path, frames: Sequence[tuple[str, bytes]]) -> None:
    """One frame for each (caption, PNG), three seconds each, 800 pixels wide."""
    font = ImageFont.truetype("DejaVuSans.ttf", 20)
    images = []
    for number, (caption, data) in enumerate(frames, 1):
        shot = Image.open(io.BytesIO(data)).convert("RGB")
        image = Image.new("RGB", (800, 800 * shot.height // shot.width + 40), "white")
        image.paste(shot.resize((800, image.height - 40), Image.Resampling.LANCZOS))
        text = f"{number}. {caption}"
        ImageDraw.Draw(image).text((12, image.height - 32), text, fill="black", font=font)
        images.append(image.quantize(128))
    images[0].save(path, save_all=True, append_images=images[1:], duration=3000, loop=0)


def picture(gui: Gui, path: Path) -> None:
    gui.run(
        "from callboard_blender.addon import residence\n"
        "window = bpy.context.window_manager.windows[0]\n"
        "view = next(a for a in window.screen.areas if a.type == 'VIEW_3D')\n"
        "view.spaces.active.show_region_ui = True\n"
        "view.spaces.active.shading.color_type = 'MATERIAL'\n"
        "bpy.ops.callboard.window()"
    )
    gui.wait(lambda: gui.run("answer = residence.window.panel is not None"), "window")
    gui.run(
        f"residence.app.controls.restore('script.execute')\nresidence.window.panel.setGeometry({PANEL})"
    )
    show_tab(gui)
    client = agent(gui)
    try:
        for tool, arguments in WORK:
            client.call(tool, dict(arguments))
        arguments = {"code": CODE}
        asking = client.start("tools/call", {"name": "script__execute", "arguments": arguments})
        gui.press("residence.window.panel.banner.button")
        gui.press("residence.window.panel.consent.cards.cards[0].text")
        settled = "answer = residence.window.panel.consent.cards.cards[0].once.isEnabled()"
        gui.wait(lambda: gui.run(settled), "card")
        gui.xdotool("mousemove", "420", "600")
        gui.run("bpy.ops.object.select_all(action='DESELECT')")
        gui.run("residence.window.panel.setFocus()")
        gui.wait(lambda: gui.run("answer = not residence.snapshot.stalled_ms"), "rest")
        gui.run(
            "from PySide6.QtWidgets import QApplication\n"
            f"QApplication.primaryScreen().grabWindow(0).save({str(path)!r})"
        )
        write_picture(path, path.read_bytes())
        gui.press("residence.window.panel.consent.cards.cards[0].refuse")
        gui.wait(asking.done, "answer")
    finally:
        client.close()


if __name__ == "__main__":
    main()
