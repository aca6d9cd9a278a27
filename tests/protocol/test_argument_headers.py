"""Headers that repeat arguments (2026-07-28, Streamable HTTP) are checked before the tool runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from callboard.protocol.errors import HEADER_MISMATCH
from serving import Served, served
from stateless_client import Stateless

SCHEMA = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
}


@pytest.fixture
def server() -> Iterator[Served]:
    with served() as running:
        running.tool("where", lambda region="nowhere": region, SCHEMA)
        yield running


def post(server: Served, params: dict[str, Any], **headers: str) -> tuple[int, dict[str, Any]]:
    with server.client() as raw:
        message, basic = Stateless(raw).message("tools/call", params)
        answer = raw.post(message, {**basic, **headers})
        return answer.status, answer.message


def test_a_header_that_repeats_its_argument_passes(server: Served) -> None:
    params = {"name": "where", "arguments": {"region": "stage left"}}
    status, answer = post(server, params, **{"Mcp-Param-Region": "stage left"})
    assert (status, answer["result"]["isError"]) == (200, False)


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({"region": "stage left"}, {}),
        ({"region": "stage left"}, {"Mcp-Param-Region": "stage right"}),
        ({}, {"Mcp-Param-Region": "stage left"}),
        (None, {"Mcp-Param-Region": "stage left"}),
    ],
)
def test_one_that_differs_is_refused(
    server: Served, arguments: dict[str, str] | None, headers: dict[str, str]
) -> None:
    status, answer = post(server, {"name": "where", "arguments": arguments}, **headers)
    assert (status, answer["error"]["code"]) == (400, HEADER_MISMATCH)
    assert "Mcp-Param-Region" in answer["error"]["message"]


@pytest.mark.parametrize(
    "params", [{"name": "nothing", "arguments": {}}, {"name": "where", "arguments": ["region"]}]
)
def test_a_call_that_is_wrong_itself_is_told_so(server: Served, params: dict[str, Any]) -> None:
    _, answer = post(server, params, **{"Mcp-Param-Region": "stage left"})
    assert answer["error"]["code"] == -32602
