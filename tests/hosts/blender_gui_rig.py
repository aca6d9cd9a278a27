"""Blender's real user interface on a separate screen, with the add-on installed from its archive.

The artist's actions are code that the test's timer runs inside Blender, or keys and the mouse.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from blender_program import blender_environment
from callboard_testing.fake_client import FakeClient
from hosts.screen_frame import Frame, read_frame
from needed import missing as not_here
from waiting import until

#: A chroot folder with its own system and another Blender to test instead. Temporary folders have
#: to be in it.
ROOM = os.environ.get("CALLBOARD_BLENDER_ROOM", "").rstrip("/")
#: The room's programs, and a place in it for shaders.
IN_ROOM = {
    "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
    "MESA_SHADER_CACHE_DIR": "/var/cache/mesa",
}
#: Maximum seconds for any step, on a busy machine that draws without a graphics card.
DEADLINE = 120.0
#: Seconds after which a click is considered lost.
_AGAIN = 3.0
#: Without a graphics card a large window takes half a second to draw.
_SMALL = ("--window-geometry", "0", "0", "480", "360")
#: Blender counts rows from the bottom of the screen, but the X server counts them from the top.
OVER_THE_VIEW = ("150", "600")

_DRIVER = """
import contextlib, faulthandler, json, os, signal, sys, traceback
import bpy

faulthandler.enable()  # says on which lines it ends
faulthandler.register(signal.SIGUSR1)  # says on which lines it hangs

folder = sys.argv[-1]
# In a small window the splash screen covers everything, and takes the keys.
bpy.context.preferences.view.show_splash = False
# Without a graphics card, smooth edges take most of the time in which the window is drawn.
bpy.context.preferences.system.viewport_aa = "OFF"
names = {"bpy": bpy}

@contextlib.contextmanager
def artist():
    "The 3D view, as operators expect it."
    window = bpy.context.window_manager.windows[0]
    area = next(a for a in window.screen.areas if a.type == "VIEW_3D")
    region = next(r for r in area.regions if r.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        yield

names["artist"] = artist

def middle(widget):
    "Where on the screen to click a widget of Qt's, once it can be clicked."
    if widget is None or not widget.isVisible() or not widget.isEnabled():
        return None
    if not hasattr(widget, "visibleRegion") or widget.visibleRegion().isEmpty():
        return None
    at = widget.mapToGlobal(widget.visibleRegion().boundingRect().center())
    return at.x(), at.y()

names["middle"] = middle

def act():
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".py"):
            continue
        path = os.path.join(folder, name)
        with open(path) as file:
            code = file.read()
        os.remove(path)
        names.pop("answer", None)
        try:
            exec(code, names)
            outcome = {"value": names.get("answer")}
        except BaseException:
            outcome = {"error": traceback.format_exc()}
        with open(path + ".part", "w") as file:
            json.dump(outcome, file)
        os.replace(path + ".part", path + ".json")
    return 0.01

bpy.app.timers.register(act, persistent=True)

@bpy.app.handlers.persistent
def drawable(*_):
    "Without a graphics card, Eevee of Blender 4.2 and later draws one picture for minutes."
    for scene in bpy.data.scenes:
        if "NEXT" in scene.render.engine or bpy.app.version >= (5, 0):
            scene.render.engine = "CYCLES"
            scene.cycles.samples, scene.cycles.use_denoising = 16, False

bpy.app.handlers.load_post.append(drawable)
"""

#: Lets agents run scripts and write anywhere without asking.
PERMIT = """
from callboard_blender import addon
controls = addon.residence.app.controls
controls.restore("script.execute")
controls.set_consent_policy("script", "allow")
controls.set_consent_policy("outside_roots", "allow")
"""


def render(size: int) -> str:
    """Return code that starts a render as F12 does, but in the background, without opening a
    window. ``size`` is in pixels."""
    return f"""
s = bpy.context.scene
s.render.engine = "CYCLES"
s.render.resolution_x = s.render.resolution_y = {size}
s.cycles.samples, s.cycles.use_denoising = 256, False
bpy.context.preferences.view.render_display_type = "NONE"
with artist():
    bpy.ops.render.render("INVOKE_DEFAULT")
"""


def missing() -> str | None:
    """Return the reason why these tests can't run here, or None."""
    if ROOM and not (Path(ROOM) / "usr/bin/blender").is_file():
        return f"there is no Blender in {ROOM}"
    for program in ("Xvfb", "xdotool", *([] if ROOM else ["blender"])):
        if (reason := not_here(program)) is not None:
            return reason
    return None


def _blender() -> list[str]:
    """Return the command that starts Blender, in ``ROOM`` if that is set. Files in the room have
    the same paths inside and outside, because the room has a link to itself under its own name."""
    if not ROOM:
        return ["blender"]
    itself = Path(ROOM + ROOM)
    itself.parent.mkdir(parents=True, exist_ok=True)
    if not itself.is_symlink():
        itself.symlink_to("/")
    return ["chroot", ROOM, "blender"]


class Gui:
    """One Blender. Call ``run`` from one thread at a time."""

    def __init__(self, process: subprocess.Popen[str], folder: Path, display: str) -> None:
        self.process = process
        self.display = display
        self.folder = folder
        self._count = 0

    def run(self, code: str, seconds: float = DEADLINE) -> Any:
        """Run code inside Blender, in a timer. Return the value that it leaves in ``answer``."""
        done = self.send(code)
        self.wait(done.exists, f"an answer to {code!r}", seconds)
        outcome = json.loads(done.read_text("utf-8"))
        assert "error" not in outcome, outcome["error"]
        return outcome["value"]

    def wait(self, condition: Callable[[], Any], what: str, seconds: float = DEADLINE) -> Any:
        """Wait for the condition while Blender is running."""

        def outcome_now() -> Any:
            outcome = condition()
            if not outcome and self.process.poll() is not None:
                raise AssertionError(f"Blender ended: {self.output()}")
            return outcome

        return until(outcome_now, lambda: f"{what}: {self.stacks()}", seconds=seconds)

    def stacks(self) -> str:
        """Return Blender's output, and the lines that its threads are running."""
        self.process.send_signal(signal.SIGUSR1)
        with suppress(TimeoutError):
            until(lambda: "most recent call first" in self.output(), "", seconds=_AGAIN)
        return self.output()

    def output(self) -> str:
        """Return the end of what Blender printed, or what it printed when it crashed."""
        text = (self.folder / "blender.txt").read_text("utf-8", "replace")
        crash = text.find("Fatal Python error")
        return text[-3000:] if crash < 0 else text[crash:][:9000]

    def key(self, *keys: str) -> None:
        """Press keys over the middle of the window."""
        self.xdotool("mousemove", *OVER_THE_VIEW, *(part for key in keys for part in ("key", key)))

    def click(self, x: int, y: int) -> None:
        """Click as an artist does: move the mouse there, then press."""
        self.xdotool("mousemove", "--sync", str(x), str(y))
        for _ in range(2):
            self.run("")  # Give Blender and Qt time to notice where the mouse is.
        self.xdotool("click", "1")

    def click_until(self, outcome: str, x: int, y: int) -> None:
        """Click until the outcome is true. Blender ignores clicks while it redraws, and doesn't
        report when it is done."""

        def clicked() -> bool:
            self.click(x, y)
            with suppress(TimeoutError):
                return bool(until(lambda: self.run(f"answer = {outcome}"), "", seconds=_AGAIN))
            return False

        until(clicked, f"{outcome}, by clicking", seconds=DEADLINE)

    def press(self, widget: str) -> None:
        """Click the Qt widget that the expression names, once it exists."""
        find = f"try: answer = middle({widget})\nexcept (IndexError, AttributeError): answer = 0"
        at = self.wait(lambda: self.run(find), widget)
        self.click(*at)

    def xdotool(self, *words: str) -> None:
        environment = {**os.environ, "DISPLAY": self.display}
        subprocess.run(["xdotool", *words], check=True, env=environment)

    def send(self, code: str) -> Path:
        """Have Blender run code, which may end Blender. Return the path of the outcome."""
        self._count += 1
        path = self.folder / "driver" / f"{self._count:06}.py"
        partial = path.with_suffix(".new")
        partial.write_text(code, "utf-8")
        partial.replace(path)
        return path.with_name(path.name + ".json")

    def enable(self) -> None:
        """Enable the add-on and wait until it is serving."""
        self.run("bpy.ops.preferences.addon_enable(module='callboard_addon')")
        served = "from callboard_blender import addon\nanswer = addon.residence.app is not None"
        self.wait(lambda: self.run(served), "server")

    def client(self) -> FakeClient:
        url, token = self.run(
            "from callboard_blender import addon\n"
            "answer = [addon.residence.app.url, addon.residence.app.token]"
        )
        return FakeClient(url, token)

    def names(self) -> list[str]:
        """Return the names of the scene's objects as Blender itself reports them."""
        names: list[str] = self.run("answer = sorted(o.name for o in bpy.context.scene.objects)")
        return names


class Display(str):
    """The name of a display."""

    def __new__(cls, name: str, folder: Path) -> Display:
        self = super().__new__(cls, name)
        self.folder = folder
        return self

    #: The folder in which Xvfb keeps its screen.
    folder: Path

    def frame(self) -> Frame:
        """Return the display's current picture."""
        return read_frame(self.folder / "Xvfb_screen0")


@contextmanager
def screen() -> Iterator[Display]:
    """Run our own X server."""
    reading, writing = os.pipe()
    folder = tempfile.mkdtemp()
    process = subprocess.Popen(
        [
            *("Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x800x24"),
            *("-nolisten", "tcp", "-fbdir", folder),
        ],
        pass_fds=[writing],
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    try:
        with os.fdopen(reading) as pipe:
            number = pipe.readline().strip()
        assert number, "Xvfb did not start"
        yield Display(f":{number}", Path(folder))
    finally:
        process.terminate()
        process.wait(DEADLINE)
        shutil.rmtree(folder)


@contextmanager
def blender_gui(folder: Path, display: str, *arguments: str) -> Iterator[Gui]:
    """Run Blender with factory settings and its folders below ``folder``."""
    (folder / "driver").mkdir(parents=True)
    (folder / "driver.py").write_text(_DRIVER, "utf-8")
    environment = {
        **blender_environment(),
        **(IN_ROOM if ROOM else {}),
        "DISPLAY": display,
        "LIBGL_ALWAYS_SOFTWARE": "1",
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "CALLBOARD_HOME": str(folder / "callboard"),
        "BLENDER_USER_CONFIG": str(folder / "config"),
        "BLENDER_USER_SCRIPTS": str(folder / "scripts"),
    }
    for name in ("XDG_CONFIG_HOME", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        environment.pop(name, None)
    (folder / "scripts" / "addons").mkdir(parents=True)
    with (folder / "blender.txt").open("w") as output:
        process = subprocess.Popen(
            [
                *(*_blender(), "--factory-startup", *_SMALL, *arguments),
                *("--python", str(folder / "driver.py"), "--", str(folder / "driver")),
            ],
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
        )
    try:
        yield Gui(process, folder, display)
    finally:
        process.kill()
        process.wait(DEADLINE)


def build_addon(out: Path) -> Path:
    """Build the archive for Blender 3.4 to 4.1. Raises BuildError."""
    packaging = str(Path(__file__).parents[2] / "packaging")
    if packaging not in sys.path:
        sys.path.append(packaging)
    from build_blender import build_legacy

    return build_legacy(out)


def install(gui: Gui, archive: Path) -> None:
    """Install the archive with Blender's own operator."""
    gui.run(f"bpy.ops.preferences.addon_install(filepath={str(archive)!r}, overwrite=True)")


def unpack(gui: Gui, archive: Path) -> None:
    """Put the add-on where ``install`` puts it. The tests share its folder and don't change it, so
    Blender compiles the add-on only once."""
    shared = archive.with_suffix("")
    if not shared.exists():
        shutil.unpack_archive(archive, shared)
    (addon,) = shared.iterdir()
    (gui.folder / "scripts" / "addons" / addon.name).symlink_to(addon)


def in_background(work: Callable[[], None], seconds: float = DEADLINE) -> Callable[[], None]:
    """Run ``work`` in a thread. Return a function that waits for its end and raises its
    exception."""
    failed: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def join() -> None:
        thread.join(seconds)
        assert not thread.is_alive(), "the work in the background did not end"
        if failed:
            raise failed[0]

    return join
