"""The roots that a call sees, over the wire (2025-11-25, Roots)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from callboard.errors import INVALID_PARAMS
from callboard.workspace.containment import Root, WorkspaceRoots
from callboard.workspace.roots import RootsBook
from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import DEADLINE
from serving import Served, served, text_of
from stateless_client import Stateless
from waiting import job_ended, until

READS = {"required_capabilities": ("filesystem.read",)}
WRITES = {"required_capabilities": ("filesystem.write",)}
PATH = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "format": "workspace-path"},
        "more": {"type": "array", "items": {"type": "string", "format": "workspace-path"}},
    },
}
OFFERS_ROOTS = {"roots": {"listChanged": True}}


class Roots:
    """A client's roots, and the number of times that the server has requested them."""

    def __init__(self, *folders: Path) -> None:
        self.folders = list(folders)
        self.asked = 0

    def __call__(self, params: dict[str, Any]) -> dict[str, Any]:
        self.asked += 1
        return {"roots": [{"uri": folder.as_uri()} for folder in self.folders]}


def offering(server: Served, answer: Callable[[dict[str, Any]], Any]) -> FakeClient:
    return server.client(OFFERS_ROOTS, {"roots/list": answer})


def see(_workspace_roots: WorkspaceRoots | None = None) -> list[str] | None:
    if _workspace_roots is None:
        return None
    return [str(root.path) for root in _workspace_roots.roots]


@pytest.fixture
def server() -> Iterator[Served]:
    with served() as running:
        running.tool("see", see, **READS)
        running.tool("open", lambda path, more=(): {"path": path, "more": more}, PATH, **READS)
        running.tool("save", lambda path: path, PATH, **WRITES)
        yield running


def seen(client: FakeClient) -> Any:
    result = client.call("see")
    return result.get("structuredContent", {}).get("result")


# -- asking -------------------------------------------------------------------------------------


@pytest.mark.parametrize("listening", [True, False], ids=["own stream", "the call's stream"])
def test_a_client_is_asked_once_and_again_when_its_roots_change(
    server: Served, tmp_path: Path, listening: bool
) -> None:
    answer = Roots(tmp_path / "one")
    with offering(server, answer) as client:
        if listening:
            client.listen()
        for _ in range(3):
            assert seen(client) == [str(tmp_path / "one")]
        assert answer.asked == 1
        answer.folders = [tmp_path / "two", tmp_path / "three"]
        client.notify("notifications/roots/list_changed")
        for _ in range(3):
            assert seen(client) == [str(tmp_path / "two"), str(tmp_path / "three")]
        assert answer.asked == 2


def test_roots_that_were_taken_back_count_no_more_while_the_client_thinks(
    server: Served, tmp_path: Path
) -> None:
    old = tmp_path / "old"
    old.mkdir()
    answers: list[Any] = [{"roots": [{"uri": old.as_uri()}]}]
    with offering(server, lambda params: answers.pop() if answers else None) as client:
        client.listen()
        assert seen(client) == [str(old)]
        server.app.roots.call_patience = 0.05
        client.notify("notifications/roots/list_changed")
        save = {"name": "save", "arguments": {"path": str(old / "a.txt")}}
        for call in ({"name": "see", "arguments": {}}, save):
            error = client.request("tools/call", call)["error"]
            assert "has not answered roots/list yet" in error["message"]
        asked = client.wait_for("roots/list", 2)[1]["id"]
        new = {"roots": [{"uri": (tmp_path / "new").as_uri()}]}
        client.post({"jsonrpc": "2.0", "id": asked, "result": new})
        assert seen(client) == [str(tmp_path / "new")]


def test_saying_initialized_twice_asks_once(server: Served, tmp_path: Path) -> None:
    answer = Roots(tmp_path)
    with offering(server, answer) as client:
        assert seen(client) == [str(tmp_path)]
        client.notify("notifications/initialized")
        assert seen(client) == [str(tmp_path)]
    assert answer.asked == 1


@pytest.mark.parametrize("capabilities", [{}, {"roots": None}, {"roots": "yes"}, {"sampling": {}}])
def test_a_client_that_does_not_offer_roots_is_never_asked(
    server: Served, capabilities: dict[str, Any]
) -> None:
    with server.client(capabilities) as client:
        client.listen()
        client.notify("notifications/roots/list_changed")
        assert seen(client) is None
        assert client.request("ping")["result"] == {}
        assert [m for m in client.received if m["method"] == "roots/list"] == []


def test_tools_that_touch_no_files_do_not_wait_for_roots(server: Served) -> None:
    server.tool("plain", lambda: "ran")
    silent = threading.Event()

    def never(params: dict[str, Any]) -> None:
        silent.set()

    with offering(server, never) as client:
        client.listen()
        assert silent.wait(DEADLINE)
        assert client.call("plain")["structuredContent"] == {"result": "ran"}


@pytest.mark.parametrize(
    "answer",
    [
        {"error": {"code": -32601, "message": "Method not found"}},
        {"error": {"code": -32603, "message": "Internal error"}},
        {"error": "not an error object"},
        {},
        {"roots": "C:/"},
        {"roots": [{"uri": "relative/path"}, {"uri": "file://%zz"}, {"uri": 7}, {}, None]},
        {"roots": [{"uri": "https://example.com/scene"}]},
    ],
)
def test_errors_and_garbage_leave_the_roots_unknown_and_say_why(
    server: Served, answer: dict[str, Any]
) -> None:
    with offering(server, lambda params: answer) as client:
        assert seen(client) is None
        session = next(iter(server.app.endpoint.sessions))
        assert server.app.roots.known(session).problem
        error = client.request(
            "tools/call", {"name": "open", "arguments": {"path": "workspace://a"}}
        )
        assert error["error"]["code"] == INVALID_PARAMS
        assert "no workspace roots" in error["error"]["message"]


def test_good_roots_among_bad_ones_are_used(server: Served, tmp_path: Path) -> None:
    answer = {"roots": [{"uri": "nonsense"}, {"uri": tmp_path.as_uri(), "name": "Good"}]}
    with offering(server, lambda params: answer) as client:
        assert seen(client) == [str(tmp_path)]


def test_a_client_that_never_answers_still_gets_its_tools(server: Served) -> None:
    server.app.roots.call_patience = 0.05
    server.app.roots.answer_timeout = 0.1
    with offering(server, lambda params: None) as client:
        client.listen()
        assert seen(client) is None
        session = next(iter(server.app.endpoint.sessions))
        entry = server.app.roots.known(session)
        problem = until(lambda: entry.problem, "the end of the time to answer")
        assert problem is not None
        assert "did not answer" in problem
        assert seen(client) is None


def test_the_time_to_answer_begins_when_the_question_leaves(server: Served) -> None:
    server.app.roots.answer_timeout = 0.05
    expired = threading.Event()
    asked = threading.Event()
    with offering(server, lambda params: asked.set()) as client:
        # No stream is open, so the request for the roots waits, for longer than the time limit for
        # an answer.
        loop = server.app.guest.loop
        loop.call_soon_threadsafe(loop.call_later, 0.2, expired.set)
        assert expired.wait(DEADLINE)
        entry = server.app.roots.known(next(iter(server.app.endpoint.sessions)))
        assert entry.problem is None
        assert not asked.is_set()
        assert seen(client) is None
        assert asked.is_set()
        problem = until(lambda: entry.problem, "the end of the time to answer")
        assert problem is not None
        assert "did not answer" in problem


def test_a_job_of_a_client_that_cannot_be_asked_has_the_artists_roots(tmp_path: Path) -> None:
    with served(roots=[str(tmp_path)]) as server:
        server.tool("see_later", see, execution="async", **READS)
        with server.client() as raw:
            client = Stateless(raw, {"roots": {}})
            job = client.call("see_later")["structuredContent"]["job_id"]
            ended = job_ended(client, job)
        assert ended["result"]["structuredContent"]["result"] == [str(tmp_path)], ended


def test_a_late_answer_to_an_older_question_is_dropped(server: Served, tmp_path: Path) -> None:
    with offering(server, lambda params: None) as client:
        client.listen()
        first = client.wait_for("roots/list")[0]["id"]
        client.notify("notifications/roots/list_changed")
        second = client.wait_for("roots/list", 2)[1]["id"]
        for id, folder in ((first, tmp_path / "old"), (second, tmp_path / "new")):
            result = {"roots": [{"uri": folder.as_uri()}]}
            client.post({"jsonrpc": "2.0", "id": id, "result": result})
        assert seen(client) == [str(tmp_path / "new")]


def test_a_client_that_leaves_while_it_is_asked_leaves_nothing(server: Served) -> None:
    client = offering(server, lambda params: None)
    with client:
        client.listen()
        client.wait_for("roots/list")
        session = next(iter(server.app.endpoint.sessions))
        assert session.asked
    with server.client() as other:
        assert other.request("ping")["result"] == {}
    assert not session.asked
    asking = server.app.roots.known(session).asking
    assert asking is not None
    assert asking.done()


def test_every_client_has_its_own_roots(server: Served, tmp_path: Path) -> None:
    with (
        offering(server, Roots(tmp_path / "a")) as a,
        offering(server, Roots(tmp_path / "b")) as b,
        server.client() as c,
    ):
        assert seen(a) == [str(tmp_path / "a")]
        assert seen(b) == [str(tmp_path / "b")]
        assert seen(c) is None


# -- other sources of roots ---------------------------------------------------------------------


def test_the_artists_roots_then_the_projects_stand_in_for_the_clients(tmp_path: Path) -> None:
    artist, project = tmp_path / "artist", tmp_path / "project"
    client_root = artist / "client"
    with served(roots=[str(artist)]) as server:
        server.tool("see", see, **READS)
        server.on_main(lambda: server.host.project.append(str(project)))
        server.on_main(lambda: server.host.announce("project"))
        with server.client() as client, offering(server, Roots(client_root)) as rooted:
            assert seen(client) == [str(artist)]
            assert seen(rooted) == [str(client_root)]
            server.app.roots.artist.clear()
            assert seen(client) == [str(project)]
            server.on_main(server.host.project.clear)
            server.on_main(lambda: server.host.announce("project"))
            assert seen(client) is None


# -- the roots that tools get -------------------------------------------------------------------


def test_only_tools_that_declare_files_are_given_roots(server: Served, tmp_path: Path) -> None:
    server.tool("see_nothing", see)
    with offering(server, Roots(tmp_path)) as client:
        assert client.call("see_nothing")["content"][0]["text"] == "done"
        assert seen(client) == [str(tmp_path)]


def test_workspace_paths_arrive_resolved(server: Served, tmp_path: Path) -> None:
    with offering(server, Roots(tmp_path)) as client:
        given = {"path": "workspace://a/b.usd", "more": ["c.usd", "workspace://d%20e.usd"]}
        assert client.call("open", given)["structuredContent"] == {
            "path": str(tmp_path / "a" / "b.usd"),
            "more": [str(tmp_path / "c.usd"), str(tmp_path / "d e.usd")],
        }


@pytest.mark.parametrize("path", ["workspace://../../etc/passwd", "../x", "workspace://", "a\0b"])
def test_a_path_that_leaves_is_refused_before_the_tool_runs(
    server: Served, tmp_path: Path, path: str
) -> None:
    ran: list[str] = []
    server.tool("open", ran.append, PATH, **READS)
    with offering(server, Roots(tmp_path)) as client:
        response = client.request("tools/call", {"name": "open", "arguments": {"path": path}})
    assert response["error"]["code"] == INVALID_PARAMS
    assert ran == []


def test_a_link_that_leaves_the_root_is_refused(server: Served, tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    try:
        (tmp_path / "root" / "out").symlink_to(tmp_path)
    except OSError:
        pytest.skip("this system can't make links")
    with offering(server, Roots(tmp_path / "root")) as client:
        arguments = {"path": "workspace://out/secret.usd"}
        response = client.request("tools/call", {"name": "open", "arguments": arguments})
    assert response["error"]["code"] == INVALID_PARAMS
    assert "link" in response["error"]["message"]


def test_strict_refuses_absolute_paths_outside_every_root(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out" / "a.usd"
    for policy, refused in (("advisory", False), ("strict", True)):
        with served(roots_policy=policy) as server:
            server.tool("open", lambda path: path, PATH, **READS)
            with offering(server, Roots(inside)) as client, server.client() as rootless:
                assert not client.call("open", {"path": str(inside / "a.usd")})["isError"]
                for caller in (client, rootless):
                    params = {"name": "open", "arguments": {"path": str(outside)}}
                    response = caller.request("tools/call", params)
                    assert ("error" in response) is refused
                    if refused:
                        assert response["error"]["code"] == INVALID_PARAMS
                        assert "outside the workspace" in response["error"]["message"]


def test_a_read_only_root_is_read_and_never_written(tmp_path: Path) -> None:
    with served() as server:
        server.tool("open", lambda path: path, PATH, **READS)
        server.tool("save", lambda path: path, PATH, **WRITES)

        def write_by_hand(_workspace_roots: WorkspaceRoots) -> str:
            return _workspace_roots.resolve("workspace://by_hand.usd")

        server.tool("by_hand", write_by_hand, **WRITES)
        root = Root(tmp_path.as_uri(), "library", str(tmp_path), read_only=True)
        server.app.roots.artist.append(root)
        with server.client() as client:
            assert not client.call("open", {"path": "workspace://a.usd"})["isError"]
            params = {"name": "save", "arguments": {"path": "workspace://a.usd"}}
            error = client.request("tools/call", params)["error"]
            assert error["code"] == INVALID_PARAMS
            assert "read-only root" in error["message"]
            by_hand = client.request("tools/call", {"name": "by_hand"})
            assert "read-only root" in (
                by_hand["error"]["message"] if "error" in by_hand else text_of(by_hand["result"])
            )


def test_a_relative_root_of_the_artists_is_an_error_at_once() -> None:
    with pytest.raises(ValueError, match="absolute"):
        RootsBook(["relative/folder"])


@pytest.mark.parametrize("answer", [None, 3, "x", []])
def test_a_stateless_answer_that_is_no_object_leaves_the_roots_unknown(
    server: Served, answer: Any
) -> None:
    client = Stateless(server.client(), OFFERS_ROOTS)
    params = {"name": "open", "arguments": {"path": "workspace://a"}}
    asked = client.request("tools/call", params)["result"]
    assert asked["resultType"] == "input_required"
    (key,) = asked["inputRequests"]
    retry = {"inputResponses": {key: answer}, "requestState": asked["requestState"]}
    error = client.request("tools/call", {**params, **retry})["error"]
    assert error["code"] == INVALID_PARAMS
    assert "no workspace roots" in error["message"]


def test_a_project_folder_that_is_no_full_path_is_left_out() -> None:
    book = RootsBook()
    book.set_project(["", "relative/folder", str(Path.cwd())])
    assert [root.path for root in book.project] == [str(Path.cwd())]
