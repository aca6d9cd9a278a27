"""Undo steps in 3ds Max's own list, one per call.

3ds Max doesn't expose its list. It counts all changes ever recorded, which shows whether a call
changed anything, and whether our newest step is still the newest of all.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

import pymxs
from pymxs import runtime as rt

from callboard_max.application.named_sets import NamedSets
from callboard_max.application.names import handle, objects
from callboard_qt import OpenStep, UndoSteps


def _scene_now() -> list[tuple[object, ...]]:
    """Return the data that most changes affect: the objects, their names and their transforms."""
    return [
        (handle(node), str(node.name), *(getattr(row, axis) for row in rows for axis in "xyz"))
        for node in objects()
        for rows in [[getattr(node.transform, f"row{number}") for number in (1, 2, 3, 4)]]
    ]


class MaxUndo(UndoSteps):
    """The undo port. 3ds Max reports an undo, but not which step it undid."""

    def __init__(self, sets: NamedSets) -> None:
        super().__init__()
        #: Number of our own undos that 3ds Max hasn't reported yet.
        self._own = 0
        #: True inside one of our own undos or redos.
        self._running = False
        #: True once 3ds Max has reported an undo late, after its events were handled.
        self._reports_late = False
        #: The count of recorded changes after our last undo or redo.
        self._undone_at = -1
        self._sets = sets

    def artist_undid(self) -> None:
        """Forget our steps unless the undo was ours. After any other undo or redo, our steps may no
        longer be the newest."""
        if self._own:
            self._own -= 1
            self._reports_late |= not self._running
        else:
            self._forget()

    def catch_up(self) -> None:
        # 3ds Max has reported all of our own undos by now, in its events between two calls.
        self._own = 0
        super().catch_up()

    def commit(self, token: object) -> str | None:
        done = super().commit(token)
        # Changes to selection sets may be outside 3ds Max's steps, and then can't be undone.
        return "" if done is None and self._sets.are_changed() else done

    def _restore(self, step: OpenStep) -> None:
        self._sets.put_back()

    def _open(self, label: str) -> OpenStep:
        self._sets.begin()
        now = self._newest()
        if self._top not in (None, now):
            # Another step is on top of ours.
            self._forget()
        if rt.theHold.Holding():
            # Another step is open, perhaps a script's whole run. Our changes become part of that
            # step, and can be undone only together with it.
            return OpenStep(now, recorded=False)
        step = OpenStep(now)
        # Without this, 3ds Max would record none of Python's changes.
        step.recording.enter_context(pymxs.undo(True, label))
        return step

    def _newest(self) -> int:
        """Return how many changes 3ds Max has recorded since it started."""
        return int(rt.theHold.GetGlobalPutCount())

    def _holds_changes(self, step: OpenStep) -> bool:
        return self._newest() != step.mark

    def _show(self) -> None:
        # 3ds Max doesn't redraw for Python's changes.
        if not rt.maxOps.isInNonInteractiveMode():
            rt.redrawViews()

    def _is_next_redo(self, mark: Hashable) -> bool:
        return self._newest() == self._undone_at

    def _redo_next(self) -> bool:
        done = self._worked(pymxs.run_redo)
        self._undone_at = self._newest()
        return done

    def _marks_again(self, marks: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
        return (*marks[:-1], self._newest())

    def _worked(self, step: Callable[[], object]) -> bool:
        """Undo or redo, and return whether that worked. 3ds Max doesn't raise an error if it did
        nothing, but it reports each success, perhaps only after its events have been handled. Until
        then, the scene shows whether it worked."""
        before, owed = _scene_now(), self._own
        self._own += 1
        self._running = True
        try:
            step()
        except RuntimeError:
            self._own = owed
            return False
        finally:
            self._running = False
        if self._own == owed or self._reports_late or _scene_now() != before:
            return True
        self._own = owed
        return False

    def _undo_newest(self) -> bool:
        if not self._worked(pymxs.run_undo):
            return False
        self._undone_at = self._newest()
        # Our previous step is on top again, at a new count.
        self._top = self._newest()
        return True
