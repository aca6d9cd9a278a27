"""Forty transfers between Blender and OpenUSD, both ways. Each object arrives at the same position
with the same size, as measured by plain ``bpy`` and ``pxr`` in other processes, or the transfer is
refused. ``PYTHONPATH=tests python tests/gateway/test_transfer_table.py`` prints the table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from math import dist
from pathlib import Path
from typing import Any

import pytest
from gateway_thread import running_gateway
from transfer_scenes import METRES, SECONDS

from callboard.ground.png import Picture, encode
from callboard_testing.fake_client import FakeClient
from e2e.serving import Program, callboard, environment
from needed import need
from serving import text_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

CONTENTS = (
    *("box", "primitives", "parents", "camera", "light", "curve", "text", "subdivision"),
    *("texture", "animated", "instances", "mirrored", "pivot", "sheared"),
)
ROOTS = ("/", "/World", "/Set/Geo", "generated")
NAMES = (
    "Crate",
    "W\u00fcrfel\u00df",
    "\u039a\u03cd\u03b2\u03bf\u03c2",
    "\u041a\u0443\u0431",
    "\u732b\u306e\u7bb1",
    "\u0645\u0643\u0639\u0628",
)
KINDS = {"blender": ("blend", ".blend"), "openusd": ("usd", ".usda")}
#: Meters, for objects of up to ten meters.
TOLERANCE = 1e-4
PROGRAM = Path(__file__).with_name("transfer_scenes.py")


def cases(work: Path) -> list[dict[str, Any]]:
    """Return the forty cases: each content, unit, up axis, root and script, in changing
    combinations."""
    made = []
    for number in range(40):
        there, here = ("openusd", "blender") if number % 2 else ("blender", "openusd")
        turn = number // 2
        case: dict[str, Any] = {"from": there, "to": here, "content": CONTENTS[turn % 14]}
        units = list(METRES)
        case["unit"] = units[(turn + turn // 14) % 3]
        case["up"] = "ZY"[turn // 2 % 2] if there == "openusd" else "Z"
        case["root"] = ROOTS[(turn + turn // 4) % 4]
        case["name"] = NAMES[(turn + turn // 6) % 6] + " .00"[: 4 * (there == "blender")]
        case["path"] = str(work / f"from_{number}{KINDS[there][1]}")
        case["picture"] = str(work / "picture.png")
        far = {
            "unit": units[(turn + 1 + number % 2) % 3],
            "up": "YZ"[turn % 2],
            "content": "nothing",
        }
        far |= {
            "root": ("/", "/World")[turn % 2],
            "name": "",
            "path": str(work / f"to_{number}{KINDS[here][1]}"),
        }
        made.append({**case, "far": far})
    return made


def plainly(doing: str, kind: str, what: list[Any], work: Path) -> Any:
    """Make or measure scenes with ``bpy`` or ``pxr`` in a separate process."""
    listed = work / f"{doing}_{kind}.json"
    listed.write_text(json.dumps(what), "utf-8")
    command = [sys.executable, str(PROGRAM), doing, kind, str(listed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(listed.with_suffix(".out").read_text("utf-8"))


def on(client: FakeClient, instance: str, tool: str, **arguments: Any) -> Any:
    call = {"instance": instance, "tool": tool, "arguments": arguments}
    result = client.call("tools__call", call)
    assert not result["isError"], text_of(result)
    return result["structuredContent"]


def transferred(home: Path, work: Path, table: list[dict[str, Any]]) -> None:
    """Add the transfer's answer or refusal to each case."""
    env = {**environment(home), "CALLBOARD_HOME": str(home)}
    with ExitStack() as stack:
        gateway = stack.enter_context(running_gateway())
        for kind in KINDS:
            command = callboard("serve", "--host", kind, "--root", str(work))
            stack.enter_context(Program(command, env))
        client = stack.enter_context(gateway.client())
        hosts = names_of(client)
        for case in table:
            for side, path in (("from", case["path"]), ("to", case["far"]["path"])):
                on(client, hosts[case[side]], "scene__open_file", path=path, discard_changes=True)
            hosts = names_of(client)  # each file has its own name
            where = {side: hosts[case[side]] for side in ("from", "to")}
            result = client.call("instances__transfer", where)
            case["answer"] = result.get("structuredContent")
            case["refused"] = text_of(result) if result["isError"] else None
            on(client, hosts[case["to"]], "scene__save_file")


def names_of(client: FakeClient) -> dict[str, str]:
    listed = client.call("instances__list", {})["structuredContent"]["instances"]
    return {each["host"]: each["name"] for each in listed}


def table_of(home: Path, work: Path) -> list[dict[str, Any]]:
    """Return the cases with their outcomes: ``same``, ``refused``, ``told`` or ``WRONG``."""
    (work / "picture.png").write_bytes(encode(Picture(2, 2, bytes([200, 40, 40] * 4))))
    table = cases(work)
    both = [*table, *(case["far"] for case in table)]
    for plain, suffix in KINDS.values():
        plainly("make", plain, [c for c in both if c["path"].endswith(suffix)], work)
    empty = {}
    transferred(home, work, table)
    for plain, suffix in KINDS.values():
        paths = [case["path"] for case in both if case["path"].endswith(suffix)]
        empty |= dict(zip(paths, plainly("measure", plain, paths, work), strict=True))
    for case in table:
        case["came"] = list(came_of(case, empty[case["path"]], empty[case["far"]["path"]]))
    return table


def came_of(case: dict[str, Any], there: Any, here: Any) -> Iterator[str]:
    """Yield the outcomes of one transfer as text."""
    if case["refused"] is not None:
        yield f"refused: {case['refused']}"
        if set(here) - {"/World", "World"}:
            yield f"WRONG: {sorted(here)} is left"
        return
    answer = case["answer"]
    became = {each["from"]: each["to"] for each in answer["objects"]}
    told = {name: each["what"] for each in answer["lost"] for name in each["objects"]}
    for what in sorted({each["what"] for each in answer["lost"]}):
        yield f"told: {what}"
    for name, was in there.items():
        other = became.get(name)
        if other is None:
            held = name in told or any(f"{name}/".startswith(f"{o}/") for o in became)
            if not held and name not in ("/World", "/root", "root"):
                yield f"WRONG: {name} is neither there nor told"
            continue
        yield from (
            f"WRONG: {other} {wrong}" for wrong in differences(was, here[other], told.get(name))
        )


def differences(was: Any, now: Any, told: str | None) -> Iterator[str]:
    """Yield the properties in which two objects differ. Only properties that both have are
    compared, because a parent may have been measured together with its only child."""
    for second, a, b in zip(SECONDS, was["at"], now["at"], strict=True):
        for what in a.keys() & b.keys():
            if (a[what] is None) != (b[what] is None) or off(a[what], b[what]) > TOLERANCE:
                yield f"at {second} s its {what} is {b[what]}, not {a[what]}"
    for what in {"fov", "light", "thick"} & was.keys() & now.keys():
        if off(was[what], now[what]) > TOLERANCE:
            yield f"its {what} is {now[what]}, not {was[what]}"
    if was.get("smooth") and now.get("smooth") is False and told is None:
        yield "is smooth no longer, which nothing says"


def off(a: Any, b: Any) -> float:
    """Return the largest distance between two numbers, points or boxes."""
    if a is None or b is None:
        return 0.0
    if isinstance(a, list) and isinstance(a[0], list):
        return max(map(dist, a, b))
    return dist(*(value if isinstance(value, list) else [value] for value in (a, b)))


def test_forty_transfers_arrive_in_place_or_say_why(home: Path) -> None:
    need("bpy")
    need("pxr")
    work = home / "work"
    work.mkdir()
    table = table_of(home, work)
    assert [case for case in table if any("WRONG" in each for each in case["came"])] == []
    # Blender's objects have no shear.
    refused = {(case["from"], case["content"]) for case in table if case["refused"]}
    assert refused == {("openusd", "sheared")}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CALLBOARD_HOME"] = folder
        scenes = Path(folder, "work")
        scenes.mkdir()
        for case in table_of(Path(folder), scenes):
            row = [
                f"{case['from']} {case['unit']} {case['up']}",
                f"{case['far']['unit']} {case['far']['up']}",
            ]
            row += [case["root"], case["content"], case["name"], "; ".join(case["came"]) or "same"]
            print(f"| {' | '.join(row)} |")
