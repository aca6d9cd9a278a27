"""``/mcp``: the gateway's own tools, and instances that are attached to one conversation only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gateway_thread import RunningGateway

from callboard.demand import report, request_capability
from callboard.records.reader import Reader
from callboard.records.store import default_folder
from callboard_testing.fake_client import Answer, FakeClient
from serving import Served, served, text_of
from stateless_client import Stateless
from waiting import until

OWN = {
    "instances__list",
    "instances__attach",
    "instances__detach",
    "instances__transfer",
    "tools__search",
    "tools__describe",
    "tools__call",
    request_capability.TOOL_NAME,
}
LONG = "a_tool_whose_name_is_as_long_as_clients_take_and_no_longer_than"
CAN_BE_ASKED: dict[str, Any] = {"elicitation": {"form": {}}, "roots": {"listChanged": True}}
FORM = {"type": "object", "properties": {"name": {"type": "string"}}}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": CAN_BE_ASKED,
}


def greet(ctx: Any) -> str:
    return f"Hello {ctx.elicit('Who?', FORM).content['name']}"


def roots_of(ctx: Any) -> list[str]:
    return [Path(root.path).as_posix() for root in ctx.roots.roots if root.path]


@pytest.fixture
def hosts() -> Iterator[list[Served]]:
    with (
        served(announce=True, capture_missing_capabilities=True) as first,
        served(announce=True, capture_missing_capabilities=True) as second,
    ):
        for host in (first, second):
            offer(host)
        yield [first, second]


def offer(host: Served) -> None:
    host.tool("who", lambda: host.app.id)
    host.tool("greet", greet)
    host.tool("roots_of", roots_of)
    host.tool(LONG, lambda: "long")


def client_of(gateway: RunningGateway, name: str = "Ada") -> FakeClient:
    roots = {"roots": [{"uri": Path(f"/projects/{name}").absolute().as_uri()}]}
    answers = {
        "elicitation/create": lambda params: {"action": "accept", "content": {"name": name}},
        "roots/list": lambda params: roots,
    }
    return gateway.client("", CAN_BE_ASKED, answers)


def listed(client: FakeClient) -> list[str]:
    return [tool["name"] for tool in client.request("tools/list")["result"]["tools"]]


def rows(client: FakeClient) -> list[dict[str, Any]]:
    instances: list[dict[str, Any]] = client.call("instances__list")["structuredContent"][
        "instances"
    ]
    return instances


def stateless(client: FakeClient, tool: str, arguments: Any, **params: Any) -> Answer:
    headers = {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
    }
    call = {"_meta": META, "name": tool, "arguments": arguments, **params}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    return client.post(message, headers)


def test_what_is_attached_belongs_to_one_conversation(
    gateway: RunningGateway, hosts: list[Served]
) -> None:
    with client_of(gateway) as first, client_of(gateway, "Bob") as second:
        first.listen()
        assert set(listed(first)) == OWN
        assert [row["name"] for row in rows(first)] == ["fake", "fake_2"]
        first.call("instances__attach", {"instance": "fake"})
        first.wait_for("notifications/tools/list_changed")
        second.call("instances__attach", {"instance": hosts[1].app.id})
        assert set(listed(first)) > OWN
        assert {"fake__who", "fake__greet"} <= set(listed(first))
        assert "fake_2__who" not in listed(first)
        assert [row["attached"] for row in rows(second)] == [False, True]
        assert text_of(first.call("fake__who")) == hosts[0].app.id
        assert text_of(second.call("fake_2__who")) == hosts[1].app.id
        unknown = second.request("tools/call", {"name": "fake__who", "arguments": {}})
        assert "unknown tool 'fake__who'" in unknown["error"]["message"]
        first.call("instances__detach", {"instance": "fake"})
        assert set(listed(first)) == OWN


def test_names_are_short_enough_and_the_tool_that_asks_is_listed_once_and_last(
    gateway: RunningGateway, hosts: list[Served]
) -> None:
    with client_of(gateway) as client:
        for name in ("fake", "fake_2"):
            client.call("instances__attach", {"instance": name})
        names = listed(client)
        assert all(len(name) < 64 for name in names)
        assert len(set(names)) == len(names)
        assert names[-1] == "mcpeye_request_capability"
        assert sum("mcpeye" in name for name in names) == 1
        for name in [name for name in names if name.startswith(("fake__a_t", "fake_2__a_t"))]:
            assert text_of(client.call(name)) == "long"
        assert "isError" in client.call(names[-1], {"capability": "simulate cloth"})


def test_the_tool_that_asks_is_there_without_an_instance_and_is_recorded(
    gateway: RunningGateway,
) -> None:
    with client_of(gateway) as client:
        stateless = Stateless(client)
        for each in (client, stateless):
            tools = each.request("tools/list")["result"]["tools"]
            assert tools[-1] == request_capability.descriptor()
            asked = each.call(request_capability.TOOL_NAME, {"capability": "simulate cloth"})
            assert text_of(asked) == request_capability.ACK
            assert each.call(request_capability.TOOL_NAME, {"capability": "  "})["isError"]

    def requested() -> int:
        (row,) = report.build(Reader(default_folder()))["topMissingCapabilities"] or [{"count": 0}]
        return int(row["count"])

    until(lambda: requested() == 2, "both requests are in the report")


@pytest.mark.usefixtures("hosts")
def test_a_host_asks_the_client_of_the_call_whichever_way_it_calls(
    gateway: RunningGateway,
) -> None:
    with client_of(gateway) as ada, client_of(gateway, "Bob") as bob:
        ada.listen()
        bob.call("instances__attach", {"instance": "fake"})
        call = {"instance": "fake", "tool": "greet"}
        assert text_of(ada.call("tools__call", call)) == "Hello Ada"
        assert text_of(bob.call("fake__greet")) == "Hello Bob"
        assert "/projects/Ada" in text_of(
            ada.call("tools__call", {"instance": "fake", "tool": "roots_of"})
        )
        assert "/projects/Bob" in text_of(bob.call("fake__roots_of"))


@pytest.mark.usefixtures("hosts")
def test_without_a_session_a_call_names_its_instance_and_is_asked_by_that_host(
    gateway: RunningGateway,
) -> None:
    client = client_of(gateway)
    call = {"instance": "fake_2", "tool": "greet"}
    asked = stateless(client, "tools__call", call).message["result"]
    assert asked["resultType"] == "input_required"
    ((key, _),) = asked["inputRequests"].items()
    told = {key: {"action": "accept", "content": {"name": "Ada"}}}
    state = {"inputResponses": told, "requestState": asked["requestState"]}
    answered = stateless(client, "tools__call", call, **state).message["result"]
    assert text_of(answered) == "Hello Ada"
    other = stateless(client, "tools__call", {**call, "instance": "nobody"}).message
    assert "running: fake, fake_2" in other["error"]["message"]
    attached = stateless(client, "instances__attach", {"instance": "fake"}).message["result"]
    assert attached["isError"]
    assert "/mcp/<name>" in text_of(attached)


def test_tools_of_all_instances_are_searched_and_described(
    gateway: RunningGateway, hosts: list[Served]
) -> None:
    with client_of(gateway) as client:
        hits = client.call("tools__search", {"query": "greet"})["structuredContent"]["hits"]
        assert {(hit["instance"], hit["tool"]) for hit in hits} == {
            ("fake", "greet"),
            ("fake_2", "greet"),
        }
        only = {"query": "greet", "instance": "fake_2"}
        hits = client.call("tools__search", only)["structuredContent"]["hits"]
        assert [hit["instance"] for hit in hits] == ["fake_2"]
        described = client.call("tools__describe", {"instance": "fake", "tool": "who"})
        assert described["structuredContent"]["tool"]["inputSchema"] == {"type": "object"}
        assert client.call("tools__describe", {"instance": "fake", "tool": "no"})["isError"]
        wrong = client.request("tools/call", {"name": "tools__search", "arguments": {"q": 1}})
        assert wrong["error"]["code"] == -32602
        assert json.dumps(rows(client)).count(hosts[0].app.id) == 1
