"""A client gets an answer even if a value can't be represented in JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from callboard.content import Result
from callboard.errors import INTERNAL_ERROR
from serving import Served, served, text_of

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
}


@pytest.fixture
def app() -> Iterator[Served]:
    with served() as app:
        yield app


def call(app: Served, era: str, tool: str) -> Any:
    client = app.client({"elicitation": {}})
    message: dict[str, Any] = {
        "jsonrpc": "2.0",
        "id": 5,
        "method": "tools/call",
        "params": {"name": tool, "arguments": {}},
    }
    if era == "session":
        with client:
            return client.post(message).message
    message["params"]["_meta"] = META
    mirrored = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool}
    return client.post(message, mirrored).message


@pytest.mark.parametrize("era", ["session", "stateless"])
@pytest.mark.parametrize("talks", [False, True])
@pytest.mark.parametrize("value", [float("inf"), {1, 2}, b"bytes"])
def test_a_result_is_an_error_with_the_request_s_id(
    app: Served, era: str, talks: bool, value: Any
) -> None:
    def odd(ctx: Any) -> Result:
        if talks:
            ctx.log("error", "so the answer is a stream")
        return Result(["text"], structured={"value": value})

    app.tool("odd", odd)
    answer = call(app, era, "odd")
    assert answer["id"] == 5
    if "error" in answer:
        assert answer["error"]["code"] == INTERNAL_ERROR
    else:
        assert answer["result"]["isError"] is True


@pytest.mark.parametrize("era", ["session", "stateless"])
def test_a_question_is_the_tool_s_error(app: Served, era: str) -> None:
    def ask(ctx: Any) -> None:
        ctx.elicit("Which?", {"type": "object", "properties": {"a": {"enum": {1, 2}}}})

    app.tool("ask", ask)
    result = call(app, era, "ask")["result"]
    assert result["isError"] is True
    assert "JSON" in text_of(result)
