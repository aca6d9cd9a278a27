"""An artist and an agent act at random in Blender's real user interface at the same time.

In every other round the artist leaves the objects as they were, so the scene has to match the
answers. ``CALLBOARD_FUZZ`` multiplies the rounds; 10 makes 1,200 acts against 1,200 calls.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from callboard_testing.fake_client import FakeClient
from hosts.blender_gui_rig import Gui, blender_gui, in_background, missing, unpack

if reason := missing():
    pytest.skip(reason, allow_module_level=True)

FACTOR = int(os.environ.get("CALLBOARD_FUZZ", "1"))
#: The number of calls in a round, which is also its minimum number of acts, and the number of
#: rounds.
COUNT, ROUNDS = 20, 6 * FACTOR
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300 + 900 * FACTOR)]

#: The artist's keys, one act per line. ``>`` moves the mouse, and ``!`` types a name. These leave
#: the objects as they were.
HARMLESS = (
    "g > > Escape",
    "r > Escape",
    "s > Escape",
    "F2 ! Escape Escape",
    "F12 Escape",
    "F12 > Escape",
    "space",
    "shift+a Escape",
    "x Escape",
)
CHANGING = (
    "g > Return",
    "r > Return",
    "F2 ! Return",
    "Tab",
    "Tab g > Return Tab",
    "ctrl+z",
    "ctrl+shift+z",
    "shift+d > Return",
    "shift+d > Escape",
    "a",
    "alt+a",
    "F3 ! Escape",
    "open",
)
#: Without a graphics card, Eevee in Blender 4 and 5 takes minutes to draw one picture.
SETTINGS = """
bpy.context.preferences.view.render_display_type = "NONE"
scene = bpy.context.scene
scene.render.engine = "CYCLES"
scene.render.resolution_x = scene.render.resolution_y = 64
scene.cycles.samples, scene.cycles.use_denoising = 64, False
"""
#: The positions of the objects, by name.
PLACES = "answer = {o.name: list(o.location) for o in bpy.context.scene.objects}"
Places = dict[str, list[float]]
#: A tool, its arguments and its answer.
Asked = tuple[str, dict[str, Any], dict[str, Any]]


@pytest.fixture
def gui(blender_archive: Path, display: str, tmp_path: Path) -> Iterator[Gui]:
    with blender_gui(tmp_path, display) as gui:
        unpack(gui, blender_archive)
        gui.enable()
        gui.run(SETTINGS)
        gui.run(f"bpy.ops.wm.save_as_mainfile(filepath={str(tmp_path / 'saved.blend')!r})")
        yield gui


def act(gui: Gui, chance: random.Random, acts: Sequence[str]) -> None:
    for word in chance.choice(acts).split():
        if word == ">":
            place = chance.randint(60, 260), chance.randint(520, 700)
            gui.xdotool("mousemove", *map(str, place))
        elif word == "!":
            gui.xdotool("type", chance.choice(("cube", "ball", "lamp")))
        elif word == "open":
            let_go(gui)  # No menu opens during a drag.
            path = str(gui.folder / "saved.blend")
            gui.run(f"bpy.ops.wm.open_mainfile(filepath={path!r}, load_ui=False)")
        else:
            gui.xdotool("key", word)
        # Wait until Blender has handled the act: keys pressed faster than it draws only fill its
        # queue.
        gui.run("")


def let_go(gui: Gui) -> None:
    for _ in range(3):
        gui.xdotool("key", "Escape")
        gui.run("")


def ask(client: FakeClient, chance: random.Random) -> Asked:
    listed = client.call("scene__list_objects")["structuredContent"]["objects"]
    names = [one["name"] for one in listed] or ["Nothing"]
    name = chance.choice(names)
    spot = [chance.uniform(-3, 3) for _ in range(3)]
    # The name has no dot, because up to 4.4 Blender refuses some names that end in a dot and a
    # number.
    new_name = f"Renamed {chance.randrange(10**9)}"
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("scene__create_primitive", {"kind": "cube", "name": "Made", "size": 1}),
        ("scene__transform", {"name": name, "translate": spot}),
        ("scene__delete", {"names": [name]}),
        ("scene__duplicate", {"name": name}),
        ("scene__rename", {"name": name, "new_name": new_name}),
        ("scene__select", {"names": [name]}),
        ("scene__set_material_color", {"name": name, "color": [1, 0, 0]}),
        ("scene__get_object", {"name": name}),
        ("viewport__capture", {"width": 32, "height": 32}),
    )
    tool, arguments = chance.choice(calls)
    return tool, arguments, client.request("tools/call", {"name": tool, "arguments": arguments})


def told(places: Places, asked: Iterable[Asked]) -> Places:
    """Return the scene that must result from ``places`` if the answers are true."""
    places = dict(places)
    for tool, arguments, answer in asked:
        result = answer.get("result", {"isError": True})
        if result.get("isError") or tool in ("scene__get_object", "viewport__capture"):
            continue
        content = result["structuredContent"]
        if tool == "scene__delete":
            for path in content["deleted"]:
                del places[path]
        elif "object" in content:
            if tool == "scene__rename":
                del places[arguments["name"]]
            places[content["object"]["name"]] = content["object"]["translate"]
    return places


def same(expected: Places, places: Places) -> bool:
    return expected.keys() == places.keys() and all(
        abs(a - b) < 1e-4
        for name in expected
        for a, b in zip(expected[name], places[name], strict=True)
    )


def play(
    gui: Gui, agent: random.Random, artist: random.Random, acts: Sequence[str]
) -> tuple[int, list[Asked]]:
    """Play one round. Return the number of acts, and the calls."""
    asked: list[Asked] = []
    own = gui.client()

    def call() -> None:
        with own as client:
            for _ in range(COUNT):
                asked.append(ask(client, agent))

    join = in_background(call, COUNT * 25.0)
    count = 0
    while count < COUNT or len(asked) < COUNT:
        assert gui.process.poll() is None, f"Blender ended after {count} acts: {gui.output()}"
        act(gui, artist, acts)
        count += 1
    join()
    return count, asked


def test_nothing_the_two_do_at_once_ends_blender(gui: Gui) -> None:
    seed = int(os.environ.get("CALLBOARD_FUZZ_SEED", str(random.randrange(10**6))))
    print(f"CALLBOARD_FUZZ_SEED={seed}")
    agent, artist = random.Random(seed), random.Random(seed + 1)
    gui.xdotool("mousemove", "150", "600")
    acts, answers = 0, []
    for number in range(ROUNDS):
        places, harmless = gui.run(PLACES), number % 2 == 0
        count, asked = play(gui, agent, artist, HARMLESS if harmless else HARMLESS + CHANGING)
        let_go(gui)
        places_now = gui.run(PLACES)
        if harmless:
            expected = told(places, asked)
            assert same(expected, places_now), (expected, places_now, asked)
        assert listed(gui) == sorted(places_now)
        acts += count
        answers += [answer for _, _, answer in asked]
    assert len(answers) == COUNT * ROUNDS
    busy = sum(answer.get("error", {}).get("code") == -31001 for answer in answers)
    done = sum("result" in answer and not answer["result"].get("isError") for answer in answers)
    print(f"{acts} acts, {len(answers)} answers: {done} done, {busy} refused as busy")
    assert all("result" in a or a["error"]["code"] == -31001 for a in answers), answers
    assert done


def listed(gui: Gui) -> list[str]:
    """Return the names of all objects as an agent receives them."""
    names: list[str] = []
    with gui.client() as client:
        while True:
            arguments = {"offset": len(names), "limit": 1000}
            page = client.call("scene__list_objects", arguments)["structuredContent"]
            names += [one["name"] for one in page["objects"]]
            if len(names) >= page["total"]:
                return sorted(names)
