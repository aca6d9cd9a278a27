"""The scripted client of a task. It uses only tools, and counts its calls."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from math import radians, tan
from pathlib import Path
from typing import Any

from callboard_testing.fake_client import FakeClient

#: Calls tools, receives the facts about the saved scene, and checks them.
Work = Generator[None, dict[str, Any], None]
Vector = Sequence[float]


class Refused(Exception):
    """A tool answered with an error."""


class Lacking(Exception):
    """The host doesn't have a capability that a tool needs."""


@dataclass(frozen=True)
class Task:
    """A task. ``request`` is the user's text."""

    name: str
    request: str
    work: Callable[[Agent], Work]


TASKS: dict[str, Task] = {}


def task(request: str) -> Callable[[Callable[[Agent], Work]], Callable[[Agent], Work]]:
    def listed(work: Callable[[Agent], Work]) -> Callable[[Agent], Work]:
        TASKS[work.__name__] = Task(work.__name__, request, work)
        return work

    return listed


@dataclass
class Agent:
    """A client that counts its calls. ``folder`` is its root. It accepts positions and sizes in
    meters with Z up, and converts them to the host's own units and axes."""

    client: FakeClient
    folder: Path
    calls: int = 0
    answer_bytes: int = 0
    unit: float = field(init=False)
    upright: bool = field(init=False)

    def __post_init__(self) -> None:
        self("structure__new_scene", discard_changes=True)
        info = self("scene__scene_info")
        self.unit = info["units_per_meter"]
        self.upright = info["up_axis"] == "Y"

    def __call__(self, tool: str, /, **arguments: Any) -> Any:
        asked = {"name": tool, "arguments": arguments}
        response = self.client.request("tools/call", asked)
        if "error" in response:
            data = response["error"].get("data") or {}
            if "missing" in data:
                raise Lacking(", ".join(data["missing"]))
            raise Refused(f"{tool}: {response['error']['message']}")
        result = response["result"]
        self.calls += 1
        self.answer_bytes += len(json.dumps(result, ensure_ascii=False).encode())
        if result["isError"]:
            raise Refused(f"{tool}: {result['content'][0]['text']}")
        return result["structuredContent"]

    def at(self, x: float, y: float, z: float) -> list[float]:
        """Return a position in the host's units and axes."""
        x, y, z = (value * self.unit for value in (x, y, z))
        return [x, z, -y] if self.upright else [x, y, z]

    def wide(self, x: float, y: float, z: float) -> list[float]:
        """Return widths along the host's axes, in its units."""
        return [abs(value) for value in self.at(x, y, z)]

    def about_up(self, angle: float) -> list[float]:
        return [0, angle, 0] if self.upright else [0, 0, angle]

    def shape(
        self, kind: str, name: str, size: Vector, place: Vector, angle: float = 0.0
    ) -> dict[str, Any]:
        """Return the arguments of a shape whose lowest point is at ``place``."""
        return {
            "kind": kind,
            "name": name,
            "dimensions": self.wide(*size),
            "translate": self.at(place[0], place[1], place[2] + size[2] / 2),
            "rotate": self.about_up(angle),
        }

    def shapes(self, *shapes: dict[str, Any]) -> list[str]:
        """Create the shapes in one step, and return their paths."""
        tool = "scene__create_primitive"
        calls = [{"tool": tool, "arguments": each} for each in shapes]
        made = self("batch__run", calls=calls, brief=True)
        return [each["result"]["created"][0] for each in made["results"]]


def close(a: Vector, b: Vector, tolerance: float = 0.01) -> bool:
    return all(abs(x - y) <= tolerance * max(1.0, abs(y)) for x, y in zip(a, b, strict=True))


def size(entry: dict[str, Any]) -> list[float]:
    return [high - low for low, high in zip(entry["low"], entry["high"], strict=True)]


def camera_of(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the camera from which the picture is rendered."""
    (entry,) = [each for each in facts["objects"].values() if each.get("camera", {}).get("active")]
    return {**entry["camera"], "origin": entry["origin"]}


def fill(facts: dict[str, Any], *names: str) -> float:
    """Return how far the boxes of these objects reach, as a fraction of the way from the middle of
    the picture to its edge."""
    camera = camera_of(facts)
    right, up, back = camera["axes"]
    reach = 0.0
    for entry in (facts["objects"][name] for name in names):
        for pick in range(8):
            corner = [entry["high" if pick >> n & 1 else "low"][n] for n in range(3)]
            away = [a - b for a, b in zip(corner, camera["origin"], strict=True)]
            depth = -sum(a * b for a, b in zip(away, back, strict=True))
            assert depth > 0, "behind the camera"
            for axis, angle in zip((right, up), camera["fov"], strict=True):
                across = abs(sum(a * b for a, b in zip(away, axis, strict=True)))
                reach = max(reach, across / depth / tan(radians(angle / 2)))
    return reach


def lights(facts: dict[str, Any]) -> dict[str, float]:
    return {name: each["power"] for name, each in facts["objects"].items() if each["light"]}
