"""A permission for folders outside the artist's roots applies only to the client that got it."""

from __future__ import annotations

from pathlib import Path

import pytest

from callboard.clients.book import ClientBook
from callboard.clients.holder import SILENCE, TokenHolder
from callboard.protocol.peer import ClientInfo, Peer
from callboard.protocol.revisions import REVISION_2026_07_28
from callboard.workspace.outside_answers import OutsideAnswers
from callboard_testing.fake_client import FakeClient
from serving import served
from stateless_client import Stateless
from waiting import until


def a_call(name: str) -> Peer:
    """Return a new peer, as each request of a client without a session has."""
    return Peer("any", REVISION_2026_07_28, ClientInfo(), {}, TokenHolder(name, name))


def test_an_answer_is_one_clients_until_an_hours_silence() -> None:
    now = [0.0]
    answers = OutsideAnswers(clock=lambda: now[0])
    answers.keep(a_call("one"), ["/a"], True)
    answers.keep(a_call("one"), ["/b"], False)
    assert answers.allowed(a_call("two")) == []
    assert answers.unanswered(a_call("two"), ["/a", "/b"]) == ["/a", "/b"]
    for _ in range(3):
        now[0] += SILENCE - 1
        assert answers.allowed(a_call("one")) == ["/a"]
        assert answers.unanswered(a_call("one"), ["/a", "/b", "/c"]) == ["/c"]
    now[0] += SILENCE
    assert answers.unanswered(a_call("one"), ["/a", "/b"]) == ["/a", "/b"]
    answers.keep(a_call("one"), ["/a"], True)
    answers.forget_client(a_call("one").holder)
    assert answers.allowed(a_call("one")) == []


def test_a_client_without_a_session_is_asked_once_about_its_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    (tmp_path / "show").mkdir()
    (tmp_path / "elsewhere").mkdir()
    book = ClientBook()
    folder = {"roots": [{"uri": (tmp_path / "elsewhere").as_uri()}]}

    def see(_workspace_roots: object = None) -> list[str]:
        return [str(root.path) for root in _workspace_roots.roots]  # type: ignore[attr-defined]

    with served(roots=[str(tmp_path / "show")]) as server:
        server.tool("see", see, required_capabilities=("filesystem.read",))
        server.app.controls.attend()
        desk = server.app.dispatcher.consent

        def seen(name: str, answer: str) -> object:
            client = Stateless(FakeClient(server.app.url, tokens[name]), {"roots": {}})
            asking = client.call("see")
            retry = {"name": "see", "arguments": {}, "requestState": asking["requestState"]}
            retry["inputResponses"] = dict.fromkeys(asking["inputRequests"], folder)
            calling = client.raw.in_thread(lambda: client.request("tools/call", retry))
            if answer:
                until(lambda: desk.questions, "a question")
                server.app.controls.answer(next(iter(desk.questions)), answer)  # type: ignore[arg-type]
            return calling.result(20)["result"]["structuredContent"]["result"]

        tokens = {name: book.make(name)[1] for name in ("one", "two")}
        elsewhere, show = [str(tmp_path / "elsewhere")], [str(tmp_path / "show")]
        assert seen("one", "allow_session") == elsewhere
        assert seen("one", "") == elsewhere
        assert seen("two", "refuse") == show
        assert seen("two", "") == show
        # A later client with that name is a different client.
        tokens["one"] = book.make("one")[1]
        assert seen("one", "refuse") == show
