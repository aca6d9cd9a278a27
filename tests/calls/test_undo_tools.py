"""``scene__undo`` and ``scene__redo`` on a complete server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from callboard.clients.holder import TokenHolder
from callboard.clients.owner import Owner
from callboard_testing.fake_client import FakeClient
from serving import Served, served


@pytest.fixture
def server() -> Iterator[Served]:
    with served(skills=True) as server:
        yield server


def _create(client: FakeClient, *names: str) -> None:
    for name in names:
        result = client.call("scene__create_primitive", {"kind": "cube", "name": name})
        assert not result["isError"], result


def _names(server: Served) -> list[str]:
    return [path.rsplit("/", 1)[-1] for path in server.on_main(server.host.scene.names)]


def _did(result: dict[str, Any], what: str) -> list[str]:
    assert not result["isError"], result
    return [step["did"] for step in result["structuredContent"][what]]


def _why(result: dict[str, Any]) -> str:
    assert result["isError"], result
    return str(result["content"][0]["text"])


def test_the_newest_steps_are_undone_and_done_again(server: Served) -> None:
    with server.client() as client:
        _create(client, "One", "Two", "Three")
        undone = client.call("scene__undo", {"steps": 2})
        assert [did.rsplit("/", 1)[-1] for did in _did(undone, "undone")] == ["Three", "Two"]
        assert undone["structuredContent"]["stopped"] is None
        assert _names(server) == ["One"]
        assert len(_did(client.call("scene__redo"), "redone")) == 1
        assert _names(server) == ["One", "Two"]
        again = client.call("scene__redo", {"steps": 5})
        assert len(_did(again, "redone")) == 1
        assert again["structuredContent"]["stopped"]
        assert _names(server) == ["One", "Two", "Three"]
        assert len(_did(client.call("scene__undo", {"steps": 9}), "undone")) == 3
        assert _names(server) == []
        assert "no call of yours changed anything" in _why(client.call("scene__undo"))


def test_what_the_artist_did_since_stays(server: Served) -> None:
    with server.client() as client:
        _create(client, "One", "Two")
        server.on_main(lambda: server.host.scene.create("cube", "Theirs", {}))
        assert "the scene was changed after" in _why(client.call("scene__undo"))
        assert _names(server) == ["One", "Two", "Theirs"]


def test_what_the_artist_undid_is_not_done_again(server: Served) -> None:
    with server.client() as client:
        _create(client, "One", "Two")
        server.on_main(lambda: server.host.undo_stack.artist("ctrl+z"))
        assert "undone by the artist or another client" in _why(client.call("scene__redo"))
        assert _names(server) == ["One"]
        assert len(_did(client.call("scene__undo"), "undone")) == 1
        assert _names(server) == []


def test_what_was_undone_is_gone_once_the_scene_changed(server: Served) -> None:
    with server.client() as client:
        _create(client, "One", "Two")
        client.call("scene__undo")
        _create(client, "Three")
        assert "since you undid it" in _why(client.call("scene__redo"))
        assert _names(server) == ["One", "Three"]


def test_another_clients_step_is_left_alone_and_nothing_is_said_of_it(server: Served) -> None:
    with server.client() as client:
        _create(client, "One")
        book = server.app.dispatcher.changed
        (change,) = book.all()
        theirs = change._replace(owner=Owner(TokenHolder("other", "other")), client="painter")
        for owned in (theirs, change._replace(owner=None)):
            book.add(owned)
            assert "no call of yours changed anything" in _why(client.call("scene__undo"))
        assert _names(server) == ["One"]
        book.add(change)
        book.add(theirs._replace(call="later", words="a secret"))
        refused = _why(client.call("scene__undo"))
        assert "the scene was changed after 'created" in refused
        assert "painter" not in refused
        assert "secret" not in refused
        assert _names(server) == ["One"]


def test_another_sessions_step_is_left_alone_under_the_same_token(server: Served) -> None:
    with server.client() as one:
        with server.client() as other:
            _create(one, "One")
            assert "no call of yours changed anything" in _why(other.call("scene__undo"))
            _create(other, "Two")
            assert "the scene was changed after" in _why(one.call("scene__undo"))
            assert len(_did(other.call("scene__undo", {"steps": 5}), "undone")) == 1
            assert "none of your calls here is undone" in _why(one.call("scene__redo"))
        assert _names(server) == ["One"]
        assert len(_did(one.call("scene__undo"), "undone")) == 1


def test_a_session_that_is_over_leaves_its_steps_to_its_token(server: Served) -> None:
    with server.client() as gone:
        _create(gone, "One")
    with server.client() as client:
        assert len(_did(client.call("scene__undo"), "undone")) == 1
        assert _names(server) == []


def test_both_pass_the_gate(server: Served) -> None:
    server.app.capabilities.withdraw("scene.mutate")
    with server.client() as client:
        for tool in ("scene__undo", "scene__redo"):
            refused = client.request("tools/call", {"name": tool, "arguments": {}})
            assert refused["error"]["code"] == -32001
