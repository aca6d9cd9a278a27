from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from ctypes.util import find_library
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from callboard.calls.context import AsyncToolContext, ToolContext
from callboard.clients.book import ClientBook
from callboard.clients.holder import LOCAL
from callboard.clients.owner import Owner
from callboard.errors import (
    CALL_TIMEOUT,
    CAPABILITY_MISSING,
    HOST_BUSY,
    HOST_OFFLINE,
    INVALID_PARAMS,
    PAUSED,
    REFUSED_BY_ARTIST,
)
from callboard.host import SCENE_MUTATE, holds_window
from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import DEADLINE, FakeHost
from needed import need
from serving import Served, served, text_of
from skills.scripting_host import ScriptingHost
from waiting import until

MUTATES = {"required_capabilities": (SCENE_MUTATE,)}


class Gate:
    """A tool that reports that it is running, and waits to be released."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.release = threading.Event()
        self.runs = 0

    def __call__(self) -> str:
        self.runs += 1
        self.entered.set()
        self.release.wait(DEADLINE)
        return "let go"


def until_queued(server: Served, client: FakeClient, count: int) -> None:
    """Wait until ``count`` calls are queued for the main thread."""

    def queued() -> bool:
        client.request("ping")
        return len(server.app.dispatcher.main) >= count

    until(queued, f"{count} queued calls")


# -- the capability gate ------------------------------------------------------------------------

MARKER_SKILL = """\
---
name: marker
description: Leaves a mark when it is imported.
metadata:
  dcc-mcp:
    tools: tools.yaml
---
"""
MARKER_TOOLS = """\
tools:
  - name: export
    description: Writes a file.
    required_capabilities: [usd, scene.mutate, filesystem.write]
"""
MARKER_SCRIPT = """\
from pathlib import Path

Path(__file__).with_name("imported").touch()


def export():
    return "exported"
"""


@pytest.fixture
def marker_skill(tmp_path: Path) -> Path:
    folder = tmp_path / "marker"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text(MARKER_SKILL)
    (folder / "tools.yaml").write_text(MARKER_TOOLS)
    (folder / "scripts" / "export.py").write_text(MARKER_SCRIPT)
    return folder


def test_a_withdrawn_capability_is_hinted_and_refused_before_the_script_is_imported(
    tmp_path: Path, marker_skill: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    with served(skills=True, skill_paths=[tmp_path], deny=["filesystem.write"]) as server:
        mark = marker_skill / "scripts" / "imported"
        with server.client() as client:
            listed = client.request("tools/list", {})["result"]["tools"]
            entry = next(tool for tool in listed if tool["name"] == "marker__export")
            assert json.dumps(entry["_meta"]["dcc"], separators=(",", ":")) == (
                '{"required_capabilities":["usd","scene.mutate","filesystem.write"],'
                '"missing_capabilities":["filesystem.write"]}'
            )
            reads = next(tool for tool in listed if tool["name"] == "scene__scene_info")
            assert reads["_meta"]["dcc"] == {"required_capabilities": ["scene.read"]}

            refused = client.post(
                {
                    "jsonrpc": "2.0",
                    "id": 1,
                    "method": "tools/call",
                    "params": {"name": "marker__export", "arguments": {}},
                }
            )
            assert refused.body == (
                b'{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":'
                b"\"capability_missing: tool 'marker__export' requires filesystem.write\","
                b'"data":{"tool":"marker__export","required":["usd","scene.mutate",'
                b'"filesystem.write"],"missing":["filesystem.write"],"declared":["usd",'
                b'"scene.read","scene.mutate","filesystem.read"]}}}'
            )
            assert not mark.exists()

            server.app.capabilities.restore("filesystem.write")
            assert client.call("marker__export")["structuredContent"] == {"result": "exported"}
            assert mark.exists()


def test_a_tool_that_ships_lacks_what_the_host_has_no_port_for(
    tmp_path: Path, marker_skill: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    declared = [*FakeHost().ports, "hologram"]

    def without_usd() -> FakeHost:
        host = FakeHost()
        host.set_ports({name: port for name, port in host.ports.items() if name != "usd"})
        return host

    settings = {"skills": True, "skill_paths": [tmp_path], "declared_capabilities": declared}
    with served(without_usd, **settings) as server, server.client() as client:
        client.call("skills__load", {"name": "usd"})
        client.listen()
        tools = {tool["name"]: tool for tool in client.request("tools/list")["result"]["tools"]}
        ours, theirs = tools["usd__read_stage_metadata"], tools["marker__export"]
        assert ours["_meta"]["dcc"]["missing_capabilities"] == ["usd"]
        assert "Fake Host has no port for usd" in ours["description"]
        # The program that runs the server declared this capability, so its own tools have to
        # provide it.
        assert "missing_capabilities" not in theirs["_meta"]["dcc"]
        described = client.call("skills__describe", {"name": "usd"})["structuredContent"]
        assert described["missing_capabilities"] == ["usd"]
        params = {"name": "usd__read_stage_metadata", "arguments": {"path": "x.usda"}}
        refused = client.request("tools/call", params)["error"]
        assert (refused["code"], refused["data"]["missing"]) == (-32001, ["usd"])
        assert "usd" not in refused["data"]["declared"]
        heard = len(client.received)
        usd = FakeHost().ports["usd"]
        server.on_main(lambda: server.host.set_ports({**server.host.ports, "usd": usd}))
        until(lambda: len(client.received) > heard, "the notification")
        tools = {tool["name"]: tool for tool in client.request("tools/list")["result"]["tools"]}
        assert "missing_capabilities" not in tools["usd__read_stage_metadata"]["_meta"]["dcc"]


def test_several_missing_capabilities_are_named_in_declared_order(
    server: Served, client: FakeClient
) -> None:
    wanted = ("viewport", "usd", "animation")
    server.tool("film", lambda: None, required_capabilities=wanted)
    error = client.request("tools/call", {"name": "film"})["error"]
    assert error["code"] == CAPABILITY_MISSING
    assert error["message"] == "capability_missing: tool 'film' requires viewport, animation"
    assert error["data"]["missing"] == ["viewport", "animation"]


def test_a_capability_that_comes_and_goes_changes_the_list_and_tells_the_client(
    server: Served, client: FakeClient
) -> None:
    server.tool("film", lambda: "filmed", required_capabilities=("viewport",))
    client.listen()
    seen = len(client.wait_for("notifications/tools/list_changed"))
    server.on_main(lambda: server.host.set_ports({**server.host.ports, "viewport": object()}))
    client.wait_for("notifications/tools/list_changed", seen + 1)
    assert client.call("film")["structuredContent"] == {"result": "filmed"}
    server.app.capabilities.withdraw("viewport")
    client.wait_for("notifications/tools/list_changed", seen + 2)
    assert client.request("tools/call", {"name": "film"})["error"]["code"] == CAPABILITY_MISSING


def test_a_port_withdrawn_while_the_tool_runs_is_refused_by_the_context(
    server: Served, client: FakeClient
) -> None:
    def create(ctx: ToolContext) -> Iterator[None]:
        ctx.port(SCENE_MUTATE).create("sphere", "first", {})
        yield
        server.app.capabilities.withdraw(SCENE_MUTATE)
        ctx.port(SCENE_MUTATE).create("sphere", "second", {})

    server.tool("create", create, **MUTATES)
    response = client.request("tools/call", {"name": "create"})
    assert response["error"]["code"] == CAPABILITY_MISSING
    assert server.on_main(server.host.scene.names) == []


# -- arguments ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({}, ["radius", "required"]),
        ({"radius": "big"}, ["radius", "number"]),
        ({"radius": -1}, ["radius", "0"]),
        ({"radius": 1, "colour": "red"}, ["colour"]),
    ],
)
def test_wrong_arguments_name_the_field_and_the_rule_and_nothing_runs(
    server: Served, client: FakeClient, arguments: dict[str, Any], named: list[str]
) -> None:
    ran: list[object] = []
    schema = {
        "type": "object",
        "properties": {"radius": {"type": "number", "exclusiveMinimum": 0}},
        "required": ["radius"],
        "additionalProperties": False,
    }
    server.tool("grow", ran.append, schema)
    with server.thread.block():  # a refused call isn't queued
        result = client.call("grow", arguments)
    assert result["isError"] is True
    assert all(word in text_of(result) for word in named)
    assert ran == []


def test_a_whole_number_is_one_however_it_was_written(server: Served, client: FakeClient) -> None:
    schema = {
        "type": "object",
        "properties": {
            "first": {"type": "integer"},
            "sizes": {"type": "array", "items": {"type": "integer"}},
            "scale": {"type": "number"},
        },
    }

    def take(first: int, sizes: list[int], scale: float) -> str:
        return "abcdef"[first] + f" {sizes} {scale}"

    server.tool("take", take, schema)
    arguments = {"first": -0.0, "sizes": [2.0, 3], "scale": 4.0}
    assert text_of(client.call("take", arguments)) == "a [2, 3] 4.0"


@pytest.mark.parametrize(
    "params",
    [{}, {"name": 3}, {"name": "no_such_tool"}, {"name": "there", "arguments": [1]}],
)
def test_wrong_params_of_a_call_are_a_protocol_error(
    server: Served, client: FakeClient, params: dict[str, Any]
) -> None:
    server.tool("there", lambda: None)
    assert client.request("tools/call", params)["error"]["code"] == INVALID_PARAMS


def test_an_unknown_tool_is_answered_with_the_nearest_names(
    server: Served, client: FakeClient
) -> None:
    server.tool("scene__create", lambda: None)
    message = client.request("tools/call", {"name": "scene__creat"})["error"]["message"]
    assert "scene__creat" in message
    assert "nearest: scene__create" in message
    for bare in ("create", "creat"):
        message = client.request("tools/call", {"name": bare})["error"]["message"]
        assert f"unknown tool '{bare}'; nearest: scene__create" in message


def test_who_asks_a_port_for_what_it_lacks_is_told_what_it_has(
    server: Served, client: FakeClient
) -> None:
    server.tool(
        "see", lambda ctx: ctx.port("scene.read").list(), required_capabilities=("scene.read",)
    )
    told = text_of(client.call("see")).splitlines()[0].partition("no attribute 'list'; it has ")[2]
    assert {"get", "info", "names"} <= {*told.split(", ")}


def test_a_coroutine_changes_the_scene_on_the_main_thread_or_not_at_all(
    server: Served, client: FakeClient
) -> None:
    async def build(ctx: AsyncToolContext) -> None:
        ctx.port(SCENE_MUTATE).create("cube", "beside the undo step", {})

    server.tool("build", build, **MUTATES)
    told = text_of(client.call("build"))
    line = build.__code__.co_firstlineno + 1
    assert (
        f"calls/test_dispatcher.py, line {line}: a coroutine must change the scene with `await"
        in told
    )
    assert server.on_main(server.host.scene.names) == []


# -- threads, order, correlation ----------------------------------------------------------------


def test_a_tool_runs_on_the_main_thread_and_an_any_tool_on_another(
    server: Served, client: FakeClient
) -> None:
    def where() -> str:
        return threading.current_thread().name

    server.tool("main", where)
    server.tool("any", where, affinity="any")
    assert client.call("main")["structuredContent"]["result"] == "fake-host-main"
    assert client.call("any")["structuredContent"]["result"].startswith("callboard-worker")


def test_any_tools_do_not_wait_for_a_blocked_main_thread(
    server: Served, client: FakeClient
) -> None:
    server.tool("any", lambda: "answered", affinity="any")
    with server.thread.block():
        assert client.call("any")["structuredContent"] == {"result": "answered"}


def test_a_slow_call_and_a_fast_one_each_get_their_own_answer(
    server: Served, client: FakeClient
) -> None:
    gate = Gate()
    server.tool("slow", gate, affinity="any")
    server.tool("fast", lambda word: word)
    slow = client.start("tools/call", {"name": "slow"}, id="slow")
    assert gate.entered.wait(DEADLINE)
    for number in range(5):
        assert client.call("fast", {"word": number})["structuredContent"] == {"result": number}
    assert not slow.done()
    gate.release.set()
    assert slow.result(DEADLINE)["result"]["structuredContent"] == {"result": "let go"}


def test_lists_and_pings_are_answered_while_a_tool_holds_the_main_thread(
    server: Served, client: FakeClient
) -> None:
    gate = Gate()
    server.tool("hold", gate)
    server.tool("next", lambda: "ran")
    held = client.start("tools/call", {"name": "hold"})
    assert gate.entered.wait(DEADLINE)
    waiting = client.start("tools/call", {"name": "next"})
    for _ in range(5):
        assert client.request("ping")["result"] == {}
        names = [tool["name"] for tool in client.request("tools/list")["result"]["tools"]]
        assert {"hold", "next"} <= set(names)
    assert not waiting.done()
    gate.release.set()
    assert held.result(DEADLINE)["result"]["isError"] is False
    assert waiting.result(DEADLINE)["result"]["structuredContent"] == {"result": "ran"}
    assert gate.runs == 1


def test_what_concurrent_calls_print_is_never_mixed() -> None:
    turns = threading.Barrier(3, timeout=DEADLINE)

    def on_a_worker(word: str) -> None:
        for _ in range(20):
            turns.wait()
            print(word)
            print(word.upper(), file=sys.stderr)

    async def on_the_loop(word: str) -> None:
        for _ in range(20):
            print(word)
            await asyncio.sleep(0)

    def sliced(word: str) -> Iterator[None]:
        for _ in range(20):
            print(word)
            yield

    # pytest replaces the streams after the fixtures have run, so the server is started here.
    with served() as server, server.client() as client:
        server.tool("worker", on_a_worker, affinity="any")
        server.tool("loop", on_the_loop)
        server.tool("sliced", sliced)
        kinds = ["worker"] * 3 + ["loop", "sliced", "loop", "sliced"]
        calls = {}
        for number, kind in enumerate(kinds):
            word = f"{kind}-{number}"
            params = {"name": kind, "arguments": {"word": word}}
            calls[word] = client.start("tools/call", params)
        for word, call in calls.items():
            meta = call.result(DEADLINE)["result"]["_meta"]
            assert meta["callboard/stdout"] == f"{word}\n" * 20
            if word.startswith("worker"):
                assert meta["callboard/stderr"] == f"{word.upper()}\n" * 20


def test_printing_outside_a_call_goes_where_it_always_went(
    capsys: pytest.CaptureFixture[str],
) -> None:
    real = sys.stdout
    with served() as server, server.client() as client:
        server.tool("talk", lambda: print("inside"))
        print("outside")
        assert client.call("talk")["_meta"]["callboard/stdout"] == "inside\n"
    assert sys.stdout is real
    assert capsys.readouterr().out == "outside\n"


# -- undo, roll-back ----------------------------------------------------------------------------


def test_a_call_that_changes_the_scene_is_one_undo_step(server: Served, client: FakeClient) -> None:
    def build(ctx: ToolContext) -> Iterator[None]:
        for name in ("one", "two", "three"):
            ctx.port(SCENE_MUTATE).create("cube", name, {})
            yield

    server.tool("build", build, **MUTATES)
    undo_id = client.call("build")["_meta"]["callboard/undo"]
    assert server.host.undo_stack.steps == ["Callboard: build"]
    assert len(server.on_main(server.host.scene.names)) == 3
    assert server.on_main(lambda: server.host.undo_stack.undo(undo_id))
    assert server.on_main(server.host.scene.names) == []


def test_a_call_that_changed_nothing_leaves_no_undo_step(
    server: Served, client: FakeClient
) -> None:
    server.tool("look", lambda ctx: ctx.port(SCENE_MUTATE).names(), **MUTATES)
    assert "_meta" not in client.call("look")
    assert server.host.undo_stack.steps == []


def failing(ctx: ToolContext) -> None:
    ctx.port(SCENE_MUTATE).create("cube", "half done", {})
    raise ValueError("no room for a cube")


def failing_in_a_slice(ctx: ToolContext) -> Iterator[None]:
    ctx.port(SCENE_MUTATE).create("cube", "half done", {})
    yield
    raise ValueError("no room for a cube")


async def failing_on_the_loop(ctx: AsyncToolContext) -> None:
    await ctx.on_main_thread(ctx.port(SCENE_MUTATE).create, "cube", "half done", {})
    raise ValueError("no room for a cube")


@pytest.mark.parametrize("function", [failing, failing_in_a_slice, failing_on_the_loop])
def test_a_failing_tool_is_rolled_back(
    server: Served, client: FakeClient, function: Callable[..., object]
) -> None:
    server.tool("build", function, **MUTATES)
    result = client.call("build")
    assert result["isError"] is True
    assert "ValueError: no room for a cube" in text_of(result)
    assert result["_meta"]["callboard/rolledBack"] is True
    assert server.on_main(server.host.scene.names) == []
    assert server.host.undo_stack.steps == []
    assert not server.host.undo_stack.open


def test_two_undo_steps_never_overlap_while_a_reading_tool_passes(
    server: Served, client: FakeClient
) -> None:
    go_on = threading.Event()
    started = threading.Event()

    def long_change(ctx: ToolContext) -> Iterator[None]:
        ctx.port(SCENE_MUTATE).create("cube", "first", {})
        started.set()
        while not go_on.is_set():
            yield

    def change(ctx: ToolContext) -> str:
        return str(ctx.port(SCENE_MUTATE).create("cube", "second", {}))

    server.tool("long_change", long_change, **MUTATES)
    server.tool("change", change, **MUTATES)
    server.tool("read", lambda: "read", annotations={"readOnlyHint": True})
    long = client.start("tools/call", {"name": "long_change"})
    assert started.wait(DEADLINE)
    # If the second step had begun inside the first, the fake host's undo stack would have raised.
    second = client.start("tools/call", {"name": "change"})
    for _ in range(3):
        assert client.call("read")["structuredContent"] == {"result": "read"}
    assert not second.done()
    go_on.set()
    assert long.result(DEADLINE)["result"]["isError"] is False
    assert second.result(DEADLINE)["result"]["structuredContent"] == {"result": "/second"}
    assert len(server.host.undo_stack.steps) == 2


def test_a_coroutines_visits_to_the_main_thread_are_one_undo_step(
    server: Served, client: FakeClient
) -> None:
    async def build(ctx: AsyncToolContext, count: int) -> list[str]:
        create = ctx.port(SCENE_MUTATE).create
        made = []
        for number in range(count):
            made.append(await ctx.on_main_thread(create, "cube", f"c{number}", {}))
            await asyncio.sleep(0)
        return made

    server.tool("build", build, **MUTATES)
    result = client.call("build", {"count": 50})
    assert len(result["structuredContent"]["result"]) == 50
    assert server.host.undo_stack.steps == ["Callboard: build"]


def test_a_coroutine_that_is_cancelled_is_rolled_back_and_its_queued_visit_never_runs(
    server: Served, client: FakeClient
) -> None:
    waits = threading.Event()
    gate = Gate()
    visited: list[str] = []

    held: list[Any] = []

    async def build_while_held(ctx: AsyncToolContext) -> None:
        await ctx.on_main_thread(ctx.port(SCENE_MUTATE).create, "cube", "c", {})
        held.append(client.start("tools/call", {"name": "hold"}))
        await asyncio.to_thread(gate.entered.wait, DEADLINE)
        waits.set()
        await ctx.on_main_thread(visited.append, "after the cancel")

    server.tool("hold", gate, annotations={"readOnlyHint": True})
    server.tool("build", build_while_held, **MUTATES)
    building = client.in_thread(
        lambda: client.post(
            {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "build"}}
        )
    )
    assert waits.wait(DEADLINE)
    client.notify("notifications/cancelled", {"requestId": 7})
    assert building.result(DEADLINE).messages == []
    gate.release.set()
    held[0].result(DEADLINE)
    # A call that needs a separate undo step runs once the step of the cancelled call is closed.
    server.tool("after", lambda ctx: ctx.port(SCENE_MUTATE).names(), **MUTATES)
    assert client.call("after")["structuredContent"] == {"result": []}
    assert visited == []
    assert server.host.undo_stack.steps == []


# -- errors -------------------------------------------------------------------------------------


def test_a_traceback_shows_the_skills_frames_and_no_folder_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    folder = tmp_path / "skills" / "broken"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text(MARKER_SKILL.replace("marker", "broken"))
    (folder / "tools.yaml").write_text(
        "tools:\n  - {name: outer, description: Fails.}\n  - {name: worse, description: Fails.}\n"
    )
    (folder / "scripts" / "outer.py").write_text(
        "def inner():\n    raise RuntimeError('the lamp is out')\n\n\ndef outer():\n    inner()\n"
    )
    (folder / "scripts" / "worse.py").write_text("import no_such_module_anywhere\n")
    paths = [tmp_path / "skills"]
    with served(skills=True, skill_paths=paths) as server, server.client() as client:
        result = client.call("broken__outer")
        import_error = client.call("broken__worse")
    text = text_of(result)
    assert result["isError"] is True
    assert text.startswith("RuntimeError: the lamp is out")
    assert 'File "broken/scripts/outer.py", line 2, in inner' in text
    assert 'File "broken/scripts/outer.py", line 6, in outer' in text
    assert "callboard" not in text
    assert str(tmp_path) not in json.dumps(result)
    assert "scripts/worse.py" in text_of(import_error)
    assert "no_such_module_anywhere" in text_of(import_error)
    assert str(tmp_path) not in json.dumps(import_error)


def exits(word: str = "") -> None:
    raise SystemExit(3)


def interrupts() -> None:
    raise KeyboardInterrupt


def stops() -> None:
    next(iter(()))


def cancels() -> None:
    raise asyncio.CancelledError


async def exits_on_the_loop() -> None:
    raise SystemExit(3)


async def cancels_itself() -> None:
    raise asyncio.CancelledError


async def exits_in_a_visit(ctx: AsyncToolContext) -> None:
    await ctx.on_main_thread(exits)


async def stops_in_a_visit(ctx: AsyncToolContext) -> None:
    await ctx.on_main_thread(stops)


@pytest.mark.parametrize("affinity", ["main", "any"])
@pytest.mark.parametrize(
    ("function", "named"),
    [
        (exits, "SystemExit"),
        (interrupts, "KeyboardInterrupt"),
        (stops, "StopIteration"),
        (cancels, "CancelledError"),
        (exits_on_the_loop, "SystemExit"),
        (cancels_itself, "CancelledError"),
        (exits_in_a_visit, "SystemExit"),
        (stops_in_a_visit, "StopIteration"),
    ],
)
def test_whatever_a_tool_raises_ends_the_tool_alone(
    server: Served,
    client: FakeClient,
    function: Callable[..., object],
    named: str,
    affinity: str,
) -> None:
    server.tool("bad", function, affinity=affinity)
    server.tool("good", lambda: "fine")
    result = client.call("bad")
    assert result["isError"] is True
    assert named in text_of(result)
    assert client.call("good")["structuredContent"] == {"result": "fine"}
    with server.thread.block():  # the watcher still runs too
        assert client.request("ping")["result"] == {}


@pytest.mark.parametrize(
    "make",
    [
        object,
        lambda: {"a": float("nan")},
        lambda: {(1, 2): 3},
        lambda: 10**6000,
        lambda: b"bytes",
        lambda: {1, 2},
    ],
)
def test_what_is_not_json_is_an_error_of_the_tool(
    server: Served, client: FakeClient, make: Callable[[], object]
) -> None:
    server.tool("odd", make)
    result = client.call("odd")
    assert result["isError"] is True
    assert "isn't JSON" in text_of(result)


def test_a_result_that_breaks_the_output_schema_is_an_error(
    server: Served, client: FakeClient
) -> None:
    schema = {"type": "object", "properties": {"count": {"type": "integer"}}}
    server.tool("count", lambda: {"count": "many"}, output_schema=schema)
    result = client.call("count")
    assert result["isError"] is True
    assert "result.count must be integer" in text_of(result)


def test_a_failure_that_a_skill_returns_is_an_error(server: Served, client: FakeClient) -> None:
    server.tool("fails", lambda: {"success": False, "message": "no camera"})
    result = client.call("fails")
    assert result["isError"] is True
    assert result["structuredContent"] == {"success": False, "message": "no camera"}


# -- limits -------------------------------------------------------------------------------------


def test_a_full_queue_is_refused_at_once_and_says_what_blocks() -> None:
    with served(queue_limit=4) as server, server.client() as client:
        gate = Gate()
        server.tool("hold", gate)
        server.tool("wait", lambda: "ran")
        held = client.start("tools/call", {"name": "hold"})
        assert gate.entered.wait(DEADLINE)
        waiting = [client.start("tools/call", {"name": "wait"}) for _ in range(2)]
        until_queued(server, client, 2)
        error = client.request("tools/call", {"name": "wait"})["error"]
        assert error["code"] == HOST_BUSY
        assert error["data"]["queued"] == 2
        assert error["data"]["call"] == "hold"
        assert isinstance(error["data"]["stalled_ms"], int)
        gate.release.set()
        assert held.result(DEADLINE)["result"]["isError"] is False
        for call in waiting:
            assert call.result(DEADLINE)["result"]["structuredContent"] == {"result": "ran"}


@pytest.mark.parametrize("kind", ["script", "render", "tool"])
def test_a_call_that_holds_the_application_is_told_to_other_clients(kind: str) -> None:
    with served(ScriptingHost) as server, server.client() as own, server.client() as other:
        gate = Gate()
        declared = ("script.execute",) if kind == "script" else ()
        server.app.controls.attend()
        server.app.controls.set_consent_policy("script", "allow")
        until(lambda: "script.execute" in server.app.capabilities.declared, "scripts")

        def hold() -> str:
            holds_window.set(kind == "render")
            return gate()

        server.tool("holds", hold, required_capabilities=declared)
        server.tool("wait", lambda: "ran")
        held = own.start("tools/call", {"name": "holds"})
        assert gate.entered.wait(DEADLINE)
        (call,) = server.app.dispatcher.calls.values()
        limit = server.app.dispatcher.seconds(call)
        assert limit == (30.0 if kind == "script" else 300.0), "wrong time limit"
        until(lambda: server.app.guest.stalled_for() > 0, "the stand-in")
        mine = own.start("tools/call", {"name": "wait"})
        asked = other.start("tools/call", {"name": "wait"})
        if kind != "tool":
            error = asked.result(DEADLINE)["error"]
            assert (error["code"], error["data"]["client"]) == (HOST_BUSY, "local")
            what = "a script" if kind == "script" else "the call holds"
            assert f"{what} of the client 'local' has held" in error["message"]
        until_queued(server, own, 2 if kind == "tool" else 1)
        gate.release.set()
        for each in (held, mine, *([asked] if kind == "tool" else [])):
            assert each.result(DEADLINE)["result"]["isError"] is False


@pytest.mark.skipif(find_library("xcb") is None, reason="Escape is asked of an X server")
def test_others_are_refused_although_the_x_server_does_not_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        served(ScriptingHost) as server,
        server.client() as own,
        server.client() as other,
    ):
        silent.settimeout(DEADLINE)
        monkeypatch.setenv("DISPLAY", f"127.0.0.1:{silent.getsockname()[1] - 6000}")
        server.app.controls.attend()
        server.app.controls.set_consent_policy("script", "allow")
        until(lambda: "script.execute" in server.app.capabilities.declared, "scripts")
        gate = Gate()
        server.tool("script", gate, required_capabilities=("script.execute",))
        server.tool("wait", lambda: "ran")
        holds = own.start("tools/call", {"name": "script"})
        with silent.accept()[0]:
            error = other.request("tools/call", {"name": "wait"})["error"]
            assert (error["code"], error["data"]["call"]) == (HOST_BUSY, "script")
        gate.release.set()
        assert holds.result(DEADLINE)["result"]["isError"] is False


def test_a_call_that_waited_when_another_clients_script_began_is_refused_too() -> None:
    with served(ScriptingHost) as server, server.client() as own, server.client() as other:
        server.app.controls.attend()
        server.app.controls.set_consent_policy("script", "allow")
        until(lambda: "script.execute" in server.app.capabilities.declared, "scripts")
        first, script = Gate(), Gate()
        server.tool("first", first)
        server.tool("script", script, required_capabilities=("script.execute",))
        server.tool("wait", lambda: "ran")
        begun = own.start("tools/call", {"name": "first"})
        assert first.entered.wait(DEADLINE)
        holds = own.start("tools/call", {"name": "script"})
        until_queued(server, own, 1)
        asked = other.start("tools/call", {"name": "wait"})
        mine = own.start("tools/call", {"name": "wait"})
        until_queued(server, own, 3)
        first.release.set()
        error = asked.result(DEADLINE)["error"]
        assert (error["code"], error["data"]["call"]) == (HOST_BUSY, "script")
        script.release.set()
        for each in (begun, holds, mine):
            assert each.result(DEADLINE)["result"]["isError"] is False


def test_a_call_past_its_deadline_is_given_up_and_its_late_answer_dropped(
    server: Served, client: FakeClient
) -> None:
    gate = Gate()
    server.tool("slow", gate, timeout_secs=0.05, **MUTATES)
    server.tool("echo", lambda word: word)
    error = client.request("tools/call", {"name": "slow"}, id="again")["error"]
    assert error["code"] == CALL_TIMEOUT
    assert "slow" in error["message"]
    assert error["data"]["call"] == "slow"
    # Use the same id again while the first call is still running on the main thread.
    later = client.start("tools/call", {"name": "echo", "arguments": {"word": "mine"}}, id="again")
    gate.release.set()
    assert later.result(DEADLINE)["result"]["structuredContent"] == {"result": "mine"}


def forever(ctx: ToolContext) -> Iterator[None]:
    while True:
        yield


async def never(ctx: AsyncToolContext) -> None:
    await asyncio.Event().wait()


async def ignores_its_cancellation(ctx: AsyncToolContext) -> None:
    for _ in range(2):
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()


@pytest.mark.parametrize("function", [forever, never, ignores_its_cancellation])
def test_a_deadline_ends_every_kind_of_tool(
    server: Served, client: FakeClient, function: Callable[..., object]
) -> None:
    server.tool("slow", function, timeout_secs=0.05)
    assert client.request("tools/call", {"name": "slow"})["error"]["code"] == CALL_TIMEOUT
    server.tool("next", lambda: "ran")
    assert client.call("next")["structuredContent"] == {"result": "ran"}


def test_a_debugger_that_is_only_imported_is_not_loaded_by_a_deadline(
    server: Served, client: FakeClient
) -> None:
    need("debugpy")
    gate = Gate()
    server.tool("slow", gate, timeout_secs=0.05, **MUTATES)
    loaded = set(sys.modules)
    assert client.request("tools/call", {"name": "slow"})["error"]["code"] == CALL_TIMEOUT
    gate.release.set()
    assert not {name for name in sys.modules.keys() - loaded if "debug" in name or "pydev" in name}


def test_a_coroutines_deadline_does_not_wait_for_a_blocked_main_thread(
    server: Served, client: FakeClient
) -> None:
    gate = Gate()

    async def visits(ctx: AsyncToolContext) -> None:
        await ctx.on_main_thread(gate)

    server.tool("visits", visits, timeout_secs=0.05)
    assert client.request("tools/call", {"name": "visits"})["error"]["code"] == CALL_TIMEOUT
    gate.release.set()


def test_hung_workers_do_not_keep_other_calls_from_their_paths(
    server: Served, client: FakeClient, tmp_path: Path
) -> None:
    gate = Gate()
    server.tool("hang", gate, affinity="any", timeout_secs=0.05)
    path_schema = {"type": "string", "format": "workspace-path"}
    schema = {"type": "object", "properties": {"path": path_schema}}
    server.tool("read", lambda path: path, schema, required_capabilities=("filesystem.read",))
    for _ in range(8):
        assert client.request("tools/call", {"name": "hang"})["error"]["code"] == CALL_TIMEOUT
    path = str(tmp_path / "a.usd")
    assert client.call("read", {"path": path})["structuredContent"] == {"result": path}
    gate.release.set()


def test_a_paused_host_refuses_calls_and_still_lists(server: Served, client: FakeClient) -> None:
    server.tool("there", lambda: "ran")
    server.app.dispatcher.pause()
    error = client.request("tools/call", {"name": "there"})["error"]
    assert error["code"] == PAUSED
    assert "resume" in error["message"]
    assert "there" in [t["name"] for t in client.request("tools/list")["result"]["tools"]]


def test_what_waits_to_begin_when_the_artist_pauses_never_changes_anything(
    server: Served, client: FakeClient
) -> None:
    gate = Gate()
    ran: list[str] = []
    server.tool("hold", gate)
    server.tool("change", lambda: ran.append("changed"))
    holding = client.start("tools/call", {"name": "hold"})
    assert gate.entered.wait(DEADLINE)
    waiting = client.start("tools/call", {"name": "change"})
    until(lambda: len(server.app.dispatcher.main) >= 1, "the call to be queued")
    server.app.controls.pause()
    refused = waiting.result(DEADLINE)["error"]
    assert refused["code"] == PAUSED
    assert f"in {server.host.where}" in refused["message"]
    gate.release.set()
    assert not holding.result(DEADLINE)["result"]["isError"]
    assert ran == []


def test_stop_ends_what_runs_and_waits_and_asks_and_says_how_many(
    server: Served, client: FakeClient
) -> None:
    gate = Gate()
    ran: list[str] = []
    server.tool("hold", gate, annotations={"destructiveHint": False})
    server.tool("change", lambda: ran.append("changed"), annotations={"destructiveHint": False})
    server.tool("wipe", lambda: ran.append("wiped"), annotations={"destructiveHint": True})
    server.app.controls.set_consent_policy("destructive", "ask")
    server.app.controls.attend()
    dispatcher = server.app.dispatcher
    asking = client.start("tools/call", {"name": "wipe"})
    until(lambda: dispatcher.consent.questions, "the question")
    holding = client.start("tools/call", {"name": "hold"})
    assert gate.entered.wait(DEADLINE)
    waiting = client.start("tools/call", {"name": "change"})
    until(lambda: len(dispatcher.calls) == 3, "three calls")
    server.app.controls.stop()
    assert waiting.result(DEADLINE)["error"]["code"] == PAUSED
    for call in (asking, holding):
        assert call.result(DEADLINE)["error"]["code"] == REFUSED_BY_ARTIST
    gate.release.set()
    until(lambda: not dispatcher.calls, "the calls to end")
    assert (dispatcher.paused, dispatcher.stopped, ran) == (True, 3, [])
    server.app.controls.resume()
    until(lambda: not dispatcher.paused, "the server to resume")
    assert not client.call("change")["isError"]


def test_stop_ends_a_tool_without_an_end_and_puts_back_what_it_changed(
    server: Served, client: FakeClient
) -> None:
    changed = threading.Event()

    def forever(ctx: Any) -> None:
        ctx.port("scene.mutate").create("cube", "Half", {})
        changed.set()
        while True:
            pass

    server.tool("forever", forever, required_capabilities=("scene.mutate",))
    calling = client.start("tools/call", {"name": "forever"})
    assert changed.wait(DEADLINE)
    server.app.controls.stop()
    assert calling.result(DEADLINE)["error"]["code"] == REFUSED_BY_ARTIST
    assert server.on_main(server.host.scene.names) == []


def test_a_stop_for_one_client_ends_what_is_its_own_and_says_how_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    book = ClientBook()
    wild, kept = (book.make(name)[1] for name in ("wild", "kept"))
    ran: list[str] = []
    counted: Queue[int] = Queue()

    async def hold(ctx: Any) -> None:
        await asyncio.Event().wait()

    with served() as server:
        server.tool("hold", hold, annotations={"destructiveHint": False})
        server.tool("long", hold, execution="async", annotations={"destructiveHint": False})
        server.tool("wipe", lambda: ran.append("wiped"), annotations={"destructiveHint": True})
        controls, dispatcher = server.app.controls, server.app.dispatcher
        controls.set_consent_policy("destructive", "ask")
        controls.attend()
        with FakeClient(server.app.url, wild) as one, FakeClient(server.app.url, kept) as other:
            job = one.call("long")["structuredContent"]["job_id"]
            ending = [one.start("tools/call", {"name": name}) for name in ("hold", "wipe")]
            asking = other.start("tools/call", {"name": "wipe"})
            until(lambda: len(dispatcher.consent.questions) == 2, "two questions")
            until(lambda: len(dispatcher.calls) == 4, "four calls")
            controls.stop_client("wild", counted.put)
            assert counted.get(timeout=DEADLINE) == 3
            for call in ending:
                assert call.result(DEADLINE)["error"]["code"] == REFUSED_BY_ARTIST
            until(
                lambda: server.app.jobs.get(job, Owner(LOCAL)).ended, "the end of the client's job"
            )
            (question,) = dispatcher.consent.questions.values()
            controls.answer(question.id, "allow")
            assert not asking.result(DEADLINE)["result"]["isError"]
            assert ran == ["wiped"]
            # The client isn't paused.
            assert one.request("ping")["result"] == {}
            controls.stop_client("nobody", counted.put)
            assert counted.get(timeout=DEADLINE) == 0


# -- cancellation -------------------------------------------------------------------------------


def call_then_cancel(client: FakeClient, name: str, when: threading.Event, id: Any = "c") -> None:
    """Start a call, cancel it once ``when`` is set, and check that it gets no answer."""
    message = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name}}
    calling = client.in_thread(lambda: client.post(message))
    assert when.wait(DEADLINE)
    client.notify("notifications/cancelled", {"requestId": id, "reason": "changed my mind"})
    assert calling.result(DEADLINE).messages == []


def test_a_queued_call_that_is_cancelled_never_starts(server: Served, client: FakeClient) -> None:
    gate = Gate()
    ran: list[str] = []
    queued = threading.Event()

    server.tool("hold", gate)
    server.tool("never", lambda: ran.append("ran"))
    held = client.start("tools/call", {"name": "hold"})
    assert gate.entered.wait(DEADLINE)

    def tell_when_queued() -> None:
        until_queued(server, client, 1)
        queued.set()

    watching = client.in_thread(tell_when_queued)
    call_then_cancel(client, "never", queued)
    watching.result(DEADLINE)
    gate.release.set()
    held.result(DEADLINE)
    server.tool("last", lambda: "ran")
    assert client.call("last")["structuredContent"] == {"result": "ran"}
    assert ran == []


def test_a_generator_is_closed_before_its_next_slice_and_rolled_back(
    server: Served, client: FakeClient
) -> None:
    started, closed = threading.Event(), threading.Event()
    where: list[str] = []

    def slices(ctx: ToolContext) -> Iterator[None]:
        try:
            ctx.port(SCENE_MUTATE).create("cube", "c", {})
            while True:
                started.set()
                yield
        finally:
            where.append(threading.current_thread().name)
            closed.set()

    server.tool("slices", slices, **MUTATES)
    call_then_cancel(client, "slices", started)
    assert closed.wait(DEADLINE)
    assert where == ["fake-host-main"]
    assert server.on_main(server.host.scene.names) == []


def test_a_plain_function_sees_that_it_is_cancelled(server: Served, client: FakeClient) -> None:
    started, seen = threading.Event(), threading.Event()

    def asks(ctx: ToolContext) -> None:
        ctx.port(SCENE_MUTATE).create("cube", "c", {})
        started.set()
        while not ctx.cancelled:
            pass
        seen.set()

    server.tool("asks", asks, **MUTATES)
    call_then_cancel(client, "asks", started)
    assert seen.wait(DEADLINE)
    assert server.on_main(server.host.scene.names) == []


@pytest.mark.parametrize("affinity", ["main", "any"])
def test_a_cancelled_call_is_not_answered_by_its_late_result(
    server: Served, client: FakeClient, affinity: str
) -> None:
    gate = Gate()
    server.tool("slow", gate, affinity=affinity)
    server.tool("echo", lambda word: word)
    client.listen()
    call_then_cancel(client, "slow", gate.entered, id=5)
    echo = client.start("tools/call", {"name": "echo", "arguments": {"word": "mine"}}, id=5)
    gate.release.set()
    assert echo.result(DEADLINE)["result"]["structuredContent"] == {"result": "mine"}
    assert [m for m in client.received if m.get("id") == 5] == []


# -- progress and logging -----------------------------------------------------------------------


def test_progress_of_a_generator_comes_in_order_before_the_answer(
    server: Served, client: FakeClient
) -> None:
    def slices(ctx: ToolContext) -> Iterator[None]:
        for frame in range(1, 6):
            ctx.progress(frame, 5, f"frame {frame}")
            ctx.progress(frame, 5, "reported twice, sent once")
            yield

    server.tool("slices", slices)
    client.call("slices", _meta={"progressToken": 0})
    sent = [m["params"] for m in client.received if m["method"] == "notifications/progress"]
    assert sent == [
        {"progressToken": 0, "progress": n, "total": 5, "message": f"frame {n}"}
        for n in range(1, 6)
    ]


def test_progress_arrives_while_the_tool_still_runs(server: Served, client: FakeClient) -> None:
    go_on = threading.Event()

    def slices(ctx: ToolContext) -> Iterator[None]:
        ctx.progress(1)
        while not go_on.is_set():
            yield

    server.tool("slices", slices)
    params = {"name": "slices", "_meta": {"progressToken": "t"}}
    call = client.start("tools/call", params)
    client.wait_for("notifications/progress")
    assert not call.done()
    go_on.set()
    call.result(DEADLINE)


@pytest.mark.parametrize("token", ["t", None])
def test_a_call_that_waits_for_a_dialog_says_so(
    server: Served, client: FakeClient, token: str | None
) -> None:
    server.tool("works", lambda ctx: ctx.progress(1))
    meta = {} if token is None else {"_meta": {"progressToken": token}}
    with server.thread.block("Choose a face"):
        call = client.start("tools/call", {"name": "works", **meta})
        busy = "waiting: busy with Choose a face"
        if token is None:
            (told,) = client.wait_for("notifications/message")
            assert told["params"] == {"level": "info", "logger": "works", "data": busy}
        else:
            (told,) = client.wait_for("notifications/progress")
            assert told["params"] == {"progressToken": "t", "progress": 0, "message": busy}
    call.result(DEADLINE)
    assert len(client.received) == (1 if token is None else 2)


def test_without_a_token_there_is_no_progress(server: Served, client: FakeClient) -> None:
    server.tool("works", lambda ctx: ctx.progress(1, 2))
    answer = client.post(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "works"}}
    )
    assert not answer.streamed
    assert client.received == []


def test_a_session_hears_the_log_levels_it_asked_for(server: Served, client: FakeClient) -> None:
    def logs(ctx: ToolContext) -> None:
        for level in ("debug", "info", "warning", "error"):
            ctx.log(level, f"a word of {level}", lamp=3)

    server.tool("logs", logs)

    def heard() -> list[str]:
        client.received.clear()
        client.call("logs")
        return [m["params"]["level"] for m in client.received]

    assert heard() == ["info", "warning", "error"]
    assert client.request("logging/setLevel", {"level": "debug"})["result"] == {}
    assert heard() == ["debug", "info", "warning", "error"]
    client.request("logging/setLevel", {"level": "error"})
    assert heard() == ["error"]
    assert client.received[0]["params"] == {
        "level": "error",
        "logger": "logs",
        "data": {"message": "a word of error", "lamp": 3},
    }
    wrong = client.request("logging/setLevel", {"level": "loud"})["error"]
    assert wrong["code"] == INVALID_PARAMS
    assert "warning" in wrong["message"]


# -- the end ------------------------------------------------------------------------------------


def test_stopping_rolls_back_what_runs_and_leaves_nothing(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    host: list[FakeHost] = []
    ended = threading.Event()
    started = threading.Event()

    def slices(ctx: ToolContext) -> Iterator[None]:
        try:
            ctx.port(SCENE_MUTATE).create("cube", "c", {})
            while True:
                started.set()
                yield
        finally:
            ended.set()

    with served() as server:
        host.append(server.host)
        server.tool("slices", slices, **MUTATES)
        client = server.client()
        client.initialize()
        client.listen()
        call = client.start("tools/call", {"name": "slices"})
        assert started.wait(DEADLINE)
    assert ended.is_set()
    assert call.result(DEADLINE)["error"]["code"] == HOST_OFFLINE
    client.close()
    assert not host[0].undo_stack.open
    left = {t for t in threading.enumerate() if t not in before and not t.name.startswith("fake")}
    assert not {t for t in left if not t.name.startswith("callboard-worker")}
