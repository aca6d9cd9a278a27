"""A grant to one client (once, for its session, or for the project) never applies to another
client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from callboard.calls.consent import Decision
from callboard.calls.grants import Grants, ToolOrigin
from callboard.calls.project_rules import rules_file
from callboard.clients.book import ClientBook
from callboard.clients.holder import LOCAL, SILENCE, TokenHolder
from callboard.protocol.peer import ClientInfo, Peer
from callboard.protocol.revisions import NEWEST_WITH_SESSIONS
from callboard.skills.load import load_skill
from callboard.skills.serving.skill_tools import SkillTools
from callboard.workspace.projects import project_of
from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import FakeHost
from clients.panel_artist import Artist, Way, in_thread
from serving import Served, served
from skills.skill_tree import write_skill
from stateless_client import Stateless
from waiting import until


def delete_it() -> str:
    return "gone"


def serve_deleting(server: Served) -> Artist:
    server.tool("wipe", delete_it, annotations={"destructiveHint": True})
    artist = Artist(server)
    artist.controls.set_consent_policy("destructive", "ask_once")
    until(lambda: dict(artist.seen.policies).get("destructive") == "ask_once", "the policy")
    return artist


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClientBook:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    return ClientBook()


@contextmanager
def ways(server: Served, token: str) -> Iterator[dict[str, Way]]:
    """Yield the ways in which one client can make the call: in each era, and over REST."""

    def ran(answer: Any) -> bool:
        return "result" in answer and not answer["result"]["isError"]

    params = {"name": "wipe", "arguments": {}}
    stateless = Stateless(FakeClient(server.app.url, token))
    raw = FakeClient(server.app.url, token)
    body = json.dumps({"tool": "wipe"}).encode()
    with FakeClient(server.app.url, token) as session:
        yield {
            "session": lambda: ran(session.request("tools/call", params)),
            "stateless": lambda: ran(stateless.request("tools/call", params)),
            "REST": lambda: raw.send("POST", body, path="/v1/call").status == 200,
        }


def test_what_was_allowed_for_a_session_ends_with_it(book: ClientBook) -> None:
    _, token = book.make("one")
    with served() as server:
        artist = serve_deleting(server)
        with ways(server, token) as one:
            assert artist.answers("allow_session", one["session"])
            # Each conversation of a client is a separate session.
            with ways(server, token) as again:
                assert not artist.answers("refuse", again["session"])
        until(lambda: not server.app.dispatcher.consent.grants.all(), "the end of the grant")


def test_a_client_without_a_session_is_gone_after_an_hours_silence() -> None:
    now = [0.0]
    grants = Grants(clock=lambda: now[0])
    peer = Peer("REST", NEWEST_WITH_SESSIONS, ClientInfo(), {}, TokenHolder("one", "1"))
    grants.add(peer, "script", None, "session")
    for _ in range(3):
        now[0] += SILENCE - 1
        assert grants.cover(peer, "script", "run")
    now[0] += SILENCE
    assert grants.all() == ()
    assert not grants.cover(peer, "script", "run")


def test_a_grant_for_one_tool_is_for_no_other() -> None:
    grants = Grants()
    peer = Peer("REST", NEWEST_WITH_SESSIONS, ClientInfo(), {}, LOCAL)
    grants.add(peer, "script", "run", "project")
    assert grants.cover(peer, "script", "run")
    assert not grants.cover(peer, "script", "other")
    assert not grants.cover(peer, "destructive", "run")


def test_after_a_restart_the_rules_hold(book: ClientBook) -> None:
    tokens = [book.make(name)[1] for name in ("one", "two")]
    with served(rules=True) as server:
        artist = serve_deleting(server)
        with ways(server, tokens[0]) as one:
            assert artist.answers("allow_project", one["stateless"])
        artist.controls.set_consent_policy("outside_roots", "refuse")
        artist.controls.withdraw("usd")
        until(lambda: "usd" not in server.app.capabilities.declared, "the withdrawal")
    with served(rules=True) as server:
        server.tool("wipe", delete_it, annotations={"destructiveHint": True})
        artist = Artist(server)
        until(lambda: artist.seen.serving, "a snapshot")
        assert dict(artist.seen.policies)["outside_roots"] == "refuse"
        assert dict(artist.seen.policies)["destructive"] == "ask_once"
        assert "usd" not in server.app.capabilities.declared
        assert [(g.client, g.scope, g.by) for g in artist.seen.grants] == [
            ("one", "project", "artist")
        ]
        with ways(server, tokens[0]) as one, ways(server, tokens[1]) as two:
            assert all(way() for way in one.values())
            for way in two.values():
                assert not artist.answers("refuse", way)
        # A new client with the name of a revoked one has no grants.
        _, later = book.make("one")
        with ways(server, later) as one:
            assert not artist.answers("refuse", one["session"])
        assert artist.seen.grants == ()


def test_another_projects_rules_are_its_own(book: ClientBook, tmp_path: Path) -> None:
    with served(rules=True) as server:
        artist = Artist(server)

        def opened(name: str) -> None:
            server.host.project = [str(tmp_path / name)]
            server.on_main(lambda: server.host.announce("project"))

        def script(policy: str) -> None:
            until(lambda: dict(artist.seen.policies).get("script") == policy, policy)

        opened("lax")
        artist.controls.set_consent_policy("script", "allow")
        script("allow")
        opened("new")
        script("ask")
        artist.controls.set_consent_policy("script", "refuse")
        script("refuse")
        opened("newer")
        artist.controls.set_consent_policy("destructive", "ask")
        until(lambda: dict(artist.seen.policies)["destructive"] == "ask", "the policy")
        script("refuse")
        opened("lax")
        script("allow")


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b'{"policies": 5}', b"{" * 10_000])
def test_a_broken_file_of_rules_is_as_if_there_were_none(book: ClientBook, content: bytes) -> None:
    path = rules_file(project_of(FakeHost().identity.kind, []))
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    with served(rules=True) as server:
        artist = Artist(server)
        until(lambda: artist.seen.serving, "a snapshot")
        assert dict(artist.seen.policies)["script"] == "ask"


def test_the_panel_sees_who_may_connect(book: ClientBook) -> None:
    _, token = book.make("one")
    book.make("two")
    with served() as server:
        artist = Artist(server)
        with FakeClient(server.app.url, token) as session:
            session.request("ping")
            artist.controls.refresh()
            until(lambda: artist.seen.tokens and artist.seen.tokens[0].connected, "the client")
            one, two = artist.seen.tokens
            assert one.name == "one"
            assert one.last_seen is not None
            assert (two.name, two.connected, two.last_seen) == ("two", False, None)
            assert artist.seen.clients[0].holder == "one"


@pytest.mark.parametrize("decision", ["allow_tool", "allow_session", "allow_project"])
def test_what_was_allowed_ends_when_the_tool_is_another(decision: Decision) -> None:
    with served() as server, server.client() as client:
        artist = Artist(server)
        artist.controls.set_consent_policy("destructive", "ask")
        until(lambda: ("destructive", "ask") in artist.seen.policies, "the policy")
        register = server.app.tools.register
        hint = {"annotations": {"destructiveHint": True}}
        register("wipe", lambda: "gone", "Wipes the table.", **hint)

        def call() -> bool:
            return "result" in client.request("tools/call", {"name": "wipe", "arguments": {}})

        assert artist.answers(decision, call)
        assert call()
        register("wipe", lambda: "gone", "Wipes the disk.", **hint)
        asked = in_thread(call)
        (question,) = until(lambda: artist.seen.questions, "a question")
        assert "you allowed wipe, whose description changed since then" in question.why
        assert artist.seen.grants == ()
        artist.controls.answer(question.id, "refuse")
        assert not asked.result(20)


def test_a_grant_for_a_kind_is_for_what_was_there_and_what_ships() -> None:
    one, another = ToolOrigin("a", "b", "c"), ToolOrigin("a", "b", "d")
    grants = Grants()
    peer = Peer("REST", NEWEST_WITH_SESSIONS, ClientInfo(), {}, LOCAL)
    grants.add(peer, "script", None, "project", {"run": one})
    assert grants.cover(peer, "script", "run", one, is_shipped=False)
    assert not grants.cover(peer, "script", "run", another, is_shipped=False)
    assert not grants.cover(peer, "script", "installed_later", one, is_shipped=False)
    assert grants.cover(peer, "script", "script__execute", another, is_shipped=True)
    assert one.changed(another) == ["arguments"]


def test_a_skill_of_the_same_name_elsewhere_or_with_another_script_is_another(
    tmp_path: Path,
) -> None:
    files = {"tools.yaml": "tools: [go]", "scripts/go.py": "def main():\n    return 1\n"}
    here, elsewhere = (write_skill(tmp_path / name, "s", files=files) for name in ("a", "b"))

    def origin(folder: Path) -> ToolOrigin:
        (tool,) = SkillTools(load_skill(folder)).tools
        return tool.origin

    first = origin(here)
    assert origin(here) == first
    assert first.changed(origin(elsewhere)) == ["origin"]
    (here / "scripts" / "go.py").write_text("def main():\n    return 2\n")
    assert first.changed(origin(here)) == ["origin"]
