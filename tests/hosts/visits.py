"""What becomes of a call whose visits the artist comes between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from callboard.calls.undo_step import MOST_STEPS, UndoStep
from callboard.errors import SkillError


def check_visits(
    undo: Any, ours: Callable[[str], object], theirs: Callable[[], object], names: Callable[[], Any]
) -> None:
    """``ours`` makes an object as a tool does, ``theirs`` one called Theirs as the artist does;
    ``names`` are those of all objects. What the artist made is there at the end."""
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
