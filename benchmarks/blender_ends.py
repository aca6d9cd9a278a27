"""Measures how quickly a call that doesn't end can be stopped in Blender's real window.

    python benchmarks/blender_ends.py [--hold loop …] [--way escape …]

A loop, an operator that loops, a sleep, a render by a tool and a render by a script are each
stopped by Escape (held by xdotool), by ``callboard stop``, by the end of the client's session and
by the limit of 30 s. Columns: seconds until the client was answered and until the window was
redrawn with the change undone, the answer, how long a second client waited before it was refused
because the host was busy (the first time, and later), and how late a thread that only sleeps was
woken, in this program and inside Blender.

Needs Blender, Xvfb and xdotool; ``CALLBOARD_BLENDER_ROOM`` names another Blender's folder.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
for source in ("core", "hosts", "tests", "packaging"):
    sys.path.insert(0, str(PROJECT / source))

from callboard.errors import HOST_BUSY  # noqa: E402
from callboard_testing import fake_client  # noqa: E402
from callboard_testing.fake_client import FakeClient  # noqa: E402
from hosts import blender_gui_rig as rig  # noqa: E402
from waiting import until  # noqa: E402

fake_client.DEADLINE = 120.0
OPERATOR = """
class CALLBOARD_OT_endless(bpy.types.Operator):
    bl_idname, bl_label = "callboard.endless", "Endless"
    def execute(self, context):
        while True:
            pass
bpy.utils.register_class(CALLBOARD_OT_endless)
bpy.ops.callboard.endless()
"""
#: Renders for hours.
SETTINGS = """
s = bpy.context.scene
s.render.engine = "CYCLES"
s.cycles.samples, s.cycles.use_denoising, s.cycles.use_adaptive_sampling = 10**6, False, False
s.render.resolution_x = s.render.resolution_y = 512
bpy.context.preferences.view.render_display_type = "NONE"
"""
#: A thread in Blender that only sleeps, and writes how late it was woken.
SLEEPER = """
if "sleeper" not in globals():
    import threading, time
    def sleeper():
        with open({path!r}, "a", buffering=1) as file:
            while True:
                began = time.perf_counter()
                time.sleep(0.01)
                file.write(f"{{time.time()}} {{time.perf_counter() - began - 0.01}}\\n")
    threading.Thread(target=sleeper, daemon=True).start()
"""
HOLDS = {
    "loop": "while True: pass",
    "operator": OPERATOR,
    "sleep": "import time; time.sleep(600)",
    "render__still": "",
    "render in a script": "bpy.ops.render.render()",
}
WAYS = ("escape", "stop", "session", "limit")
#: Seconds that each way of stopping may take beyond the call's limit, and the limit itself.
PATIENCE, LIMIT = 20.0, 30.0
RENDERS = "answer = bpy.app.is_job_running('RENDER')"
FREE = f"{RENDERS}\nanswer = not answer and bpy.data.objects['Cube'].location.x == 0"


class Beside:
    """A second client, which reads the scene repeatedly, and a thread that only sleeps."""

    def __init__(self, client: FakeClient) -> None:
        self.client, self.over = client, threading.Event()
        self.answers: Counter[str] = Counter()
        #: Seconds until each call was refused because another client's call kept Blender busy.
        self.refused: list[float] = []
        self.machine = 0.0
        self._joins = [rig.in_background(self._read), rig.in_background(self._sleep)]

    def _read(self) -> None:
        while not self.over.wait(0.1):
            began = time.perf_counter()
            answer = self.client.request("tools/call", {"name": "scene__list_objects"})
            code = answer.get("error", {}).get("code", "done")
            self.answers[str(code)] += 1
            if code == HOST_BUSY:
                self.refused.append(time.perf_counter() - began)

    def _sleep(self) -> None:
        while not self.over.is_set():
            began = time.perf_counter()
            time.sleep(0.01)
            self.machine = max(self.machine, time.perf_counter() - began - 0.01)

    def end(self) -> None:
        self.over.set()
        for join in self._joins:
            join()


def stop(gui: rig.Gui, client: FakeClient) -> str:
    """Stop the call as `callboard stop` does, without the time that a command takes to start."""
    bodies: list[bytes] = []
    join = rig.in_background(lambda: bodies.append(client.send("POST", path="/v1/stop").body))
    end = time.monotonic() + PATIENCE
    while not bodies:
        if time.monotonic() > end:
            return "no answer to stop"
        with suppress(TimeoutError):
            until(lambda: bodies, "", seconds=1.5)
        gui.process.send_signal(signal.SIGURG)
    join()
    return json.dumps(json.loads(bodies[0]))


def one(gui: rig.Gui, hold: str, way: str) -> bool:
    """Measure one call, and print its row. Return whether Blender is free again."""
    slept = gui.folder / "slept"
    gui.run(rig.PERMIT + SETTINGS + SLEEPER.format(path=str(slept)))
    gui.run("bpy.data.objects['Cube'].location.x = 0")
    began, reply = gui.folder / "began", ""
    began.unlink(missing_ok=True)
    code = f"bpy.data.objects['Cube'].location.x = 5\nopen({str(began)!r}, 'w').close()\n"
    asked: dict[str, Any] = {"name": "script__execute", "arguments": {"code": code + HOLDS[hold]}}
    if hold == "render__still":
        path = str(gui.folder / "still.png")
        asked = {"name": hold, "arguments": {"path": path, "width": 512, "height": 512}}
    holder, other = gui.client(), gui.client()
    holder.initialize(), other.initialize()
    held = holder.start("tools/call", asked)
    if hold == "render__still":
        with suppress(TimeoutError):  # Blender 3.4 doesn't respond while it renders.
            until(lambda: gui.run(RENDERS, 5), "", seconds=5)
    else:
        gui.wait(began.exists, "the script")
    beside, started, row = Beside(other), time.monotonic(), time.time()
    if way == "limit":
        patience = LIMIT + PATIENCE
    else:
        time.sleep(1.5)
        patience, started = PATIENCE, time.monotonic()
    if way == "escape":
        gui.xdotool("mousemove", *rig.OVER_THE_VIEW, "keydown", "Escape")
    elif way == "stop":
        reply = stop(gui, other)
    elif way == "session":
        # Some of these calls stop the server's threads, and then nothing answers.
        rig.in_background(lambda: holder.send("DELETE"))
    answered, free, answer = None, None, ""
    probe = gui.send(FREE)
    while time.monotonic() - started < patience and (answered is None or free is None):
        if answered is None and held.done():
            answered = time.monotonic() - started
            try:
                got = held.result()
                answer = got.get("error", {}).get("message") or str(got["result"]["content"])
            except BaseException as none:
                answer = f"no answer: {none!r}"
        if free is None and probe.exists():
            if json.loads(probe.read_text("utf-8"))["value"]:
                free = time.monotonic() - started
            else:
                probe = gui.send(FREE)
        time.sleep(0.02)
    if way == "escape":
        gui.xdotool("keyup", "Escape")
    beside.end() if free is not None else beside.over.set()
    cells = [hold, way, _seconds(answered), _seconds(free), (answer + " " + reply).strip()]
    first, waits = beside.refused[:1] or [0.0], sorted(beside.refused[1:]) or [0.0]
    waits = [*first, waits[len(waits) // 2], waits[-1]]
    cells += [", ".join(f"{wait * 1000:.0f}" for wait in waits) + " ms"]
    pairs = [line.split() for line in slept.read_text("utf-8").splitlines()[:-1]]
    late = max((float(late) for ended, late in pairs if float(ended) > row), default=0.0)
    cells += [f"{beside.machine * 1000:.0f}, {late * 1000:.0f} ms"]
    print("|", " | ".join([*cells, str(dict(beside.answers))]).replace("\n", " "), "|", flush=True)
    if free is not None:
        other.close()
        if way != "session":
            holder.close()
    return free is not None


def _seconds(value: float | None) -> str:
    return "never" if value is None else f"{value:.1f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hold", nargs="+", choices=tuple(HOLDS), default=list(HOLDS))
    parser.add_argument("--way", nargs="+", choices=WAYS, default=list(WAYS))
    arguments = parser.parse_args()
    rows = [(hold, way) for hold in arguments.hold for way in arguments.way]
    where = f"{rig.ROOM}/tmp" if rig.ROOM else None
    with tempfile.TemporaryDirectory(dir=where) as folder, rig.screen() as display:
        archive, number = rig.build_addon(Path(folder)), 0
        print(
            "| held by | ended by | answered | free | answer "
            "| others refused: first, then median, max | asleep here, in Blender: max | |"
        )
        print("|---|---|---|---|---|---|---|---|")
        while rows:
            number += 1
            with rig.blender_gui(Path(folder) / str(number), display) as gui:
                gui.run("", 600)
                rig.install(gui, archive)
                gui.enable()
                while rows and one(gui, *rows.pop(0)):
                    pass
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
