"""The client is whoever holds a token, in both eras and over REST, until the token is revoked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from callboard.clients.book import ClientBook
from callboard.clients.holder import LOCAL
from callboard.clients.owner import Owner
from callboard.ground.file_lock import lock
from callboard.protocol.peer import PeerRequest
from callboard_testing.fake_client import FakeClient
from serving import Served, served
from stateless_client import Stateless
from waiting import until

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClientBook:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    return ClientBook()


@pytest.fixture
def server(book: ClientBook) -> Iterator[Served]:
    with served() as running:
        yield running


def nothing() -> None:
    """Do nothing."""


def client_of(server: Served, token: str) -> FakeClient:
    return FakeClient(server.app.url, token)


def reread(server: Served) -> None:
    """Make the instance read the clients' file again, as ``callboard clients revoke`` does."""
    client = server.client()
    headers = {"Content-Type": "application/json"}
    assert client.send("POST", b"", headers, "/v1/clients/look").status == 200


def rest(client: FakeClient, tool: str, **arguments: Any) -> int:
    body = json.dumps({"tool": tool, "arguments": arguments}).encode()
    return client.send("POST", body, path="/v1/call").status


def test_each_call_is_whose_token_it_carries_and_not_what_it_calls_itself(
    server: Served, book: ClientBook
) -> None:
    asked: list[str] = []

    def note(request: PeerRequest) -> None:
        asked.append(request.peer.holder.name)

    server.app.dispatcher.ended.watch(lambda call, *ended: note(call.request))
    server.tool("noop", nothing)
    tokens = {"local": server.app.token or ""}
    tokens.update((name, book.make(name)[1]) for name in ("one", "two"))
    for name, token in tokens.items():
        with client_of(server, token) as session:
            session.call("noop")
        Stateless(client_of(server, token)).call("noop")
        assert rest(client_of(server, token), "noop") == 200
        assert asked == [name] * 3
        asked.clear()


def test_without_auth_everybody_is_anyone(book: ClientBook) -> None:
    _, token = book.make("one")
    asked: list[str] = []
    with served(auth="none") as server:
        server.app.dispatcher.ended.watch(
            lambda call, *ended: asked.append(call.request.peer.holder.name)
        )
        server.tool("noop", nothing)
        for each in (None, token, "wrong"):
            assert rest(FakeClient(server.app.url, each), "noop") == 200
    assert asked == ["anyone"] * 3


def test_a_session_is_not_there_for_another_clients_token(server: Served, book: ClientBook) -> None:
    tokens = [book.make(name)[1] for name in ("one", "two")]
    with client_of(server, tokens[0]) as first:
        thief = client_of(server, tokens[1])
        thief.headers["Mcp-Session-Id"] = first.session or ""
        stolen = thief.post(PING)
        thief.headers["Mcp-Session-Id"] = "0" * 32
        unknown = thief.post(PING)
        assert stolen.status == unknown.status == 404
        assert stolen.body == unknown.body
        thief.headers["Mcp-Session-Id"] = first.session or ""
        assert thief.send("GET", headers={"Accept": "text/event-stream"}).status == 404
        assert thief.send("DELETE").status == 404
        assert thief.post([PING]).status == 404
        assert first.request("ping")["result"] == {}


def test_a_request_state_is_only_its_clients(server: Served, book: ClientBook) -> None:
    def greet(ctx: Any) -> str:
        return str(ctx.elicit("Name?", {"type": "object", "properties": {}}).action)

    server.tool("greet", greet)
    can = {"elicitation": {"form": {}}}
    one, two = (Stateless(client_of(server, book.make(name)[1]), can) for name in ("one", "two"))
    asking = one.call("greet")
    assert asking["resultType"] == "input_required", asking
    answers = {key: {"action": "accept", "content": {}} for key in asking["inputRequests"]}
    retry = {"name": "greet", "arguments": {}, "inputResponses": answers}
    retry["requestState"] = asking["requestState"]
    refused = two.request("tools/call", retry)
    assert "requestState is not valid" in refused["error"]["message"]
    assert one.request("tools/call", retry)["result"]["isError"] is False


@pytest.mark.parametrize("by", ["the command", "the panel", "another process"])
def test_a_revoked_client_is_refused_at_once_and_has_nothing_open_any_more(
    server: Served, book: ClientBook, by: str
) -> None:
    _, token = book.make("one")
    _, kept = book.make("two")
    began, ended = threading.Semaphore(0), threading.Semaphore(0)

    async def wait(ctx: Any) -> None:
        import asyncio

        began.release()
        try:
            await asyncio.Event().wait()
        finally:
            ended.release()

    server.tool("wait", wait)
    server.tool("long", wait, execution="async")
    with client_of(server, token) as session, client_of(server, kept) as other:
        session.listen()
        other.listen()
        listening = Stateless(client_of(server, token))
        listening.listen(toolsListChanged=True)
        made = Stateless(client_of(server, token)).call("long")
        job = made["structuredContent"]["job_id"]
        events = client_of(server, token)
        following = events.in_thread(lambda: events.send("GET", path=f"/v1/jobs/{job}/events"))
        running: list[Future[Any]] = [
            session.start("tools/call", {"name": "wait", "arguments": {}}),
            session.in_thread(lambda: Stateless(client_of(server, token)).call("wait")),
            session.in_thread(lambda: rest(client_of(server, token), "wait")),
            following,
        ]
        for _ in range(4):
            assert began.acquire(timeout=10)
        if by == "the panel":
            complaints: Queue[str | None] = Queue()
            server.app.controls.revoke_client("one", complaints.put)
            assert complaints.get(timeout=20) is None
            server.app.controls.revoke_client("one", complaints.put)
            assert "no client is called 'one'" in str(complaints.get(timeout=20))
        else:
            book.revoke("one")
        if by == "the command":
            reread(server)
        elif by == "another process":
            assert client_of(server, token).post(PING).status == 401
        for _ in range(4):
            assert ended.acquire(timeout=10)
        for each in running:
            until(each.done, "the end of the open requests")
        until(lambda: len(server.app.endpoint.sessions) == 1, "the end of the client's session")
        until(lambda: len(server.app.endpoint.subscriptions) == 0, "the end of the client's stream")
        assert server.app.jobs.get(job, Owner(LOCAL)).status == "cancelled"
        for method, path in (("POST", "/mcp"), ("GET", "/mcp"), ("GET", "/v1/tools")):
            assert client_of(server, token).send(method, b"{}", path=path).status == 401
        assert session.send("POST", json.dumps(PING).encode()).status == 401
        # Another client's stream stays open.
        server.tool("new", nothing)
        other.wait_for("notifications/tools/list_changed")


def test_a_host_serves_on_while_the_panel_waits_for_the_file_of_clients(
    server: Served, book: ClientBook, tmp_path: Path
) -> None:
    _, token = book.make("one")
    complaints: Queue[str | None] = Queue()
    with (tmp_path / "clients.lock").open("ab") as held, server.client() as other:
        lock(held.fileno(), 1.0)
        server.app.controls.revoke_client("one", complaints.put)
        assert other.request("ping")["result"] == {}
        assert complaints.empty()
    assert complaints.get(timeout=20) is None
    until(lambda: client_of(server, token).post(PING).status == 401, "the end of the token")


def test_a_token_made_while_a_host_runs_counts_at_once_and_survives_its_restart(
    book: ClientBook,
) -> None:
    with served() as server:
        _, token = book.make("one")
        assert client_of(server, token).send("GET", path="/v1/healthz").status == 200
    with served() as server:
        assert client_of(server, token).send("GET", path="/v1/healthz").status == 200


def test_ten_thousand_wrong_tokens_change_nothing(server: Served, book: ClientBook) -> None:
    import http.client

    _, token = book.make("one")
    address = server.app.url.removeprefix("http://").partition("/")[0]
    with client_of(server, token) as session:
        find = server.app.clients.find
        for number in range(10_000):
            assert find(f"{token[:-2]}{number}x") is None
        for number in range(100):
            connection = http.client.HTTPConnection(address, timeout=30)
            wrong = {"Authorization": f"Bearer wrong{number}é".encode().decode("latin-1")}
            connection.request("GET", "/v1/healthz", headers=wrong)
            assert connection.getresponse().status == 401
            connection.close()
        assert session.request("ping")["result"] == {}


def test_the_log_quotes_no_other_clients_failed_call(server: Served, book: ClientBook) -> None:
    def fail(path: str) -> None:
        raise RuntimeError(f"{path} isn't there")

    server.tool("fail", fail)
    tokens = [book.make(name)[1] for name in ("one", "two")]
    with client_of(server, tokens[0]) as first, client_of(server, tokens[1]) as second:
        first.call("fail", {"path": "/of/the/first"})

        def told(client: FakeClient) -> str:
            read = client.request("resources/read", {"uri": "log://recent"})
            return str(read["result"]["contents"][0]["text"])

        assert "/of/the/first" in told(first)
        assert "/of/the/first" not in told(second)
