"""Scripts that call operators inside an override during other calls. Up to Python 3.11 that crashed
Blender within seconds (docs/decisions/0392)."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from callboard_testing.fake_client import FakeClient
from e2e.serving import Program, callboard, environment
from needed import needs

pytestmark = [
    pytest.mark.slow,
    needs("bpy"),
]

SCRIPT = """
import bpy
scene = bpy.context.scene
for _ in range({times}):
    with bpy.context.temp_override(scene=scene):
        bpy.ops.object.empty_add()
        bpy.ops.object.delete()
"""
RENDERS = """
import bpy
scene = bpy.context.scene
scene.render.engine, scene.cycles.samples = "CYCLES", 1
scene.render.resolution_x = scene.render.resolution_y = 16
for _ in range({times}):
    with bpy.context.temp_override(scene=scene):
        bpy.ops.render.render()
"""
#: The first calls end before the watcher takes over. The others are still running at that time.
TIMES = [100] * 10 + [1000] * 3

AFTERWARDS = """
import sys
import bpy
from callboard_blender.host import BlenderHost
own = sys.modules["bpy.ops"]._op_call, bpy.types.Context.temp_override
first, second = BlenderHost(lambda fn: None), BlenderHost(lambda fn: None)
first.close()
changed = [sys.modules["bpy.ops"]._op_call is own[0], bpy.types.Context.temp_override is own[1]]
assert changed == [sys.version_info >= (3, 12)] * 2, changed
with bpy.context.temp_override(scene=bpy.context.scene):
    assert bpy.ops.object.empty_add() == {"FINISHED"}
second.close()
assert sys.modules["bpy.ops"]._op_call is own[0]
assert bpy.types.Context.temp_override is own[1]
print("as before", flush=True)
import os
os._exit(0)
"""

INTERRUPTED = """
import sys
import threading
import bpy
from callboard.guest.turn import Interrupted, Interruptible
from callboard_blender.application import overrides
leave = overrides.guard()
own, other = bpy.context.scene, bpy.data.scenes.new("Other")
sys.setswitchinterval(0.00002)

def once():
    code, began = Interruptible(), threading.Event()
    asker = threading.Thread(target=lambda: began.wait() and code.ask())
    asker.start()
    def work():
        began.set()
        while True:
            with bpy.context.temp_override(scene=other):
                pass
    try:
        code.run(work)
    except Interrupted:
        pass
    asker.join()
    assert bpy.context.scene == own
    assert not overrides._in_one()

for _ in range(500):
    once()
leave()
print("left", flush=True)
import os
os._exit(0)
"""


@pytest.mark.parametrize(
    ("script", "each"), [(SCRIPT, TIMES), (RENDERS, [100])], ids=["operators", "renders"]
)
def test_two_agents_ask_while_a_third_runs_scripts(
    tmp_path: Path, script: str, each: list[int]
) -> None:
    over = threading.Event()
    answered = [0, 0]
    command = callboard("serve", "--host", "blender", "--allow", "script.execute")
    with Program(command, environment(tmp_path)) as program:

        def ask(number: int) -> None:
            with FakeClient(program.url, program.token) as client:
                while not over.is_set():
                    client.request("tools/call", {"name": "scene__list_objects"})
                    answered[number] += 1
                    over.wait(0.02)

        threads = [threading.Thread(target=ask, args=[number]) for number in range(2)]
        with FakeClient(program.url, program.token) as client:
            for thread in threads:
                thread.start()
            try:
                for times in each:
                    code = script.format(times=times)
                    result = client.call("script__execute", {"code": code})
                    assert not result.get("isError"), result
            finally:
                over.set()
                for thread in threads:
                    thread.join()
        assert program.process.poll() is None
    assert min(answered) > 0


def test_blender_has_its_own_functions_back_when_no_host_is_left() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", AFTERWARDS], capture_output=True, text=True, timeout=100
    )
    assert ended.stdout.splitlines()[-1:] == ["as before"], ended.stderr


def test_an_interruption_leaves_no_override_behind() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=100
    )
    assert ended.stdout.splitlines()[-1:] == ["left"], ended.stderr
