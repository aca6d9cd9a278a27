"""Traffic through the gateway while a call runs and between calls, at an instance's own address and
through a conversation that attached it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from gateway_thread import RunningGateway

from callboard.extensions import host
from callboard.service.resources import ServedResource
from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import DEADLINE
from one_era import Era, speak_only
from serving import Served, served, text_of
from waiting import until

CAPABILITIES: dict[str, Any] = {
    "sampling": {},
    "elicitation": {"form": {}},
    "roots": {"listChanged": True},
    "extensions": {
        "ai.nimblebrain/host-resources": {
            "read": {"enabled": True, "maxSize": 1000},
            "list": {"enabled": True},
            "schemes": ["files"],
        }
    },
}


@dataclass
class Probe:
    """A host, and the events that its tools observed."""

    host: Served
    cancelled: threading.Event = field(default_factory=threading.Event)

    def offer(self) -> None:
        for function in (self.steps, self.think, self.forever, self.roots_of, self.file_of):
            self.host.tool(function.__name__, function)

    def steps(self, ctx: Any) -> Iterator[None]:
        for step in (1, 2):
            ctx.log("info", f"step {step}")
            ctx.progress(step, 2, "stepping")
            yield

    def think(self, ctx: Any) -> str:
        return str(ctx.sample("What?", 10)["content"]["text"])

    async def forever(self, ctx: Any) -> None:
        ctx.progress(1, 2, "waiting")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise

    def roots_of(self, ctx: Any) -> list[str]:
        return [Path(root.path).as_posix() for root in ctx.roots.roots if root.path]

    async def file_of(self, ctx: Any) -> str:
        contents = (await host(ctx).read("files://x")).contents
        return str(contents[0].text)


@dataclass
class Passing:
    """A client that has reached the probe in one way."""

    client: FakeClient
    probe: Probe
    prefix: str
    roots: list[str]

    def call(self, tool: str) -> str:
        return text_of(self.client.call(self.prefix + tool))


@contextmanager
def passing(
    gateway: RunningGateway, probe: Probe, way: str, name: str = "Ada"
) -> Iterator[Passing]:
    roots = [f"/projects/{name}"]
    answers = {
        "sampling/createMessage": lambda params: {
            "role": "assistant",
            "content": {"type": "text", "text": f"{name} thinks"},
            "model": "test",
        },
        "ai.nimblebrain/resources/read": lambda params: {
            "contents": [{"uri": params["uri"], "mimeType": "text/plain", "text": f"of {name}"}]
        },
        "roots/list": lambda params: {
            "roots": [{"uri": Path(path).absolute().as_uri()} for path in roots]
        },
    }
    path = "fake" if way == "named" else ""
    with gateway.client(path, CAPABILITIES, answers) as client:
        client.listen()
        if way == "attached":
            client.call("instances__attach", {"instance": "fake"})
        yield Passing(client, probe, "" if way == "named" else "fake__", roots)


@pytest.fixture
def probe() -> Iterator[Probe]:
    with served(announce=True) as host:
        probe = Probe(host)
        probe.offer()
        yield probe


@pytest.fixture(params=["named", "attached", "named without sessions"])
def ada(gateway: RunningGateway, probe: Probe, request: Any) -> Iterator[Passing]:
    way, _, only = request.param.partition(" ")
    if only:
        speak_only(probe.host.app, "stateless")
    with passing(gateway, probe, way) as reached:
        yield reached


def test_progress_and_logs_come_before_the_answer(ada: Passing) -> None:
    tool = {"name": ada.prefix + "steps", "arguments": {}, "_meta": {"progressToken": "t"}}
    message = {"jsonrpc": "2.0", "id": "s", "method": "tools/call", "params": tool}
    answer = ada.client.post(message)
    assert answer.message["id"] == "s"
    steps = ada.client.wait_for("notifications/progress", 2)
    assert [step["params"]["progress"] for step in steps] == [1, 2]
    assert {step["params"]["progressToken"] for step in steps} == {"t"}
    logs = ada.client.wait_for("notifications/message", 2)
    assert "step 1" in str(logs[0])


def test_the_level_of_logs_is_the_clients(ada: Passing) -> None:
    assert ada.client.request("logging/setLevel", {"level": "error"})["result"] == {}
    ada.call("steps")
    assert "error" in ada.client.request("logging/setLevel", {"level": "loud"})
    assert not [m for m in ada.client.received if m["method"] == "notifications/message"]


def test_each_client_answers_its_own_questions(
    ada: Passing, gateway: RunningGateway, probe: Probe
) -> None:
    with (
        passing(gateway, probe, "attached", "Bob") as bob,
        passing(gateway, probe, "named", "Eve") as eve,
    ):
        thoughts = [each.client.in_thread(lambda e=each: e.call("think")) for each in (bob, eve)]
        assert ada.call("think") == "Ada thinks"
        assert [each.result(DEADLINE) for each in thoughts] == ["Bob thinks", "Eve thinks"]


def test_a_cancelled_call_ends_in_the_host(ada: Passing, probe: Probe) -> None:
    tool = {"name": ada.prefix + "forever", "arguments": {}, "_meta": {"progressToken": "t"}}
    message = {"jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": tool}
    calling = ada.client.in_thread(lambda: ada.client.post(message))
    ada.client.wait_for("notifications/progress")
    ada.client.notify("notifications/cancelled", {"requestId": "c"})
    assert probe.cancelled.wait(DEADLINE)
    assert calling.result(DEADLINE).messages == []


def test_a_bundle_reads_the_clients_files(ada: Passing) -> None:
    assert ada.call("file_of") == "of Ada"


def test_changed_roots_are_asked_for_again(ada: Passing) -> None:
    assert "/projects/Ada" in ada.call("roots_of")
    ada.roots[:] = ["/projects/other"]
    ada.client.notify("notifications/roots/list_changed")
    until(lambda: "/projects/other" in ada.call("roots_of"), "the other root")


def test_a_client_without_a_stream_is_asked_on_that_of_its_call(
    gateway: RunningGateway, probe: Probe
) -> None:
    asked: list[Any] = []

    def roots_of_client(params: Any) -> Any:
        asked.append(params)
        return {"roots": []}

    with gateway.client("fake", CAPABILITIES, {"roots/list": roots_of_client}) as client:
        client.call("roots_of")
        before = len(asked)
        message = {"jsonrpc": "2.0", "id": "c", "method": "tools/call"}
        params = {"name": "forever", "arguments": {}, "_meta": {"progressToken": "t"}}
        calling = client.in_thread(lambda: client.post({**message, "params": params}))
        client.wait_for("notifications/progress")
        client.notify("notifications/roots/list_changed")
        until(lambda: len(asked) > before, "a question during the call")
        client.notify("notifications/cancelled", {"requestId": "c"})
        assert probe.cancelled.wait(DEADLINE)
        calling.result(DEADLINE)


def test_changes_of_a_hosts_list_are_told(ada: Passing, probe: Probe) -> None:
    def told() -> int:
        heard = [m["method"] for m in ada.client.received]
        return heard.count("notifications/tools/list_changed")

    before = told()
    probe.host.tool("another", lambda: "new")
    until(lambda: told() > before, "the change of the list")
    assert ada.call("another") == "new"


@pytest.mark.parametrize("era", [None, "stateless"])
def test_resources_are_read_and_watched_by_the_instances_address(
    gateway: RunningGateway, probe: Probe, era: Era | None
) -> None:
    if era is not None:
        speak_only(probe.host.app, era)
    probe.host.app.resources.add(ServedResource("file:///x", "x", read=lambda: "text"))
    with passing(gateway, probe, "named") as ada:
        uri = {"uri": "file:///x"}
        assert ada.client.request("resources/subscribe", uri)["result"] == {}
        contents = ada.client.request("resources/read", uri)["result"]["contents"]
        assert contents[0]["text"] == "text"
        app = probe.host.app
        app.guest.loop.call_soon_threadsafe(
            app.endpoint.subscriptions.resource_updated, "file:///x"
        )
        ada.client.wait_for("notifications/resources/updated")
