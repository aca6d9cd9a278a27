"""A scene of fifty objects from Blender 4.5 into OpenUSD, from there into Blender 5.0, and back."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from gateway_thread import RunningGateway, running_gateway

from callboard.ground.matrices import compose, times
from callboard_testing.fake_client import FakeClient
from e2e.client_environments import INSTALL_TIMEOUT, python_with
from e2e.serving import Program, environment
from needed import need
from serving import text_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(INSTALL_TIMEOUT + 120)]

RATES = {"blender": 25, "openusd": 24, "blender_2": 30}
TRIP = ("blender", "openusd", "blender_2", "openusd", "blender")


@pytest.fixture
def gateway(home: Path) -> Iterator[RunningGateway]:
    """Yield a gateway in front of Blender 4.5, OpenUSD and Blender 5.0, which share one root."""
    need("bpy")
    need("pxr")
    newer = python_with(
        "bpy==5.0.1", "tornado", "PyYAML", "fastjsonschema", "platformdirs", "watchdog", "qtpy"
    )
    root = home / "work"
    root.mkdir()
    env = environment(home)
    with ExitStack() as stack:
        gateway = stack.enter_context(running_gateway())

        def start(python: str, kind: str) -> None:
            command = [python, "-m", "callboard", "serve", "--host", kind, "--root", str(root)]
            stack.enter_context(Program(command, env))

        start(sys.executable, "blender")
        with gateway.client() as client:
            told(client, "instances__list")  # This call names the first host.
        with ThreadPoolExecutor() as threads:
            list(threads.map(start, (sys.executable, newer), ("openusd", "blender")))
        yield gateway


def told(client: FakeClient, name: str, **arguments: Any) -> Any:
    result = client.call(name, arguments)
    assert not result["isError"], text_of(result)
    return result["structuredContent"]


def on(client: FakeClient, instance: str, tool: str, **arguments: Any) -> Any:
    return told(client, "tools__call", instance=instance, tool=tool, arguments=arguments)


def scene() -> list[dict[str, Any]]:
    """Return the calls that make 24 shapes in a grid, 12 shapes below some of these, 4 groups, 4
    cameras and 6 lights."""
    calls: list[dict[str, Any]] = []

    def add(tool: str, **arguments: Any) -> None:
        calls.append({"tool": tool, "arguments": arguments})

    kinds = ("cube", "sphere", "cone", "torus")
    for i in range(24):
        place = {
            "translate": [i % 6 * 3.0, i // 6 * 3.0, i * 0.25],
            "rotate": [i * 7.0, 5.0, -i * 11.0],
        }
        add(
            "scene__create_primitive",
            kind=kinds[i % 4],
            name=f"Part {i}",
            **place,
            scale=[1, 1 + i / 10, 0.5],
        )
    for i in range(12):
        add("scene__create_primitive", kind="cube", name=f"Below.{i}", translate=[0, 2.0, i * 0.1])
        add("scene__set_parent", name=f"Below.{i}", parent=f"Part {i}", keep_world=False)
    for i in range(4):
        add(
            "structure__create_empty",
            name=f"Group_{i}",
            translate=[0, i * 4.0, 10.0],
            rotate=[0, 0, 30.0],
        )
        add("scene__set_parent", name=f"Part {20 + i}", parent=f"Group_{i}", keep_world=False)
    for i, lens in enumerate((24.0, 35.0, 50.0, 85.0)):
        add(
            "cameras__create",
            name=f"Shot_{i}",
            lens=lens,
            sensor=36.0,
            clip=[0.1, 500.0],
            translate=[i * 5.0, -20.0, 6.0],
            rotate=[75.0, 0, i * 10.0],
        )
    for i, kind in enumerate(("sun", "point", "spot", "area", "point", "spot")):
        add(
            "lights__create",
            kind=kind,
            name=f"Lamp_{i}",
            power=3.0 if kind == "sun" else 250.0,
            color=[1.0, 0.5 + i / 20, 0.25],
            translate=[i * 2.0, 5.0, 12.0],
            rotate=[20.0, 0, 0],
        )
    for i in range(16):
        add("scene__set_material_color", name=f"Part {i}", color=[i / 16, 0.5, 1 - i / 16])
    for i in (0, 20):
        add(
            "animation__set_keys",
            name=f"Part {i}",
            keys=[
                {"frame": f, "translate": [f / 5.0, 1.0, 0], "interpolation": "linear"}
                for f in (1, 26, 51)
            ],
        )
    add(
        "animation__set_keys",
        name="Shot_0",
        keys=[
            {"frame": 1, "translate": [0, -20.0, 6.0], "rotate": [75.0, 0, 0]},
            {"frame": 51, "translate": [10.0, -20.0, 6.0], "rotate": [60.0, 0, 90.0]},
        ],
    )
    return calls


def objects_of(client: FakeClient, instance: str) -> dict[str, Any]:
    listed = on(client, instance, "scene__list_objects", details=True, limit=1000)["objects"]
    objects = {each["path"]: each for each in listed}
    for each in objects.values():
        if each.get("key_count"):
            keys = on(client, instance, "animation__list_keys", name=each["path"])["keys"]
            each["seconds"] = [key["frame"] / RATES[instance] for key in keys]
            each["eased"] = [key["interpolation"] for key in keys]
            parts = ("translate", "rotate", "scale")
            each["poses"] = [value for key in keys for part in parts for value in key.get(part, ())]
    return objects


def world(objects: dict[str, Any], path: str) -> list[list[float]]:
    each = objects[path]
    rows = compose(each["translate"], each["rotate"], each["scale"])
    return rows if each["parent"] is None else times(rows, world(objects, each["parent"]))


def assert_same(first: dict[str, Any], now: dict[str, Any], became: dict[str, str]) -> None:
    """Check that two Blender scenes, both in meters with Z up, are the same."""
    assert len(became) == 50
    for path, here in became.items():
        was, is_ = first[path], now[here]
        for row, was_row in zip(world(now, here), world(first, path), strict=True):
            assert row == pytest.approx(was_row, abs=2e-4), path
        assert is_["parent"] == (None if was["parent"] is None else became[was["parent"]]), path
        for value in ("color", "lens", "energy", "seconds", "poses"):
            if value in was and was[value] is not None:
                assert is_[value] == pytest.approx(was[value], abs=2e-4), (path, value)
        assert is_.get("eased") == was.get("eased"), path


def test_fifty_objects_go_through_three_applications_and_back(
    gateway: RunningGateway, home: Path
) -> None:
    with gateway.client() as client:
        for instance in RATES:
            on(client, instance, "structure__new_scene", discard_changes=True)
        for instance in ("blender", "blender_2"):
            on(client, instance, "animation__set_timeline", fps=RATES[instance], start=0, end=60)
        calls = scene()
        on(client, "blender", "batch__run", calls=calls[:80], brief=True)
        on(client, "blender", "batch__run", calls=calls[80:], brief=True)
        first = objects_of(client, "blender")
        became = {path: path for path in first}
        lost: list[set[str]] = []
        for source, far in pairwise(TRIP):
            where = {"from": source, "to": far}
            answer = told(client, "instances__transfer", **where, objects=list(became.values()))
            assert answer["added_count"] == (far == "openusd"), answer["added"]
            moved = {each["from"]: each["to"] for each in answer["objects"]}
            became = {start: moved[now] for start, now in became.items()}
            lost.append({each["what"] for each in answer["lost"]})
            if far.startswith("blender"):
                assert_same(first, objects_of(client, far), became)
        # In OpenUSD, shapes are meshes, eased keys are samples, and a sun has other values.
        assert lost[0] == {"shape's own sizes", "keys", "power", "angle"}
        assert all(each == {"keys", "power", "angle"} for each in lost[1:])
        assert list((home / "work").iterdir()) == []
        assert len(objects_of(client, "blender")) == 100
        assert len(on(client, "blender", "scene__undo")["undone"]) == 1
        assert len(objects_of(client, "blender")) == 50
