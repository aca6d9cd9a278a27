"""A call by a name that would reach a different scene is refused, however the call arrives."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from gateway_thread import RunningGateway, running_gateway
from test_named_hosts import META
from test_names import open_scene

from callboard_testing.fake_client import FakeClient
from serving import Served, served
from waiting import until

CODE = -31006
GONE, THERE = "/scenes/s01.usd", "/scenes/s08.usd"
#: Calls to ``/mcp`` that name the instance in their params: the method, and the params.
BY_NAME = [
    ("tools/call", {"name": "tools__call", "arguments": {"instance": "fake", "tool": "change"}}),
    ("tools/call", {"name": "instances__attach", "arguments": {"instance": "fake"}}),
    ("prompts/get", {"name": "fake__greet"}),
    ("resources/read", {"uri": "instance://fake/scene://current"}),
    (
        "completion/complete",
        {
            "ref": {"type": "ref/prompt", "name": "fake__greet"},
            "argument": {"name": "a", "value": ""},
        },
    ),
]
#: Calls to the address of the name itself.
AT_NAME = [
    ("tools/call", {"name": "change", "arguments": {}}),
    ("prompts/get", {"name": "greet"}),
    ("resources/read", {"uri": "scene://current"}),
    ("tasks/get", {"taskId": "t"}),
    ("subscriptions/listen", {"notifications": {"toolsListChanged": True}}),
]


class Scenes:
    """Two hosts with a scene each. The first one, ``fake``, is gone."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.changed: list[str] = []
        with running_gateway() as gateway, served(announce=True) as first:
            open_scene(first, GONE)
            until(lambda: listed(gateway) == {"fake": GONE}, "the first scene's name")
            self.heir = self.start(THERE)
            until(
                lambda: listed(gateway) == {"fake": GONE, "fake_2": THERE},
                "the second scene's name",
            )

    def start(self, scene: str) -> Served:
        server = self._stack.enter_context(served(announce=True))
        server.tool("change", lambda: self.changed.append(scene))
        open_scene(server, scene)
        return server


def listed(gateway: RunningGateway) -> dict[str, str]:
    with gateway.client() as client:
        rows = client.call("instances__list")["structuredContent"]["instances"]
    return {row["name"]: row["scene"] for row in rows}


@pytest.fixture
def scenes() -> Iterator[Scenes]:
    with ExitStack() as stack:
        yield Scenes(stack)


def check(error: dict[str, Any], name: str = "fake") -> None:
    assert error["code"] == CODE, error
    assert error["data"]["name"] == name
    assert error["data"]["stood_for"]["scene"] == GONE
    assert [(row["name"], row["scene"]) for row in error["data"]["names"]] == [("fake_2", THERE)]
    assert "Retrying does not help" in error["message"]
    assert f"callboard gateway --forget {name}" in error["message"]


def asked(client: FakeClient, method: str, params: dict[str, Any]) -> dict[str, Any]:
    error: dict[str, Any] = client.request(method, params)["error"]
    return error


def stateless(client: FakeClient, method: str, params: dict[str, Any]) -> dict[str, Any]:
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
    for named in ("name", "uri", "taskId"):
        if named in params:
            headers["Mcp-Name"] = params[named]
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": META, **params}}
    error: dict[str, Any] = client.post(message, headers).message["error"]
    return error


def test_after_a_restart_of_the_gateway_no_way_leads_to_another_scene(scenes: Scenes) -> None:
    with running_gateway() as gateway:
        with gateway.client() as client:
            for method, params in BY_NAME:
                check(asked(client, method, params))
        with gateway.client("fake") as client:
            for method, params in AT_NAME[:3]:
                check(asked(client, method, params))
        own, at = gateway.client(), gateway.client("fake")
        for method, params in [*BY_NAME[:1], *BY_NAME[2:]]:
            check(stateless(own, method, params))
        for method, params in AT_NAME:
            check(stateless(at, method, params))
        assert scenes.changed == []
        with gateway.client("fake_2") as client:
            client.call("change")
    assert scenes.changed == [THERE]


def test_a_conversation_does_not_follow_its_host_into_another_scene(scenes: Scenes) -> None:
    with running_gateway() as gateway, gateway.client("fake_2") as client:
        client.call("change")
        open_scene(scenes.heir, "/scenes/v2.usd", saved=True)
        client.call("change")
        open_scene(scenes.heir, "/scenes/other.usd")
        error = asked(client, *AT_NAME[0])
        assert (error["code"], error["data"]["stood_for"]["scene"]) == (CODE, "/scenes/v2.usd")
        assert error["data"]["names"][0]["name"] == "fake_3"
        attached = {"name": "instances__attach", "arguments": {"instance": "fake_3"}}
        with gateway.client() as own:
            assert "error" not in own.request("tools/call", attached)
            open_scene(scenes.heir, "/scenes/v2.usd")
            assert asked(own, "tools/call", {"name": "fake_3__change"})["code"] == CODE
        client.call("change")
    assert len(scenes.changed) == 3
