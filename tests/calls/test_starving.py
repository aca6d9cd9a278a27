"""Tools that hang don't keep other calls waiting."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator

import pytest

from callboard.calls.call_workers import WORKERS, CallWorkers
from callboard.calls.entry import entry_of
from callboard.calls.tools import Tool
from callboard.errors import CALL_TIMEOUT, HostOffline
from callboard_testing.fake_host import DEADLINE
from serving import Served, served
from waiting import until


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def server() -> Iterator[Served]:
    with served(skills=True) as running:
        yield running


def running(server: Served, name: str) -> int:
    calls = list(server.app.dispatcher.calls.values())
    return sum(call.tool.name == name and call.state == "running" for call in calls)


def test_tools_that_hang_keep_nobody_from_ours(server: Served, gate: threading.Event) -> None:
    server.tool("hang", lambda: gate.wait(DEADLINE), affinity="any")
    with server.client() as client:
        callers = [
            threading.Thread(target=lambda: client.request("tools/call", {"name": "hang"}))
            for _ in range(WORKERS + 2)
        ]
        for caller in callers:
            caller.start()
        until(lambda: running(server, "hang") == WORKERS, "every worker to hang")
        assert client.call("skills__search", {"query": "sphere"})["isError"] is False
        gate.set()
        for caller in callers:
            caller.join(DEADLINE)


def test_workers_that_were_given_up_are_replaced(server: Served, gate: threading.Event) -> None:
    server.tool("hang", lambda: gate.wait(DEADLINE), affinity="any", timeout_secs=0.05)
    server.tool("quick", lambda: "there", affinity="any")
    with server.client() as client:
        for _ in range(3 * WORKERS):
            error = client.request("tools/call", {"name": "hang"})["error"]
            assert error["code"] == CALL_TIMEOUT
        assert client.call("quick")["structuredContent"] == {"result": "there"}
        answer = server.client().send("GET", path="/v1/readyz")
        assert json.loads(answer.body)["ready"] is True


def test_starving_is_told_with_the_tools_that_hold_the_threads(gate: threading.Event) -> None:
    async def check() -> None:
        workers = CallWorkers(starved=0.0)

        def tool(name: str) -> Tool:
            entry = entry_of(gate.wait, name, name)
            return Tool(name, name, {"type": "object"}, lambda: entry, affinity="any")

        held = [
            asyncio.ensure_future(workers.run(tool("hang"), gate.wait, DEADLINE))
            for _ in range(WORKERS)
        ]
        waiting = asyncio.ensure_future(workers.run(tool("quick"), pow, 2, 2))
        report = None
        while report is None or report["waited_ms"] == 0 or report["running"] != ["hang"]:
            await asyncio.sleep(0)
            report = workers.starving()
        gate.set()
        assert await waiting == 4
        await asyncio.gather(*held)
        workers.close()

    asyncio.run(asyncio.wait_for(check(), DEADLINE))


def test_readyz_says_that_calls_starve(server: Served, gate: threading.Event) -> None:
    server.app.dispatcher.workers = CallWorkers(starved=0.0)
    server.tool("hang", lambda: gate.wait(DEADLINE), affinity="any")
    with server.client() as client:
        callers = [
            threading.Thread(target=lambda: client.request("tools/call", {"name": "hang"}))
            for _ in range(WORKERS + 1)
        ]
        for caller in callers:
            caller.start()

        def told() -> bool:
            answer = server.client().send("GET", path="/v1/readyz")
            facts = json.loads(answer.body)
            starving = facts.get("starving", {})
            return answer.status == 503 and starving.get("running") == ["hang"]

        until(told, "readyz to report the stalled calls")
        gate.set()
        for caller in callers:
            caller.join(DEADLINE)


def test_a_call_after_the_end_is_told_that_it_did_not_begin() -> None:
    def late() -> None:
        raise AssertionError("the call started after the server had stopped")

    tool = Tool("late", "Comes late.", {"type": "object"}, lambda: entry_of(late, "late", "late"))

    async def call() -> None:
        workers = CallWorkers()
        workers.close()
        await workers.run(tool, late)

    with pytest.raises(HostOffline, match="nothing was changed"):
        asyncio.run(call())
