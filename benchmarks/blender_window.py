"""Tests Blender's real window for hours: three clients and an artist act at random, and memory is
measured.

    python benchmarks/blender_window.py fuzz [--seconds 1800] [--seed N]
    python benchmarks/blender_window.py opens [--seconds 600] [--seed N]
    python benchmarks/blender_window.py drags
    python benchmarks/blender_window.py memory [--seconds 3600] [--seed N] [--without]

``fuzz`` opens, asks, cancels, captures, renders, saves and undoes. In every other round the artist
leaves the objects as they are and each client works on its own, so the scene has to match the
answers. After each round, undo has to bring back the whole scene. ``opens`` has one client ask
and cancel while another opens a file. ``drags`` has a client delete what the artist drags, thirty
times, while other code reads the window's modal operators. ``memory`` makes a change each second
and prints a line of CSV every ten; ``--without`` does the same in Blender's own Python, without
callboard.

Needs Blender, Xvfb and xdotool; ``CALLBOARD_BLENDER_ROOM`` names another Blender's folder.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import window_clients
from window_clients import HANG, Agent, Window, Wrong, rig

#: The artist's keys, with one act on each line. ``>`` moves the mouse, ``!`` types a name, ``<``
#: clicks.
HARMLESS = (
    "g > > Escape",
    "r > Escape",
    "s > Escape",
    "F2 ! Escape Escape",
    "F12 > Escape",
    "shift+a Escape",
    "x Escape",
    "n",
    "F3 ! Escape",
)
CHANGING = (
    *HARMLESS,
    "g > Return",
    "r > Return",
    "F2 ! Return",
    "Tab",
    "Tab g > Return Tab",
    "ctrl+z",
    "ctrl+shift+z",
    "shift+d > Return",
    "x Return",
    "a",
    "> <",
    "new",
    "revert",
    "recover",
    "open",
)
#: The artist's own ways to open a different scene, by their names in the menus.
LOADS = {
    "new": "bpy.ops.wm.read_homefile(load_ui={ui})",
    "revert": "bpy.ops.wm.revert_mainfile()",
    "recover": "bpy.ops.wm.recover_last_session()",
    "open": "bpy.ops.wm.open_mainfile(filepath={path!r}, load_ui={ui})",
}
SETTINGS = """
bpy.context.preferences.view.render_display_type = "NONE"
bpy.context.preferences.view.show_splash = False
scene = bpy.context.scene
scene.render.engine = "CYCLES"
scene.render.resolution_x = scene.render.resolution_y = 64
scene.cycles.samples, scene.cycles.use_denoising = 16, False
"""
#: Everything in the scene that the clients' calls may change.
SCENE = """
def told(o):
    slots = [s.material for s in o.material_slots]
    colors = [[round(c, 4) for c in m.diffuse_color] for m in slots if m]
    mesh = [round(c, 4) for v in o.data.vertices for c in v.co] if o.type == "MESH" else None
    matrix = [round(c, 4) for row in o.matrix_world for c in row]
    parent = o.parent and o.parent.name
    return [o.type, matrix, parent, colors, mesh, [m.name for m in slots if m]]
bpy.context.view_layer.update()
answer = {o.name: told(o) for o in bpy.context.scene.objects}
answer["materials"] = sorted(m.name for m in bpy.data.materials if m.users)
answer["meshes"] = sorted(m.name for m in bpy.data.meshes if m.users)
"""
PLACES = "answer = {o.name: list(o.location) for o in bpy.context.scene.objects}"
#: Numbers in the order of ``COLUMNS``. Only the text of Blender's status bar says how much Blender
#: has allocated.
HELD = """
import re, sys
scene, units = bpy.context.scene, {"KiB": 1 / 1024, "MiB": 1, "GiB": 1024}
words = scene.statistics(scene.view_layers[0])
found = re.search(r"([0-9.]+) ([KMG]iB)", words)
own = float(found[1]) * units[found[2]] if found else -1
kinds = [bpy.data.objects, bpy.data.meshes, bpy.data.materials, bpy.data.images]
answer = [own, sys.getallocatedblocks(), *map(len, kinds)]
"""
COLUMNS = "seconds,MiB,Blender's MiB,Python's blocks,objects,meshes,materials,images,changes"
#: Seconds between two lines of ``memory``, and between two of its changes.
SAMPLE, PACE = 10.0, 1.0
#: Each of these frees more memory. Debian's Blender takes memory from TBB's allocator, which keeps
#: freed memory.
FREE = {
    "an empty file is loaded": "bpy.ops.wm.read_homefile(use_factory_startup=True, load_ui=False)",
    "Python collected": "import gc; gc.collect()",
    "the allocator emptied": """
import ctypes
ctypes.CDLL(None).malloc_trim(0)
try:
    ctypes.CDLL("libtbbmalloc.so.2").scalable_allocation_command(0, None)
except OSError:
    pass
""",
}


class BlenderAgent(Agent):
    saved = "saved.blend"
    asking: ClassVar = {"name": "script__execute", "arguments": {"code": "pass"}}

    def harmless(self) -> None:
        """Make a call that leaves the scene as it is: read, capture, render, save, or ask the
        artist and cancel."""
        act = self.chance.randrange(5)
        if act == 0:
            self.ask()
        elif act == 1:
            self.call("viewport__capture", width=32, height=32)
        elif act == 2 and self.chance.random() < 0.5:
            path = str(self.gui.folder / f"{self.letter}.png")
            self.call("render__still", path=path, width=16, height=16)
        elif act == 3:
            self.call("scene__save_file", path=str(self.gui.folder / f"{self.letter}.blend"))
        else:
            self.check()


def act(gui: rig.Gui, chance: random.Random, acts: tuple[str, ...]) -> None:
    for word in chance.choice(acts).split():
        if word == ">":
            place = chance.randint(60, 260), chance.randint(520, 700)
            gui.xdotool("mousemove", *map(str, place))
        elif word == "!":
            gui.xdotool("type", chance.choice(("cube", "ball", "lamp")))
        elif word == "<":
            gui.xdotool("click", "1")
        elif word in LOADS:
            let_go(gui)
            path = str(gui.folder / "saved.blend")
            load = LOADS[word].format(path=path, ui=chance.random() < 0.3)
            gui.run(f"try: {load}\nexcept RuntimeError: pass")
            gui.run(SETTINGS)
        else:
            gui.xdotool("key", word)
        gui.run("")


def let_go(gui: rig.Gui) -> None:
    for _ in range(3):
        gui.xdotool("key", "Escape")
        gui.run("")


def fresh(gui: rig.Gui, agents: Sequence[Agent]) -> None:
    """Have a client open the saved scene, after every drag in the window has ended."""
    path = str(gui.folder / "saved.blend")
    for _ in range(20):
        let_go(gui)
        if agents[0].call("scene__open_file", path=path, discard_changes=True) is not None:
            break
    else:
        raise Wrong("the scene can't be opened, although nothing is being dragged")
    gui.run(SETTINGS)
    for agent in agents:
        agent.forget()


def fuzz(gui: rig.Gui, seconds: float, seed: int) -> None:
    counted: Counter[str] = Counter()
    agents = [BlenderAgent(gui, x, random.Random(f"{seed} {x}"), counted) for x in "ABC"]
    artist = random.Random(f"{seed} artist")
    window = Window(
        gui,
        agents,
        act=lambda wild: act(gui, artist, CHANGING if wild else HARMLESS),
        let_go=lambda: let_go(gui),
        fresh=lambda: fresh(gui, agents),
        scene=SCENE,
        places=PLACES,
        saved=frozenset({"Camera", "Cube", "Light"}),
    )
    window_clients.fuzz(window, seconds, counted)


def opens(gui: rig.Gui, seconds: float, seed: int) -> None:
    counted: Counter[str] = Counter()
    asks, opener = (BlenderAgent(gui, x, random.Random(f"{seed} {x}"), counted) for x in "AB")
    end = time.monotonic() + seconds

    def ask() -> None:
        while time.monotonic() < end:
            asks.ask()

    join = rig.in_background(ask, seconds + HANG)
    path = str(gui.folder / "saved.blend")
    left, bottom, right, top = gui.run(HEADER)
    header = (left, SCREEN_HEIGHT - top, right, SCREEN_HEIGHT - bottom)
    display = gui.display
    assert isinstance(display, rig.Display)

    def marked() -> bool:
        return display.frame().red(header) is not None

    try:
        while time.monotonic() < end:
            opener.call("scene__open_file", path=path, discard_changes=True)
            if gui.process.poll() is not None:
                raise Wrong(f"Blender quit: {gui.output()}")
        join()
        gui.wait(lambda: not marked(), "a header without a question")
        opener.client.start("tools/call", opener.asking, id=1)
        gui.wait(marked, "a red mark")
        opener.client.notify("notifications/cancelled", {"requestId": 1})
        gui.wait(lambda: not marked(), "a header without a question, again")
    finally:
        for what, times in sorted(counted.items()):
            print(f"  {times:6} {what}")


#: The 3D view's header, in pixels from the window's lower left corner.
HEADER = """
area = next(a for a in bpy.context.window_manager.windows[0].screen.areas if a.type == "VIEW_3D")
at = next(r for r in area.regions if r.type == "HEADER")
answer = [at.x, at.y, at.x + at.width, at.y + at.height]
"""
SCREEN_HEIGHT = 800
#: Code like that of other add-ons.
READER = """
for window in bpy.context.window_manager.windows:
    read = [*getattr(window, "modal_operators", ())]
"""
WAITS = """
from callboard_blender import addon
calls = addon.residence.app.dispatcher.calls.values()
answer = [c.latest_progress[2] for c in calls if c.latest_progress[2]]
"""
DRAGS = 30
CHOSEN = """
cube = bpy.data.objects["Cube"]
cube.select_set(True)
bpy.context.view_layer.objects.active = cube
rest = cube.matrix_basis.copy()
"""
MOVED = "answer = bpy.data.objects['Cube'].matrix_basis != rest"


def drags(gui: rig.Gui, seconds: float, seed: int) -> None:
    chance, waited = random.Random(seed), 0
    agent = BlenderAgent(gui, "A", chance, Counter())
    for number in range(DRAGS):
        by_mouse = number % 2 == 1
        x, y = chance.randint(60, 200), chance.randint(520, 640)
        gui.run(CHOSEN)
        gui.xdotool("mousemove", str(x), str(y))
        if by_mouse:
            gui.xdotool("mousedown", "1")
        else:
            gui.xdotool("key", chance.choice("grs"))
        for step in range(1, 5):
            gui.run(READER)
            gui.xdotool("mousemove", str(x + 12 * step), str(y + 9 * step))
        gui.run(READER)
        if not by_mouse:
            # The key starts no drag if nothing is selected.
            gui.wait(lambda: gui.run(MOVED), "a drag that moves the cube")
        join = rig.in_background(lambda: agent.call("scene__delete", names=["Cube"]), HANG)
        words = gui.wait(lambda: gui.run(WAITS) or "Cube" not in gui.names(), "the call")
        waited += isinstance(words, list) and "Cube" in gui.names()
        print(f"{'mouse' if by_mouse else 'keys'}: {words}", flush=True)
        if by_mouse:
            gui.xdotool("mouseup", "1")
        else:
            gui.xdotool("key", "Escape")
        join()
        let_go(gui)
        agent.call("scene__undo")
        if "Cube" not in gui.names():
            fresh(gui, [agent])
    print(f"{waited} of {DRAGS} waited")


#: One step of ``memory``, written with Blender's own Python API.
PLAIN = """
import gpu
def plain_step(number, spot, path):
    scene = bpy.context.scene
    name = f"M {number - number % 4}"
    with artist():
        if number % 4 == 0:
            bpy.ops.mesh.primitive_cube_add(size=1, location=spot)
            bpy.context.object.name = name
        elif number % 4 == 1:
            bpy.data.objects[name].location = spot
            [(o.name, o.type, list(o.location)) for o in scene.objects]
        elif number % 4 == 2:
            material = bpy.data.materials.new("Color")
            material.diffuse_color = (1, 0, 0, 1)
            bpy.data.objects[name].data.materials.append(material)
        else:
            bpy.data.objects.remove(bpy.data.objects[name])
        bpy.ops.ed.undo_push(message="step")
        if number % 16 == 2:
            space, region = bpy.context.area.spaces.active, bpy.context.region
            view = space.region_3d
            offscreen = gpu.types.GPUOffScreen(64, 64)
            offscreen.draw_view3d(scene, bpy.context.view_layer, space, region, view.view_matrix,
                                  view.window_matrix)
            offscreen.texture_color.read()
            offscreen.free()
        elif number % 16 == 6:
            kept = scene.render.resolution_x, scene.render.resolution_y, scene.render.filepath
            scene.render.resolution_x = scene.render.resolution_y = 16
            scene.render.filepath = path
            bpy.ops.render.render(write_still=True)
            scene.render.resolution_x, scene.render.resolution_y, scene.render.filepath = kept
"""


def memory(gui: rig.Gui, seconds: float, seed: int, without: bool) -> None:
    """Print the process's own memory as CSV. At the end, free memory step by step, and print
    the figure after each step."""
    counted: Counter[str] = Counter()
    chance = random.Random(seed)
    agent = None if without else BlenderAgent(gui, "M", chance, counted)
    gui.run(PLAIN)
    began, next_line, number = time.monotonic(), 0.0, 0
    print(COLUMNS, flush=True)

    def line() -> None:
        held = gui.run(HELD)
        cells = [time.monotonic() - began, anonymous(gui.process.pid) / 2**20, *held, number]
        print(",".join(f"{cell:.1f}" for cell in cells), flush=True)

    while (now := time.monotonic() - began) < seconds:
        if now >= next_line:
            line()
            next_line += SAMPLE
        spot = [round(chance.uniform(-3, 3), 3) for _ in range(3)]
        if agent is None:
            gui.run(f"plain_step({number}, {spot}, {str(gui.folder / 'still.png')!r})")
        else:
            mixed(agent, number, spot)
        number += 1
        time.sleep(max(0.0, began + number * PACE - time.monotonic()))
    line()
    for what, code in FREE.items():
        print(f"# {what}")
        gui.run(code)
        line()
    for what, times in sorted(counted.items()):
        print(f"# {times:6} {what}")


def mixed(agent: Agent, number: int, spot: list[float]) -> None:
    name = f"M {number - number % 4}"
    if number % 4 == 0:
        agent.call("scene__create_primitive", kind="cube", name=name, translate=spot)
    elif number % 4 == 1:
        agent.call("scene__transform", name=name, translate=spot)
        agent.call("scene__list_objects")
    elif number % 4 == 2:
        agent.call("scene__set_material_color", name=name, color=[1, 0, 0])
        if number % 16 == 2:
            agent.call("viewport__capture", width=64, height=64)
            agent.ask()
        elif number % 16 == 6:
            path = str(agent.gui.folder / "still.png")
            agent.call("render__still", path=path, width=16, height=16)
    else:
        agent.call("scene__delete", names=[name])


def anonymous(pid: int) -> int:
    """Return the process's own memory in bytes, without libraries and mapped files (Linux)."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Anonymous:"):
            return int(line.split()[1]) * 1024
    raise LookupError("Anonymous")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("fuzz", "opens", "drags", "memory"))
    parser.add_argument("--seconds", type=float, default=1800.0)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--without", action="store_true", help="without callboard")
    arguments = parser.parse_args()
    if reason := rig.missing():
        print(reason)
        return 1
    where = f"{rig.ROOM}/tmp" if rig.ROOM else None
    with (
        tempfile.TemporaryDirectory(dir=where) as folder,
        rig.screen() as display,
        rig.blender_gui(Path(folder) / "window", display) as gui,
    ):
        rig.install(gui, rig.build_addon(Path(folder)))
        if not arguments.without:
            gui.enable()
            gui.run(rig.PERMIT)
            gui.run("controls.set_consent_policy('script', 'ask')")
        gui.run(SETTINGS)
        gui.run(f"bpy.ops.wm.save_as_mainfile(filepath={str(gui.folder / 'saved.blend')!r})")
        version = gui.run("answer = bpy.app.version_string")
        print(f"# Blender {version}, seed {arguments.seed}, {arguments.seconds:g} s", flush=True)
        try:
            if arguments.what == "memory":
                memory(gui, arguments.seconds, arguments.seed, arguments.without)
            else:
                globals()[arguments.what](gui, arguments.seconds, arguments.seed)
        except BaseException:
            print(gui.output())
            raise
        print("alive")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
