"""Checks for a call whose slices alternate with the artist's changes, and for a call that the
artist undoes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from callboard.calls.undo_step import MOST_STEPS, UndoStep
from callboard.errors import SkillError


def check_visits(
    undo: Any, ours: Callable[[str], object], theirs: Callable[[], object], names: Callable[[], Any]
) -> None:
    """Check that the artist's object survives. ``ours`` makes an object the way a tool does.
    ``theirs`` makes one called Theirs, the way the artist does. ``names`` returns the names of all
    objects."""
    call = UndoStep(undo, "Callboard: visits")
    call.enter()
    ours("First")
    call.leave()
    theirs()
    call.enter()
    ours("Second")
    call.end(ValueError("no room"))
    assert set(names()) == {"First", "Theirs"}
    assert call.rolled_back is False

    call = UndoStep(undo, "Callboard: visits")
    for number in range(MOST_STEPS):
        call.enter()
        ours(f"More{number}")
        call.leave()
    call.enter()
    ours("TooMany")
    try:
        call.leave()
    except SkillError as error:
        assert not undo.joins
        call.end(error)
        assert call.rolled_back is True
        assert set(names()) == {"First", "Theirs"}
    else:
        assert undo.joins
        call.end(None)
        assert undo.undo(call.id) is True
        assert set(names()) == {"First", "Theirs"}


def check_undone_by_the_artist(
    undo: Any,
    ours: Callable[[str], object],
    theirs: Callable[[], object],
    back: Callable[[], object],
    again: Callable[[], object],
) -> None:
    """Check which steps are considered undone when the artist undoes and redoes. ``back`` and
    ``again`` perform the artist's Undo and Redo. Each returns once the application has reported the
    change.
    """
    undone: set[str] = set()

    def stepped(ids: Any, gone: bool) -> None:
        (undone.update if gone else undone.difference_update)(ids)

    def step(name: str) -> str:
        token = undo.begin("Callboard: same")
        ours(name)
        return str(undo.commit(token))

    undo.stepped.watch(stepped)
    one, two = step("One"), step("Two")
    theirs()
    three = step("Three")
    back()
    assert undone == {three}
    back()
    assert undone == {three}, "the artist undid only their own change"
    back()
    assert undone == {three, two}
    again()
    assert undone == {three}
    assert undo.undo(two) is True, "it is the newest step again"
    again()
    again()
    assert undo.undo(two) is False, "the artist's change lies on top of it, so it can't be undone"
    assert undone == {three}
    again()
    assert undone == set()
    joined = undo.join([three, step("Four")])
    back()
    assert undone == set(), "half of the joined step is still there"
    assert undo.undo(joined) is True
    back()
    back()
    back()
    assert undone >= {one, two}
