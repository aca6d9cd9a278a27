"""Checks undo: one step per call, and exact rollback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from callboard.calls.undo_step import UndoStep
from callboard.host import SCENE_MUTATE, SCENE_READ
from callboard_testing.checks.objects import attempt

if TYPE_CHECKING:
    from callboard_testing.bench import Bench


def _undo(bench: Bench) -> Any:
    assert bench.host.undo is not None, "the host has no undo"
    return bench.host.undo


def _a_scene(bench: Bench) -> None:
    """Make objects with parents, colors, transforms and a selection, as far as the host supports
    them."""
    editor = bench.editor
    for name in ("One", "Two", "Three", "Four"):
        bench.cube(name)
    attempt(editor.set_transform, "Two", [1, 2, 3], [10, 20, 30], [1, 2, 3])
    attempt(editor.set_color, "Two", [1, 0, 0])
    attempt(editor.set_parent, "Three", "Two", True)
    editor.select(["One", "Four"])


def _change_everything(bench: Bench) -> None:
    editor = bench.editor
    renamed = attempt(editor.rename, "One", "Renamed") or "One"
    attempt(editor.duplicate, "Two", "Copy")
    attempt(editor.set_transform, "Two", [9, 9, 9], None, None)
    attempt(editor.set_color, "Two", [0, 0, 1])
    attempt(editor.set_color, "Four", [0, 0, 1])
    attempt(editor.set_parent, renamed, "Four", False)
    attempt(editor.delete, ["Two"])
    bench.cube("New")
    editor.select(["New"])


class Undo:
    needs = (SCENE_READ, SCENE_MUTATE)

    def test_a_failed_step_leaves_nothing_behind(self, bench: Bench) -> None:
        undo = _undo(bench)
        _a_scene(bench)
        undo.commit(undo.begin("prepare"))
        before, selected = bench.everything(), bench.reader.selection()
        token = undo.begin("change everything")
        _change_everything(bench)
        assert bench.everything() != before
        assert undo.rollback(token) is True
        assert bench.everything() == before
        assert bench.reader.selection() == selected

    def test_steps_are_undone_newest_first(self, bench: Bench) -> None:
        undo = _undo(bench)
        states, ids = [], []
        for work in (_a_scene, _change_everything):
            states.append(bench.everything())
            token = undo.begin(work.__name__)
            work(bench)
            ids.append(undo.commit(token))
        assert len(set(ids)) == 2
        assert None not in ids
        assert undo.undo(ids[0]) is False
        assert undo.undo(ids[1]) is True
        assert bench.everything() == states[1]
        assert undo.undo(ids[1]) is False
        assert undo.undo(ids[0]) is True
        assert bench.everything() == states[0]

    def test_what_was_undone_is_done_again(self, bench: Bench) -> None:
        undo = _undo(bench)
        states, ids = [bench.everything()], []
        for work in (_a_scene, _change_everything):
            token = undo.begin(work.__name__)
            work(bench)
            ids.append(undo.commit(token))
            states.append(bench.everything())
        assert undo.redo(ids[1]) is False
        for _ in range(2):
            for n in (1, 0):
                assert undo.undo(ids[n]) is True
                assert bench.everything() == states[n]
            assert undo.redo(ids[1]) is False
            for n in (0, 1):
                assert undo.redo(ids[n]) is True
                assert bench.everything() == states[n + 1]
        assert undo.redo(ids[1]) is False

    def test_what_was_undone_is_gone_after_a_change(self, bench: Bench) -> None:
        undo = _undo(bench)
        token = undo.begin("first")
        bench.cube("First")
        first = undo.commit(token)
        assert undo.undo(first) is True
        token = undo.begin("second")
        bench.cube("Second")
        second = undo.commit(token)
        assert undo.redo(first) is False
        assert undo.undo(second) is True
        assert undo.redo(first) is False
        assert undo.redo(second) is True
        assert [entry["name"] for entry in bench.everything()] == ["Second"]

    def test_a_step_that_changed_nothing_is_none(self, bench: Bench) -> None:
        undo = _undo(bench)
        bench.cube()
        undo.commit(undo.begin("prepare"))
        token = undo.begin("look")
        bench.everything()
        assert undo.commit(token) is None

    def test_a_step_after_a_rollback_is_undone_alone(self, bench: Bench) -> None:
        undo = _undo(bench)
        token = undo.begin("first")
        bench.cube("First")
        first = undo.commit(token)
        token = undo.begin("failing")
        bench.cube("Failing")
        undo.rollback(token)
        token = undo.begin("second")
        bench.cube("Second")
        second = undo.commit(token)
        assert undo.undo(second) is True
        assert [entry["name"] for entry in bench.everything()] == ["First"]
        assert undo.undo(first) is True
        assert bench.reader.names() == []

    def test_steps_that_follow_each_other_are_undone_as_one(self, bench: Bench) -> None:
        undo = _undo(bench)
        token = undo.begin("first")
        bench.cube("First")
        first = undo.commit(token)
        before = bench.everything()
        call = UndoStep(undo, "visits")
        for work in (_a_scene, lambda _: None, _change_everything):
            call.enter()
            work(bench)
            call.leave()
        call.end(None)
        assert undo.undo(first) is False
        assert undo.undo(call.id) is True
        assert bench.everything() == before
        assert undo.undo(first) is True
        assert bench.reader.names() == []

    def test_a_call_that_fails_in_a_later_visit_leaves_nothing_behind(self, bench: Bench) -> None:
        undo = _undo(bench)
        bench.cube("First")
        undo.commit(undo.begin("prepare"))
        before = bench.everything()
        call = UndoStep(undo, "visits")
        call.enter()
        _a_scene(bench)
        call.leave()
        call.enter()
        _change_everything(bench)
        call.end(ValueError())
        assert (call.rolled_back, call.id, bench.everything()) == (True, None, before)

    def test_an_unknown_step_is_refused(self, bench: Bench) -> None:
        assert _undo(bench).undo("no such step") is False
