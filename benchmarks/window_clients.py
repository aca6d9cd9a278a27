"""Has three clients and an artist act at random in an application's real window, and checks the
scene and the answers. The artist's acts are in ``blender_window.py`` and ``freecad_window.py``.

In every other round the artist leaves the objects as they are and each client works on its own, so
the scene has to match the answers. After each round, undo has to bring back the whole scene.
"""

from __future__ import annotations

import http.client
import json
import random
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
for source in ("core", "hosts", "ui", "tests", "packaging"):
    sys.path.insert(0, str(PROJECT / source))

from callboard_testing import fake_client  # noqa: E402
from hosts import blender_gui_rig as rig  # noqa: E402

#: After this many seconds without an answer, the program is considered hung.
HANG = 120.0
fake_client.DEADLINE = HANG
#: Number of calls by each client in a round.
COUNT = 8
Places = dict[str, list[float]]
#: The latest actions of the artist and the clients, with their times. They help to explain a
#: failure.
DIARY: deque[tuple[float, str]] = deque(maxlen=120)


def note(text: str) -> None:
    DIARY.append((time.time(), text))


class Wrong(AssertionError):
    """The scene or an answer is wrong."""


class Agent(ABC):
    """One client, which keeps track of the state that its own objects should be in."""

    #: The name of the file that ``wild`` opens, in the rig's folder.
    saved: str
    #: Maximum seconds between two calls, so that the artist can act in between.
    pause = 0.0
    #: A call that needs the artist's permission.
    asking: Mapping[str, Any]

    def __init__(self, gui: rig.Gui, letter: str, chance: random.Random, counted: Counter[str]):
        self.client = gui.client()
        self.client.initialize()
        self.client.notify("notifications/initialized")
        self.gui, self.letter, self.chance, self.counted = gui, letter, chance, counted
        self.forget()

    def forget(self) -> None:
        self.places: Places = {}
        self.before: list[Places] = []
        self.count = 0

    def call(self, tool: str, **arguments: Any) -> dict[str, Any] | None:
        """Call a tool. Return its result, or None if it failed or was refused."""
        note(f"{self.letter} asks for {tool} {arguments}")
        answer = self.client.request("tools/call", {"name": tool, "arguments": arguments})
        note(f"{self.letter} gets {str(answer.get('error') or answer['result']['content'])[:200]}")
        if "error" in answer:
            code, message = answer["error"]["code"], answer["error"]["message"]
            self.counted[f"{tool}: {code} {message[:60]}"] += 1
            if code not in (-31001, -31003, -32001):
                raise Wrong(f"{tool} {arguments}: {answer}")
            return None
        result: dict[str, Any] = answer["result"]
        if result.get("isError"):
            self.counted[f"{tool}: {result['content'][0]['text'][:60]}"] += 1
            return None
        self.counted[tool] += 1
        return result

    def own(self) -> None:
        """Make a random call on one of this client's objects, and record where its objects must be
        afterwards."""
        now, tool = dict(self.places), self.chance.randrange(10)
        name = self.chance.choice([*self.places, ""])
        spot = [round(self.chance.uniform(-3, 3), 3) for _ in range(3)]
        if tool < 2 or not name:
            self.count += 1
            name = f"{self.letter} {self.count}"
            done = self.call("scene__create_primitive", kind="cube", name=name, translate=spot)
            now[name] = spot
        elif tool == 2:
            done = self.call("scene__transform", name=name, translate=spot)
            now[name] = spot
        elif tool == 3:
            done = self.call("scene__delete", names=[name])
            now.pop(name)
        elif tool == 4:
            self.count += 1
            new = f"{self.letter} renamed {self.count}"
            done = self.call("scene__rename", name=name, new_name=new)
            now[new] = now.pop(name)
        elif tool == 5:
            done = self.call("scene__set_material_color", name=name, color=[1, 0, 0])
        elif tool == 6 and self.before:
            done = self.call("scene__undo")
            if done is not None:
                undone = done["structuredContent"]["undone"]
                if len(undone) != 1:
                    raise Wrong(f"one step should have been undone, but these were: {undone}")
                self.places = self.before.pop()
            return
        else:
            self.harmless()
            return
        if done is not None:
            self.before.append(self.places)
            self.places = now

    @abstractmethod
    def harmless(self) -> None:
        """Make a random call that changes nothing, or ask the artist and cancel."""

    def check(self) -> None:
        """Check that two of this client's objects are where it put them."""
        for name, place in list(self.places.items())[:2]:
            got = self.call("scene__get_object", name=name)
            if got is None or not close(got["structuredContent"]["translate"], place):
                raise Wrong(f"{name} should be at {place}, but the answer is {got}")

    def wild(self) -> None:
        """Make a random call on any of the objects in the scene."""
        listed = self.call("scene__list_objects")
        names = [one["name"] for one in (listed or {"structuredContent": {"objects": []}})
                 ["structuredContent"]["objects"]] or ["Nothing"]  # fmt: skip
        name, act = self.chance.choice(names), self.chance.randrange(11)
        spot = [self.chance.uniform(-3, 3) for _ in range(3)]
        if act == 0:
            self.call("scene__create_primitive", kind="sphere", name="Made", radius=1)
        elif act == 1:
            self.call("scene__transform", name=name, translate=spot)
        elif act == 2:
            self.call("scene__delete", names=[name])
        elif act == 3:
            self.call("scene__duplicate", name=name)
        elif act == 4:
            self.call("scene__select", names=[name])
        elif act == 5:
            self.call("scene__set_material_color", name=name, color=[0, 1, 0])
        elif act == 6:
            self.call(self.chance.choice(("scene__undo", "scene__redo")))
        elif act == 7:
            path = str(self.gui.folder / self.saved)
            self.call("scene__open_file", path=path, discard_changes=True)
        else:
            self.harmless()

    def ask(self) -> None:
        """Ask the artist, and cancel a moment later."""
        id = self.chance.randrange(10**6, 10**9)
        message = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": self.asking}
        body = json.dumps(message)

        def post() -> None:
            try:
                self.client.send("POST", body.encode())
            except (OSError, http.client.HTTPException) as broken:
                self.counted[f"asked: {broken!r}"[:60]] += 1

        thread = threading.Thread(target=post, daemon=True)
        thread.start()
        thread.join(self.chance.uniform(0.2, 0.7))
        # On a busy machine, the call may arrive after its cancellation, which then has no effect.
        deadline = time.monotonic() + HANG
        while thread.is_alive():
            self.client.notify("notifications/cancelled", {"requestId": id})
            thread.join(3.0)
            if time.monotonic() > deadline:
                raise Wrong("a cancelled question got no answer")
        self.counted["asked and cancelled"] += 1


def close(one: list[float], other: list[float]) -> bool:
    return all(abs(a - b) < 1e-3 for a, b in zip(one, other, strict=True))


@dataclass(frozen=True)
class Window:
    """An application and its artist. ``act`` performs a random action, which changes objects only
    if its argument is true. ``let_go`` ends the artist's drag. ``fresh`` opens the saved scene
    again."""

    gui: rig.Gui
    agents: Sequence[Agent]
    act: Callable[[bool], None]
    let_go: Callable[[], None]
    fresh: Callable[[], None]
    #: Code whose result is everything in the scene that a client's call may change.
    scene: str
    #: Code whose result is the position of each object, by name.
    places: str
    #: The saved scene's objects.
    saved: frozenset[str]


def together(window: Window, wild: bool) -> int:
    """Play one round. Return the number of the artist's actions."""

    def calls(agent: Agent) -> None:
        for _ in range(COUNT):
            time.sleep(agent.chance.uniform(0, agent.pause))
            agent.wild() if wild else agent.own()

    joins = [rig.in_background(lambda a=agent: calls(a), COUNT * HANG) for agent in window.agents]
    threads = [t for t in threading.enumerate() if t.name.endswith("(run)")]
    count = 0
    while any(thread.is_alive() for thread in threads):
        if window.gui.process.poll() is not None:
            raise Wrong(f"the application quit after {count} actions: {window.gui.output()}")
        window.act(wild)
        count += 1
    for join in joins:
        join()
    window.let_go()
    return count


def exact_undo(window: Window, agent: Agent) -> int:
    """Make five changes and undo them one by one. Check the scene after each undo. Return the
    number of changes."""
    gui = window.gui
    scenes = [gui.run(window.scene)]
    name = f"U{agent.chance.randrange(10**6)}"
    steps = [
        lambda: agent.call("scene__create_primitive", kind="sphere", name=name, radius=1),
        lambda: agent.call("scene__transform", name="Cube", translate=[1, 2, 3]),
        lambda: agent.call("scene__set_material_color", name=name, color=[0, 0, 1]),
        lambda: agent.call("scene__duplicate", name="Cube"),
        lambda: agent.call("scene__delete", names=["Cube"]),
    ]
    for step in (steps[0], *agent.chance.sample(steps[1:3], 2), *steps[3:]):
        if step() is None:
            raise Wrong("a change failed, although nothing is being dragged")
        scenes.append(gui.run(window.scene))
    for index in range(len(scenes) - 2, -1, -1):
        before = scenes[index]
        if index % 2:
            gui.key("ctrl+z")
            gui.run("")
        elif agent.call("scene__undo") is None:
            raise Wrong("an undo failed, although nothing else changed")
        deadline = time.monotonic() + 20
        while (now := gui.run(window.scene)) != before:
            if time.monotonic() > deadline:
                raise Wrong(f"undo {index}: {now} is not {before}")
    return len(scenes) - 1


def fuzz(window: Window, seconds: float, counted: Counter[str]) -> None:
    end = time.monotonic() + seconds
    acts = rounds = undone = 0
    try:
        while time.monotonic() < end:
            wild = rounds % 2 == 1
            acts += together(window, wild)
            if not wild:
                compare(window)
            window.fresh()
            undone += exact_undo(window, window.agents[rounds % 3])
            window.fresh()
            rounds += 1
            print(f"round {rounds}: {acts} acts, {sum(counted.values())} answers", flush=True)
    finally:
        for what, times in sorted(counted.items()):
            print(f"  {times:6} {what}")
        print(
            f"{rounds} rounds, {acts} acts, {sum(counted.values())} answers, {undone} exact undos"
        )


def compare(window: Window) -> None:
    """Compare the scene with the answers that the clients got."""
    must = window.saved.union(*(agent.places for agent in window.agents))
    places = window.gui.run(window.places)
    if places.keys() != must:
        raise Wrong(f"the scene has {sorted(places)}, expected {sorted(must)}")
    for agent in window.agents:
        for name, place in agent.places.items():
            if not close(places[name], place):
                raise Wrong(f"{name} must be at {place}, not {places[name]}")
