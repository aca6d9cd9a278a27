"""An artist and an agent at once in Blender's real user interface, both at random.

``CALLBOARD_FUZZ`` multiplies how much; 10 makes 2,000 acts against 2,000 calls.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callboard.testing.fake_client import FakeClient
from hosts.blender_gui_rig import Gui, blender_gui, in_background, install, missing

if reason := missing():
    pytest.skip(reason, allow_module_level=True)

FACTOR = int(os.environ.get("CALLBOARD_FUZZ", "1"))
COUNT = 200 * FACTOR
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300 + 900 * FACTOR)]

#: What the artist presses, one act a line; ``>`` moves the mouse, ``!`` types a name.
ACTS = (
    "g > Return",
    "g > > Escape",
    "r > Return",
    "s > Escape",
    "F2 ! Return",
    "F2 ! Escape",
    "Tab",
    "Tab g > Return Tab",
    "F12 Escape",
    "F12 > Escape",
    "ctrl+z",
    "ctrl+shift+z",
    "space",
    "shift+a Escape",
    "shift+d > Return",
    "shift+d > Escape",
    "a",
    "alt+a",
    "x Escape",
    "F3 ! Escape",
)


@pytest.fixture
def gui(blender_archive: Path, display: str, tmp_path: Path) -> Iterator[Gui]:
    with blender_gui(tmp_path, display) as gui:
        install(gui, blender_archive)
        gui.enable()
        gui.run("bpy.context.preferences.view.render_display_type = 'NONE'")
        gui.run(
            "bpy.context.scene.render.resolution_x = bpy.context.scene.render.resolution_y = 64"
        )
        yield gui


def act(gui: Gui, chance: random.Random) -> None:
    for word in chance.choice(ACTS).split():
        if word == ">":
            place = chance.randint(60, 260), chance.randint(520, 700)
            gui.xdotool("mousemove", *map(str, place))
        elif word == "!":
            gui.xdotool("type", chance.choice(("cube", "ball", "lamp")))
        else:
            gui.xdotool("key", word)
        # Blender has seen it: what is pressed faster than it draws only fills its queue.
        gui.run("")


def ask(client: FakeClient, chance: random.Random) -> dict[str, Any]:
    listed = client.call("scene__list_objects")["structuredContent"]["objects"]
    names = [one["name"] for one in listed] or ["Nothing"]
    name = chance.choice(names)
    spot = [chance.uniform(-3, 3) for _ in range(3)]
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("scene__create_primitive", {"kind": "cube", "name": "Made", "size": 1}),
        ("scene__transform", {"name": name, "translate": spot}),
        ("scene__delete", {"names": [name]}),
        ("scene__duplicate", {"name": name}),
        ("scene__rename", {"name": name, "new_name": "Renamed"}),
        ("scene__select", {"names": [name]}),
        ("scene__set_material_color", {"name": name, "color": [1, 0, 0]}),
        ("scene__get_object", {"name": name}),
        ("viewport__capture", {"width": 32, "height": 32}),
    )
    tool, arguments = chance.choice(calls)
    return client.request("tools/call", {"name": tool, "arguments": arguments})


def test_nothing_the_two_do_at_once_ends_blender(gui: Gui) -> None:
    seed = int(os.environ.get("CALLBOARD_FUZZ_SEED", str(random.randrange(10**6))))
    print(f"CALLBOARD_FUZZ_SEED={seed}")
    agent, artist = random.Random(seed), random.Random(seed + 1)
    answers: list[dict[str, Any]] = []
    client = gui.client()

    def call() -> None:
        with client:
            for _ in range(COUNT):
                answers.append(ask(client, agent))

    gui.xdotool("mousemove", "150", "600")
    join = in_background(call, COUNT * 25.0)
    acts = 0
    while acts < COUNT or len(answers) < COUNT:
        assert gui.process.poll() is None, f"Blender ended after {acts} acts: {gui.output()}"
        act(gui, artist)
        acts += 1
        if acts % 20 == 0:
            gui.xdotool("key", "Escape")
        assert acts < 20 * COUNT, f"{len(answers)} answers to {acts} acts"
    join()
    gui.xdotool("key", "Escape", "key", "Escape", "key", "Escape")
    busy = sum(answer.get("error", {}).get("code") == -31001 for answer in answers)
    done = sum("result" in answer and not answer["result"].get("isError") for answer in answers)
    print(f"{acts} acts, {len(answers)} answers: {done} done, {busy} refused as busy")
    assert all("result" in a or a["error"]["code"] == -31001 for a in answers), answers
    assert done
    with gui.client() as after:
        names = gui.names()
        listed = [
            one["name"]
            for offset in range(0, len(names) + 1, 1000)
            for one in after.call("scene__list_objects", {"offset": offset, "limit": 1000})[
                "structuredContent"
            ]["objects"]
        ]
        assert sorted(listed) == names
