from __future__ import annotations

from typing import Any

import pytest

from callboard.calls.change_history import MOST, PAUSE, SceneChange, agents_turn, in_words
from callboard.clients.holder import LOCAL
from callboard.clients.owner import Owner
from callboard.errors import HostError
from callboard_testing.fake_host import FakeHost
from callboard_testing.fakes.undo import FakeUndo
from serving import served


class OneWayUndo(FakeUndo):
    def rollback(self, token: object) -> bool:
        self.commit(token)
        return False


class OneWay(FakeHost):
    """A host that can't undo a failed step."""

    def __init__(self) -> None:
        super().__init__()
        self.undo = OneWayUndo(self.scene)


@pytest.mark.parametrize(
    ("tool", "arguments", "content", "words", "objects"),
    [
        ("scene__create_primitive", {}, {"created": ["/a"]}, "created /a", ("/a",)),
        ("scene__transform", {}, {"changed": ["/a"]}, "moved /a", ("/a",)),
        ("scene__delete", {}, {"deleted": ["/a", "/b", "/c"]}, "deleted /a, /b and 1 more", ()),
        ("scene__rename", {"name": "a"}, {"changed": ["/b"]}, "renamed a to /b", ("/b",)),
        ("scene__save_file", {}, {"path": "/tmp/x.usda"}, "saved /tmp/x.usda", ()),
        ("script__execute", {"code": "1"}, {"result": 1}, "ran code of its own", ()),
        ("studio__rig", {"name": "hero"}, None, "Rig it: hero", ("hero",)),
        ("studio__rig", {"name": ["hero"]}, {"created": "hero"}, "Rig it", ()),
    ],
)
def test_what_a_call_did_in_words(
    tool: str, arguments: Any, content: Any, words: str, objects: Any
) -> None:
    assert in_words(tool, "Rig it", arguments, content) == (words, objects)


def change(number: int, **facts: Any) -> SceneChange:
    made = SceneChange(f"{number}", "t", "c", number, 1.0, "w", (), f"u{number}", owner=AGENT)
    return made._replace(**facts)


AGENT = Owner(LOCAL)


@pytest.mark.parametrize(
    ("changes", "turn"),
    [
        ((), ""),
        ((change(1), change(2)), "12"),
        ((change(1), change(2, owner=None), change(3)), "3"),
        ((change(1), change(2, undone=True)), "1"),
        ((change(1), change(2, undo_id=None), change(3)), "13"),
        ((change(1), change(2, undo_id=None, failed=True), change(3)), "3"),
        ((change(1), change(2, undo_id=None, tool="scene__open_file"), change(3)), "3"),
        ((change(1), change(2, started=PAUSE * 2), change(3, started=PAUSE * 2 + 1)), "23"),
    ],
    ids=["none", "all", "artist", "undone", "file", "failed", "open", "pause"],
)
def test_an_agents_turn(changes: tuple[SceneChange, ...], turn: str) -> None:
    assert "".join(one.call for one in agents_turn(changes)) == turn


def test_what_failed_and_could_not_be_put_back_is_a_change() -> None:
    with served(OneWay) as server:

        def fails(ctx: Any) -> None:
            ctx.port("scene.mutate").create("cube", "half", {})
            raise HostError("no more")

        server.tool("build", fails, required_capabilities=("scene.mutate",), title="Build")
        with server.client() as client:
            client.call("build")
        (change,) = server.app.dispatcher.changed.all()
        assert change.words == "Build failed halfway and was not rolled back"
        assert change.failed


def test_what_found_everything_as_asked_is_no_change() -> None:
    with served(skills=True) as server, server.client() as client:
        client.call("scene__list_objects")
        server.tool("look", lambda: None, required_capabilities=("scene.mutate",))
        client.call("look")
        assert server.app.dispatcher.changed.all() == ()


def test_what_the_artist_undid_is_marked_and_what_he_did_again_is_not() -> None:
    with served() as server:
        server.tool(
            "build",
            lambda ctx, name: ctx.port("scene.mutate").create("cube", name, {}),
            required_capabilities=("scene.mutate",),
        )
        with server.client() as client:
            for name in ("one", "two"):
                client.call("build", {"name": name})
        book, undo = server.app.dispatcher.changed, server.host.undo_stack
        first, second = book.all()
        server.on_main(lambda: undo.artist("ctrl+z"))
        assert [one.undone for one in book.all()] == [False, True]
        assert book.back_to(second.call) == []
        assert book.back_to(first.call) == [first.undo_id]
        server.on_main(lambda: undo.artist("ctrl+shift+z"))
        assert [one.undone for one in book.all()] == [False, False]
        assert book.back_to(first.call) == [second.undo_id, first.undo_id]


def test_the_oldest_changes_are_forgotten() -> None:
    with served() as server:
        book = server.app.dispatcher.changed
        for number in range(MOST + 5):
            book.add(SceneChange(f"{number}", "t", "c", 0.0, 0.0, "did", (), f"u{number}"))
        assert len(book.all()) == MOST
        assert book.back_to("4") == []
        book.undone(["u1004"])
        assert book.back_to("1002") == ["u1003", "u1002"]
