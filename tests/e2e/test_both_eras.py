"""A tool that asks its client has the same result, whether the client has a session or makes
independent requests, over HTTP or through the bridge."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from callboard_testing.fake_client import FakeClient
from e2e.serving import Program
from e2e.test_stdio import RawBridge

Json = dict[str, Any]
ROOTS = {"roots": [{"uri": "file:///projects/ada", "name": "ada"}]}
CAPABILITIES = {"elicitation": {}, "roots": {}}


def by_session(revision: str) -> Callable[[Program, Path, Json], Json]:
    def call(host: Program, home: Path, answer: Json) -> Json:
        answers = {"elicitation/create": lambda params: answer, "roots/list": lambda params: ROOTS}
        with FakeClient(
            host.url, host.token, capabilities=CAPABILITIES, answers=answers, revision=revision
        ) as client:
            return client.call("probe__introduce")

    return call


def in_rounds(ask: Callable[[Json], Json], answer: Json) -> Json:
    """Call the tool as a stateless client does: again and again, with the answers, until the result
    is complete."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
    }
    params: Json = {"name": "probe__introduce", "arguments": {}, "_meta": meta}
    for number in itertools.count(1):
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        result: Json = ask(message)["result"]
        if result["resultType"] != "input_required":
            # Only this era's results have these members.
            assert result.pop("resultType") == "complete"
            assert list(result.pop("_meta")) == ["io.modelcontextprotocol/serverInfo"]
            return result
        responses = {
            key: ROOTS if asked["method"] == "roots/list" else answer
            for key, asked in result["inputRequests"].items()
        }
        state = {"requestState": result["requestState"]}
        params = {**params, "inputResponses": responses, **state}
    raise AssertionError


def stateless(host: Program, home: Path, answer: Json) -> Json:
    headers = {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "probe__introduce",
    }
    client = FakeClient(host.url, host.token)
    return in_rounds(lambda message: client.post(message, headers).message, answer)


def stateless_over_stdio(host: Program, home: Path, answer: Json) -> Json:
    bridge = RawBridge(home)
    try:
        return in_rounds(bridge.ask, answer)
    finally:
        bridge.close()


def session_over_stdio(host: Program, home: Path, answer: Json) -> Json:
    bridge = RawBridge(home)
    try:
        client = {"name": "raw", "version": "1"}
        opening = {"protocolVersion": "2025-11-25", "capabilities": CAPABILITIES}
        params = {**opening, "clientInfo": client}
        bridge.ask({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        bridge.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        call = {"method": "tools/call", "params": {"name": "probe__introduce"}}
        bridge.send(json.dumps({"jsonrpc": "2.0", "id": 1, **call}).encode())
        while "method" in (message := bridge.receive()):
            if "id" in message:
                result = ROOTS if message["method"] == "roots/list" else answer
                response = {"jsonrpc": "2.0", "id": message["id"], "result": result}
                bridge.send(json.dumps(response).encode())
        outcome: Json = message["result"]
        return outcome
    finally:
        bridge.close()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"action": "accept", "content": {"name": "Ada"}}, {"action": "accept", "name": "Ada"}),
        ({"action": "decline"}, {"action": "decline", "name": None}),
    ],
    ids=["accepted", "declined"],
)
@pytest.mark.parametrize(
    "call",
    [
        by_session("2025-06-18"),
        by_session("2025-11-25"),
        stateless,
        session_over_stdio,
        stateless_over_stdio,
    ],
    ids=["2025-06-18", "2025-11-25", "2026-07-28", "session-stdio", "stateless-stdio"],
)
def test_what_a_tool_asks_has_one_answer_in_every_era(
    host: Program,
    home: Path,
    call: Callable[[Program, Path, Json], Json],
    answer: Json,
    expected: Json,
) -> None:
    whole = {**expected, "roots": [str(Path("/projects/ada"))]}
    text = json.dumps(whole, separators=(",", ":"))
    assert call(host, home, answer) == {
        "content": [{"type": "text", "text": text}],
        "structuredContent": whole,
        "isError": False,
    }
