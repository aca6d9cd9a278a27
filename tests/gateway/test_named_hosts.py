"""``/mcp/<name>``: the clients that may use it, the host that answers, and what happens when that
host ends."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gateway_thread import RunningGateway, running_gateway

from callboard.clients.book import ClientBook
from callboard.errors import HostError
from callboard.transport.http.listener import bound
from callboard_programs.gateway.gateway import Gateway
from callboard_programs.gateway.kept_address import KeptAddress, read_address
from callboard_testing.fake_client import FakeClient
from serving import Served, served
from waiting import until

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "stateless", "version": "1"},
}


@pytest.fixture
def host() -> Iterator[Served]:
    with served(announce=True) as running:
        running.tool("who", lambda: running.app.id, annotations={"readOnlyHint": True})
        yield running


def stateless(client: FakeClient, method: str, **params: Any) -> Any:
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
    if "name" in params:
        headers["Mcp-Name"] = params["name"]
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": META, **params}}
    return client.post(message, headers)


@pytest.mark.parametrize("path", ["/mcp", "/mcp/fake", "/mcp/fake_2", "/v1/healthz", "/"])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": None}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Host": "evil.example:80"}, 421),
        ({"Origin": "http://evil.example"}, 403),
    ],
)
def test_every_path_asks_for_host_origin_and_token(
    gateway: RunningGateway, path: str, headers: dict[str, str | None], status: int
) -> None:
    client = gateway.client()
    assert client.send("POST", b"{}", headers, path).status == status
    assert client.send("GET", b"", headers, path).status == status


@pytest.mark.parametrize("path", ["/v1/tools", "/x", "/.well-known/oauth-protected-resource"])
def test_where_nothing_is_no_token_is_asked_for(gateway: RunningGateway, path: str) -> None:
    client = gateway.client()
    for token in (None, "Bearer wrong"):
        assert client.send("GET", b"", {"Authorization": token}, path).status == 404
    assert client.send("GET", b"", {"Host": "evil.example:80"}, path).status == 421
    assert client.send("POST", b"{}", {"Origin": "http://evil.example"}, path).status == 403


@pytest.mark.parametrize(
    "name", ["", "..", "a/b", "Fake", "fake_1", "%66ake", "fake_2_2", "x" * 99]
)
def test_what_can_be_nobodys_name_is_not_found(gateway: RunningGateway, name: str) -> None:
    assert gateway.client().send("POST", b"{}", path=f"/mcp/{name}").status == 404


def test_each_name_is_that_host_and_nothing_else(gateway: RunningGateway, host: Served) -> None:
    with served(announce=True) as other:
        other.tool("who", lambda: other.app.id)
        with gateway.client("fake") as first, gateway.client("fake_2") as second:
            assert first.call("who")["structuredContent"] == {"result": host.app.id}
            assert second.call("who")["structuredContent"] == {"result": other.app.id}
            swapped = first.send("POST", b"{}", path="/mcp/fake_2")
            assert swapped.status in (400, 404)
            listing = {"jsonrpc": "2.0", "id": 9, "method": "tools/list"}
            body = json.dumps(listing).encode()
            assert first.send("POST", body, path="/mcp/fake_2").status == 404


def test_the_host_sees_the_client_itself(gateway: RunningGateway, host: Served) -> None:
    _, token = ClientBook().make("ada")
    with gateway.client("fake", token=token) as client:
        client.call("who")
        (session,) = host.app.endpoint.sessions
        assert (session.holder.name, session.client.name) == ("ada", "fake")
        stranger = gateway.client("fake")
        stranger.headers["Mcp-Session-Id"] = str(client.session)
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        assert stranger.post(asked).status == 404
        # Another address doesn't reveal that there is such a session either.
        body = json.dumps(asked).encode()
        known = stranger.send("POST", body, path="/mcp/other")
        never = stranger.send("POST", body, {"Mcp-Session-Id": "0" * 32}, "/mcp/other")
        assert (known.status, known.body) == (never.status, never.body)
        ClientBook().revoke("ada")
        assert client.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).status == 401
    until(lambda: not host.app.endpoint.sessions, "the end of the revoked client's session")


def test_a_client_that_leaves_is_gone_from_the_host_too(
    gateway: RunningGateway, host: Served
) -> None:
    with gateway.client("fake") as client:
        client.call("who")
        assert len(list(host.app.endpoint.sessions)) == 1
    until(lambda: not host.app.endpoint.sessions, "the end of the session in the host")


def test_without_the_host_each_era_is_told_that_nothing_was_changed(
    gateway: RunningGateway,
) -> None:
    with gateway.client("maya") as client:
        assert "no maya is running" in str(client.call("scene__scene_info"))
    answer = stateless(gateway.client("maya"), "tools/call", name="x", arguments={})
    assert answer.message["result"]["isError"] is True
    assert "no maya is running" in str(answer.message)


def test_stateless_requests_pass_with_their_status(gateway: RunningGateway, host: Served) -> None:
    client = gateway.client("fake")
    called = stateless(client, "tools/call", name="who", arguments={})
    assert called.message["result"]["structuredContent"] == {"result": host.app.id}
    assert called.message["result"]["resultType"] == "complete"
    unknown = stateless(client, "no/such")
    assert (unknown.status, unknown.message["error"]["code"]) == (404, -32601)
    other = client.post(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}},
        {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "prompts/list"},
    )
    assert (other.status, other.message["error"]["code"]) == (400, -32020)


def test_a_host_that_forgot_the_session_is_initialized_again(
    gateway: RunningGateway, host: Served
) -> None:
    with gateway.client("fake") as client:
        client.call("who")
        sessions = host.app.endpoint.sessions
        forgotten = {session.id for session in sessions}
        host.on_main(lambda: [sessions.end(session) for session in sessions])
        assert client.call("who")["structuredContent"] == {"result": host.app.id}
        assert {session.id for session in sessions}.isdisjoint(forgotten)


def test_address_and_token_outlive_the_gateway(home: Path) -> None:
    with bound("127.0.0.1", 0, 1) as free:
        port = free.getsockname()[1]
    with (
        running_gateway(port) as first,
        pytest.raises(HostError, match="another gateway may be"),
    ):
        asyncio.run(Gateway().serve(lambda: None, asyncio.Event()))
    with running_gateway(None) as second:
        assert (second.url, second.token) == (first.url, first.token)
    if os.name != "nt":
        assert (home / "gateway.json").stat().st_mode & 0o777 == 0o600
    (home / "gateway.json").write_text('{"port": -1, "token": 7}', "utf-8")
    assert read_address() == KeptAddress()
