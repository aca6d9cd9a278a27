"""Over the wire, clients may name only folders inside the artist's roots."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callboard.errors import INVALID_PARAMS, REFUSED_BY_ARTIST
from callboard.workspace.containment import Root, WorkspaceRoots
from callboard_testing.fake_client import FakeClient
from serving import Served, served
from waiting import until

PATH = {
    "type": "object",
    "properties": {"path": {"type": "string", "format": "workspace-path"}},
}
READS = {"required_capabilities": ("filesystem.read",)}
WRITES = {"required_capabilities": ("filesystem.write",)}


def see(_workspace_roots: WorkspaceRoots | None = None) -> list[str] | None:
    return None if _workspace_roots is None else [str(r.path) for r in _workspace_roots.roots]


def naming(server: Served, *folders: Path) -> FakeClient:
    """Return a client whose roots are these folders."""
    roots = {"roots": [{"uri": folder.as_uri()} for folder in folders]}
    return server.client({"roots": {}}, {"roots/list": lambda params: roots})


def offer(server: Served) -> Served:
    server.tool("see", see, **READS)
    server.tool("read", lambda path: path, PATH, **READS)
    server.tool("save", lambda path: path, PATH, **WRITES)
    return server


@pytest.fixture
def named(tmp_path: Path) -> Iterator[Served]:
    """Yield a server whose artist has named ``/show``."""
    (tmp_path / "show" / "shots").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    with served(roots=[str(tmp_path / "show")]) as server:
        yield offer(server)


def seen(client: FakeClient) -> Any:
    return client.call("see").get("structuredContent", {}).get("result")


def left_out(client: FakeClient) -> list[str]:
    read = client.request("resources/read", {"uri": "host://roots"})["result"]["contents"][0]
    reasons: list[str] = json.loads(read["text"])["left_out"]
    return reasons


def attend(server: Served) -> None:
    server.app.controls.attend()
    until(lambda: server.app.dispatcher.consent.attended, "an artist to attend")


def answer(server: Served, decision: Any) -> str:
    """Answer the next question. Return its text."""
    desk = server.app.dispatcher.consent
    until(lambda: desk.questions, "a question")
    question = next(iter(desk.questions.values()))
    server.app.controls.answer(question.id, decision)
    return f"{question.client} {question.why}"


def test_a_clients_root_inside_the_artists_narrows(named: Served, tmp_path: Path) -> None:
    shots = tmp_path / "show" / "shots"
    with naming(named, shots) as client:
        assert seen(client) == [str(shots)]
        done = client.call("save", {"path": "workspace://a.usd"})
        assert done["content"][0]["text"] == str(shots / "a.usd")


@pytest.mark.parametrize("above", ["", "whole disk"])
def test_a_client_that_names_everything_gets_nothing_more(
    named: Served, tmp_path: Path, above: str
) -> None:
    folder = Path(tmp_path.anchor) if above else tmp_path
    with naming(named, folder) as client:
        assert seen(client) == [str(tmp_path / "show")]


def test_a_whole_disk_is_no_root_where_the_artist_named_none(tmp_path: Path) -> None:
    with served() as server:
        offer(server)
        with naming(server, Path(tmp_path.anchor)) as client:
            assert seen(client) is None
            assert left_out(client) == [f"{tmp_path.anchor} isn't used: it is a whole disk"]


def test_a_root_outside_counts_for_nothing_where_nobody_is_there(
    named: Served, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    with naming(named, elsewhere) as client:
        assert seen(client) == [str(tmp_path / "show")]
        assert left_out(client) == [f"{elsewhere} isn't used: it is outside the artist's roots"]


def test_a_clients_root_that_is_no_uri_is_left_out_and_told(tmp_path: Path) -> None:
    with served() as server:
        offer(server)
        named = {"roots": [{"uri": str(tmp_path)}]}
        with server.client({"roots": {}}, {"roots/list": lambda params: named}) as client:
            assert seen(client) is None
            assert left_out(client) == [f"root 1: '{tmp_path}' isn't a URI; write file://…"]


def test_who_can_bring_a_clients_folder_back_is_its_client(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    with served() as server:
        offer(server)
        with naming(server, gone) as client:
            assert seen(client) == [str(gone)]
            gone.rmdir()
            asked = {"name": "save", "arguments": {"path": "workspace://a.usd"}}
            refused = client.request("tools/call", asked)["error"]["message"]
    assert "restore it, or open another folder in your client" in refused


@pytest.mark.parametrize("decision", ["allow", "allow_session", "refuse"])
def test_a_root_outside_counts_as_a_person_decided(
    named: Served, tmp_path: Path, decision: str
) -> None:
    elsewhere, show = str(tmp_path / "elsewhere"), str(tmp_path / "show")
    attend(named)
    with naming(named, tmp_path / "elsewhere") as client:
        first = client.start("tools/call", {"name": "see"})
        assert answer(named, decision) == f"fake asks to work in {elsewhere}, outside your roots"
        counts = [show] if decision == "refuse" else [elsewhere]
        assert first.result(10)["result"]["structuredContent"]["result"] == counts
        if decision == "allow":
            again = client.start("tools/call", {"name": "see"})
            answer(named, "refuse")
            assert again.result(10)["result"]["structuredContent"]["result"] == [show]
        else:
            assert seen(client) == counts
    with naming(named, tmp_path / "elsewhere") as other:
        theirs = other.start("tools/call", {"name": "see"})
        answer(named, "refuse")
        assert theirs.result(10)["result"]["structuredContent"]["result"] == [show]


def test_under_strict_a_root_outside_is_not_even_asked_about(tmp_path: Path) -> None:
    with served(roots=[str(tmp_path / "show")], roots_policy="strict") as server:
        offer(server)
        attend(server)
        with naming(server, tmp_path / "elsewhere") as client:
            assert seen(client) == [str(tmp_path / "show")]
            params = {"name": "read", "arguments": {"path": str(tmp_path / "elsewhere" / "a")}}
            assert client.request("tools/call", params)["error"]["code"] == INVALID_PARAMS


def test_a_link_put_in_place_of_a_clients_root_leads_nowhere_else(
    named: Served, tmp_path: Path
) -> None:
    shots = tmp_path / "show" / "shots"
    with naming(named, shots) as client:
        assert seen(client) == [str(shots)]
        shots.rmdir()
        try:
            shots.symlink_to(tmp_path / "elsewhere")
        except OSError:
            pytest.skip("this system can't make links")
        params = {"name": "save", "arguments": {"path": "workspace://a.usd"}}
        assert client.request("tools/call", params)["error"]["code"] == INVALID_PARAMS


def test_a_clients_root_inside_a_read_only_one_is_read_only(tmp_path: Path) -> None:
    (tmp_path / "library" / "props").mkdir(parents=True)
    root = Root(tmp_path.as_uri(), "library", str(tmp_path / "library"), read_only=True)
    with served() as server:
        offer(server)
        server.app.controls.set_roots([root])
        until(lambda: server.app.roots.artist, "the artist's root")
        with naming(server, tmp_path / "library" / "props") as client:
            params = {"name": "save", "arguments": {"path": "workspace://a.usd"}}
            assert "read-only root" in client.request("tools/call", params)["error"]["message"]


# -- without any root ------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["advisory", "strict"])
def test_without_any_root_a_write_asks_whoever_is_there(tmp_path: Path, policy: str) -> None:
    with served(roots_policy=policy) as server:
        offer(server)
        attend(server)
        with server.client() as client:
            params = {"name": "save", "arguments": {"path": str(tmp_path / "a.usd")}}
            refused = client.start("tools/call", params)
            answer(server, "refuse")
            assert refused.result(10)["error"]["code"] == REFUSED_BY_ARTIST
            allowed = client.start("tools/call", params)
            answer(server, "allow")
            assert not allowed.result(10)["result"]["isError"]


def test_without_any_root_and_anybody_strict_alone_refuses(tmp_path: Path) -> None:
    for policy, refused in (("advisory", False), ("strict", True)):
        with served(roots_policy=policy) as server:
            offer(server)
            params = {"name": "save", "arguments": {"path": str(tmp_path / "a.usd")}}
            with server.client() as client:
                assert ("error" in client.request("tools/call", params)) is refused


# -- the choice of the project
# -----------------------------------------------------------------------


def test_a_folder_that_a_call_went_to_is_no_root_until_the_artist_goes_elsewhere(
    tmp_path: Path,
) -> None:
    with served() as server:
        offer(server)
        host = server.host

        def go(folder: Path) -> None:
            host.project[:] = [str(folder)]
            host.announce("project")

        server.tool("go", lambda folder: go(Path(folder)))
        with server.client() as client:
            server.on_main(lambda: go(tmp_path / "artists"))
            assert seen(client) == [str(tmp_path / "artists")]
            client.call("go", {"folder": str(tmp_path / "agents")})
            assert seen(client) == [str(tmp_path / "artists")]
            server.on_main(lambda: host.announce("project"))  # The artist presses Ctrl+S.
            assert seen(client) == [str(tmp_path / "artists")]
            server.on_main(lambda: go(tmp_path / "next"))
            assert seen(client) == [str(tmp_path / "next")]


def test_a_root_that_vanished_is_said_to_be_gone(named: Served, tmp_path: Path) -> None:
    with named.client() as client:
        shutil.rmtree(tmp_path / "show")
        for tool in ("read", "save"):
            params = {"name": tool, "arguments": {"path": "workspace://a.usd"}}
            message = client.request("tools/call", params)["error"]["message"]
            assert "show" in message
            assert "is gone" in message
