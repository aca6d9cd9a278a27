"""The artist's decisions about one client don't apply to another, in every revision and over
REST."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from callboard.clients.book import ClientBook
from callboard.protocol.revisions import REVISIONS
from callboard_testing.fake_client import FakeClient
from clients.panel_artist import Artist, Way
from serving import Served, served
from stateless_client import Stateless
from waiting import until

pytestmark = pytest.mark.slow

CALL = {"name": "wipe", "arguments": {}}


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClientBook:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    return ClientBook()


class Deleting(Artist):
    """An artist at the panel of a server whose tool asks before it deletes things."""

    def __init__(self, server: Served, policy: str = "ask_once") -> None:
        server.tool("wipe", lambda: "gone", annotations={"destructiveHint": True})
        super().__init__(server)
        if policy:
            self.controls.set_consent_policy("destructive", policy)
            until(lambda: dict(self.seen.policies).get("destructive") == policy, "the policy")


def ran(answer: Any) -> bool:
    return "result" in answer and not answer["result"]["isError"]


class Client:
    """One token holder, connected in every possible way."""

    def __init__(self, server: Served, token: str, open_ones: ExitStack) -> None:
        self.raw = FakeClient(server.app.url, token)
        self.stateless = Stateless(self.raw)
        self.sessions = [
            open_ones.enter_context(FakeClient(server.app.url, token, revision=one.name))
            for one in REVISIONS.values()
            if one.sessions
        ]

    @property
    def ways(self) -> dict[str, Way]:
        body = json.dumps({"tool": "wipe"}).encode()
        return {
            **{
                one.revision: lambda one=one: ran(one.request("tools/call", CALL))  # type: ignore[misc]
                for one in self.sessions
            },
            "2026-07-28": lambda: ran(self.stateless.request("tools/call", CALL)),
            "REST": lambda: self.raw.send("POST", body, path="/v1/call").status == 200,
        }


@contextmanager
def two(server: Served, book: ClientBook) -> Iterator[tuple[Client, Client]]:
    with ExitStack() as open_ones:
        one, other = (Client(server, book.make(n)[1], open_ones) for n in ("one", "other"))
        yield one, other


def test_every_revision_is_here(book: ClientBook) -> None:
    with served() as server, two(server, book) as (one, _):
        assert list(one.ways) == ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "REST"]


def test_what_one_was_allowed_is_asked_again_of_the_other(book: ClientBook) -> None:
    with served() as server, two(server, book) as (one, other):
        artist = Deleting(server)
        for path, way in one.ways.items():
            assert artist.answers("allow_session", way), path
            assert way(), path
            for theirs in other.ways.values():
                assert not artist.answers("refuse", theirs), path
            (grant,) = artist.seen.grants
            assert (grant.client, grant.subject, grant.scope) == ("one", "destructive", "session")
            artist.controls.revoke_grant(grant.id)
            until(lambda: not artist.seen.grants, "no grant")
            assert not artist.answers("refuse", way), path
        # A grant for the project holds for this client's connections of every kind, and for no
        # other client.
        assert artist.answers("allow_project", one.ways["REST"])
        for path, way in one.ways.items():
            assert way(), path
            assert not artist.answers("refuse", other.ways[path]), path


@pytest.mark.parametrize("policy", ["ask", "ask_once"])
def test_once_is_once_on_every_path(book: ClientBook, policy: str) -> None:
    with served() as server, two(server, book) as (one, _):
        artist = Deleting(server, policy)
        for path, way in one.ways.items():
            assert artist.answers("allow", way), path
            assert not artist.answers("refuse", way), path
        assert artist.seen.grants == ()


def test_the_rules_hold_after_a_restart_on_every_path(book: ClientBook) -> None:
    tokens = [book.make(name)[1] for name in ("one", "other")]
    with served(rules=True) as server, ExitStack() as open_ones:
        one = Client(server, tokens[0], open_ones)
        assert Deleting(server).answers("allow_project", one.ways["2025-03-26"])
    with served(rules=True) as server, ExitStack() as open_ones:
        artist = Deleting(server, policy="")
        one, other = (Client(server, token, open_ones) for token in tokens)
        for path, way in one.ways.items():
            assert way(), path
            assert not artist.answers("refuse", other.ways[path]), path


def test_a_revoked_token_is_refused_at_once_on_every_path_and_open_stream(
    book: ClientBook,
) -> None:
    with served() as server, two(server, book) as (one, other):
        server.tool("noop", lambda: None)
        for session in (*one.sessions, *other.sessions):
            session.listen()
        one.stateless.listen(toolsListChanged=True)
        sessions, streams = server.app.endpoint.sessions, server.app.endpoint.subscriptions
        assert (len(sessions), len(streams)) == (len(one.sessions) + len(other.sessions), 1)
        server.app.controls.revoke_client("one")
        until(lambda: len(sessions) == len(other.sessions), "the end of the client's sessions")
        until(lambda: not len(streams), "the end of the client's stream")
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL}
        for client in (*one.sessions, one.raw):
            assert client.post(message).status == 401
            accept = {**client.headers, "Accept": "text/event-stream"}
            assert client.send("GET", headers=accept).status == 401
            assert client.send("DELETE").status == 401
        assert one.raw.post(*one.stateless.message("tools/call", CALL)).status == 401
        for method, path in (("GET", "/v1/tools"), ("POST", "/v1/call"), ("GET", "/v1/healthz")):
            assert one.raw.send(method, b"{}", path=path).status == 401, path
        # The other client's streams stay open.
        heard = [len(session.received) for session in other.sessions]
        server.tool("new", lambda: None)
        for session, before in zip(other.sessions, heard, strict=True):
            until(lambda s=session, n=before: len(s.received) > n, "the notification")  # type: ignore[misc]
