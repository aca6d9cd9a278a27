"""Four agents make hundreds of calls while the artist works, two agents call while a third runs
scripts, one calls while another renders without end, and questions come and go while files are
opened. ``CALLBOARD_FUZZ`` multiplies the calls."""

from __future__ import annotations

import itertools
import json
import os
import threading
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from callboard.errors import HOST_BUSY
from callboard_testing.fake_client import FakeClient
from hosts.blender_gui_rig import (
    DEADLINE,
    PERMIT,
    Gui,
    blender_gui,
    in_background,
    install,
    missing,
    render,
)

if reason := missing():
    pytest.skip(reason, allow_module_level=True)

FACTOR = int(os.environ.get("CALLBOARD_FUZZ", "1"))
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200 + 300 * FACTOR)]

#: The number of calls. CI makes this many in each of three Blenders.
CALLS = 400 * FACTOR
SCRIPT = """
import bpy
for _ in range({times}):
    bpy.ops.object.empty_add()
    bpy.ops.object.delete()
"""


def test_hundreds_of_calls_while_the_artist_works(gui: Gui, client: FakeClient) -> None:
    file = gui.folder / "work.blend"
    gui.run(f"bpy.ops.wm.save_as_mainfile(filepath={str(file)!r})")
    answers: dict[int, str] = {}
    answered = threading.Event()

    def call(first: int) -> None:
        with gui_client() as own:
            for number in range(first, CALLS, 4):
                name = f"Object {number}"
                response = own.request(
                    "tools/call",
                    {
                        "name": "scene__create_primitive",
                        "arguments": {"kind": "cube", "name": name, "size": 1},
                    },
                )
                assert number not in answers
                answers[number] = outcome(response, name)
                answered.set()

    url, token = client.address, client.headers["Authorization"].removeprefix("Bearer ")

    def gui_client() -> FakeClient:
        return FakeClient(f"http://{url[0]}:{url[1]}/mcp", token)

    acts = [
        "with artist(): bpy.ops.ed.undo()",
        "bpy.ops.wm.read_homefile(load_ui=False)",
        f"bpy.ops.wm.open_mainfile(filepath={str(file)!r}, load_ui=False)",
        "bpy.ops.wm.revert_mainfile()",
        render(32),
    ]
    joins = [in_background(lambda first=first: call(first)) for first in range(4)]
    while len(answers) < CALLS:
        for act in acts:
            # Blender raises AttributeError for a change while Cycles renders in the background.
            gui.run(f"try:\n{indent(act, ' ')}\nexcept (AttributeError, RuntimeError): pass")
        # An artist who never pauses keeps each call waiting until it is refused.
        answered.wait(1)
        answered.clear()
    for join in joins:
        join()
    assert sorted(answers) == list(range(CALLS))
    # The number of late calls depends on how long this machine's renders take.
    assert "done" in answers.values()
    assert set(answers.values()) <= {"done", "busy"}
    objects = client.call("scene__list_objects")["structuredContent"]["objects"]
    assert "Cube" in [each["path"] for each in objects]


def test_two_agents_ask_while_a_third_runs_scripts(gui: Gui, client: FakeClient) -> None:
    """Scripts run in an override, so operators find the 3D view. See docs/decisions/0392."""
    gui.run(PERMIT)
    over = threading.Event()
    clients = [gui.client() for _ in range(2)]

    def ask(own: FakeClient) -> None:
        with own:
            while not over.is_set():
                own.request("ping")
                over.wait(0.01)

    joins = [in_background(lambda own=own: ask(own)) for own in clients]
    try:
        for times in [100] * 10 + [1500] * 2:
            answer = client.call("script__execute", {"code": SCRIPT.format(times=times)})
            assert not answer.get("isError"), answer
    finally:
        over.set()
    for join in joins:
        join()
    assert gui.names() == ["Camera", "Cube", "Light"]


#: A render that takes hours.
RENDER = """
import bpy
s = bpy.context.scene
s.render.engine = "CYCLES"
s.cycles.samples, s.cycles.use_denoising, s.cycles.use_adaptive_sampling = 10**6, False, False
s.render.resolution_x = s.render.resolution_y = 512
open({began!r}, "w").close()
bpy.ops.render.render()
"""


def test_others_are_answered_while_a_script_renders_without_end(
    blender_archive: Path, display: str, tmp_path: Path
) -> None:
    began = tmp_path / "began"
    with blender_gui(tmp_path / "gui", display) as own:
        install(own, blender_archive)
        own.enable()
        own.run(PERMIT)
        with own.client() as holder, own.client() as other:
            arguments = {"code": RENDER.format(began=str(began))}
            holder.start("tools/call", {"name": "script__execute", "arguments": arguments})
            own.wait(began.exists, "the script")
            for _ in range(20):
                answer = other.request("tools/call", {"name": "scene__list_objects"})
                assert answer["error"]["code"] == HOST_BUSY, answer
            stopped = json.loads(other.send("POST", path="/v1/stop").body)
            assert stopped["holds"] == "script__execute"


#: Asks before a script, and notes how many questions the status bar showed each time.
QUESTIONS = f"""{PERMIT}
controls.set_consent_policy("script", "ask")
residence, drawn = addon.residence, [0]
def noted(*_): drawn.append(len(residence.snapshot.questions))
bpy.types.STATUSBAR_HT_header.append(noted)
"""


def test_questions_come_and_go_while_files_are_opened(gui: Gui, client: FakeClient) -> None:
    gui.run(QUESTIONS)
    path = str(gui.folder / "often.blend")
    gui.run(f"bpy.ops.wm.save_as_mainfile(filepath={path!r})")
    asker, over = gui.client(), threading.Event()

    def ask() -> None:
        with asker:
            for number in itertools.count(1000):
                params = {"name": "script__execute", "arguments": {"code": "pass"}}
                asked = asker.start("tools/call", params, id=number)
                # A cancellation that arrives before its request does nothing.
                while not asked.done():
                    over.wait(0.1)
                    asker.notify("notifications/cancelled", {"requestId": number})
                if over.is_set():
                    return

    join = in_background(ask, seconds=DEADLINE * FACTOR)
    try:
        for _ in range(30 * FACTOR):
            opened = client.call("scene__open_file", {"path": path})
            assert not opened.get("isError"), opened
    finally:
        over.set()
    join()
    assert gui.run("answer = 1 in drawn"), "no question was seen"
    gui.wait(lambda: gui.run("answer = drawn[-1]") == 0, "the end of the last question to show")
    gui.run("bpy.types.STATUSBAR_HT_header.remove(noted)")


def test_after_a_file_is_opened_the_rest_waits_for_the_next_tick(gui: Gui) -> None:
    path = str(gui.folder / "once.blend")
    gui.run(
        f"bpy.ops.wm.save_as_mainfile(filepath={path!r})\n"
        "from callboard_blender import addon\n"
        "from callboard_blender.application import busy\n"
        "post, asked, seen = addon.residence._inbox.post, busy.Busy(), []\n"
        "def opens():\n"
        f"    bpy.ops.wm.open_mainfile(filepath={path!r}, load_ui=False)\n"
        "    seen.append(asked.may_run('read'))\n"
        "post(opens)\n"
        "post(lambda: seen.append(bpy.context.window is not None))\n"
    )
    gui.wait(
        lambda: gui.run("answer = seen") == ["opening a file", True],
        "a question while a file is opened",
    )
    gui.run("asked.close()")


def outcome(response: dict[str, Any], name: str) -> str:
    """Return ``done`` for a call with its own result, or ``busy``. Anything else is a failure."""
    if "error" in response:
        assert response["error"]["code"] == -31001, response
        return "busy"
    result = response["result"]
    assert not result.get("isError"), result
    assert result["structuredContent"]["object"]["name"].startswith(name), result
    return "done"
