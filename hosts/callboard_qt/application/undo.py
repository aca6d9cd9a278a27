"""The undo port on the application's own undo list. Each call is one step, so the artist's Ctrl+Z
undoes it too."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Container, Hashable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from callboard.changes import Changes

#: Maximum steps of ours that can be undone. The artist decides how many the application keeps.
HISTORY = 64


@dataclass(frozen=True)
class OpenStep:
    """A step that is being recorded. Its ``mark`` shows later whether anything was recorded."""

    mark: Hashable
    #: Closed when the step ends.
    recording: ExitStack = field(default_factory=ExitStack)
    #: True when the application records undo steps at all.
    recorded: bool = True
    #: The selection, if the application doesn't count selecting as a change.
    selection: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Step:
    """One or more consecutive steps of the application, identified by their marks, oldest first."""

    id: str
    marks: tuple[Hashable, ...]
    #: True when the step lies directly on top of the previous step in our list.
    follows: bool

    @property
    def mark(self) -> Hashable:
        """Return the newest step's mark."""
        return self.marks[-1]


class UndoSteps(ABC):
    """The undo port. Objects looked up before ``rollback`` or ``undo`` may be gone afterwards. Use
    it on the main thread."""

    joins = False

    def __init__(self) -> None:
        self.stepped: Changes[[Sequence[str], bool]] = Changes()
        self._count = 0
        #: Our steps that may still be the newest, the newest last.
        self._steps: deque[_Step] = deque(maxlen=HISTORY)
        #: Steps that were undone and can be redone, the next one last.
        self._undone: list[_Step] = []
        self._follows = False
        self._replaced = False

    @abstractmethod
    def _open(self, label: str) -> OpenStep:
        """Have the application record what follows as one step."""

    @abstractmethod
    def _newest(self) -> Hashable:
        """Return the mark of the application's newest step."""

    @abstractmethod
    def _undo_newest(self) -> bool:
        """Undo the newest step, and return whether that worked."""

    @abstractmethod
    def _is_next_redo(self, mark: Hashable) -> bool:
        """Return whether the application would redo this step next."""

    @abstractmethod
    def _redo_next(self) -> bool:
        """Redo the step that was undone last, and return whether that worked."""

    def _applied(self, marks: Sequence[Hashable]) -> int | None:
        """Return how many of these steps, oldest first, the scene holds, or None when that can't be
        determined."""
        return None

    def _holds_changes(self, step: OpenStep) -> bool:
        """Return whether the closed step is the newest. If so, it holds changes, because
        applications drop empty steps."""
        return self._newest() == step.mark

    def _restore(self, step: OpenStep) -> None:  # noqa: B027 - most have nothing to add
        """After a rollback, restore everything that the application's steps don't cover."""

    def _show(self) -> None:  # noqa: B027 - most redraw by themselves
        """Redraw the views after each step and each undo."""

    def begin(self, label: str) -> object:
        self.catch_up()
        self._replaced = False
        self._follows = bool(self._steps) and self._steps[-1].mark == self._newest()
        return self._open(label)

    def commit(self, token: object) -> str | None:
        assert isinstance(token, OpenStep)
        changed = self._close(token)
        self._show()
        if not changed:
            return "" if self._replaced or not token.recorded else None
        self._count += 1
        self._undone.clear()
        self._steps.append(_Step(str(self._count), (self._newest(),), self._follows))
        return self._steps[-1].id

    def rollback(self, token: object) -> bool:
        assert isinstance(token, OpenStep)
        changed = self._close(token)
        try:
            if not token.recorded or self._replaced:
                # The replaced scene's steps are gone.
                return False
            if changed and not self._undo_newest():
                return False
            self._restore(token)
            return True
        finally:
            self._show()

    def undo(self, undo_id: str) -> bool:
        self.catch_up()
        newest = self._newest()
        if not self._steps or self._steps[-1].id != undo_id:
            return False
        step = self._steps[-1]
        if newest not in step.marks:
            # The artist has changed something since.
            return False
        self._steps.pop()
        try:
            done = all(self._undo_newest() for _ in range(step.marks.index(newest) + 1))
        finally:
            self._show()
        if done:
            self._undone.append(step)
        return done

    def redo(self, undo_id: str) -> bool:
        self.catch_up()
        if not self._undone or self._undone[-1].id != undo_id:
            return False
        step = self._undone[-1]
        if not self._is_next_redo(step.marks[0]):
            return False
        self._undone.pop()
        try:
            done = all(self._redo_next() for _ in step.marks)
        finally:
            self._show()
        if done:
            self._steps.append(replace(step, marks=self._marks_again(step.marks)))
        return done

    def _marks_again(self, marks: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
        """Return the marks of a step that was redone."""
        return marks

    def join(self, undo_ids: Sequence[str]) -> str | None:
        newest = list(self._steps)[-len(undo_ids) :]
        if [step.id for step in newest] != list(undo_ids):
            return None
        if not all(step.follows for step in newest[1:]):
            return None
        for _ in newest:
            self._steps.pop()
        marks = tuple(mark for step in newest for mark in step.marks)
        self._steps.append(_Step(undo_ids[-1], marks, newest[0].follows))
        return undo_ids[-1]

    def catch_up(self) -> None:
        """Find out which steps the artist undid or redid, as far as the application reveals it. A
        step that is half undone counts as not undone."""
        known = [*self._steps, *reversed(self._undone)]
        applied = self._applied([mark for step in known for mark in step.marks])
        if applied is None:
            return
        there = 0
        while there < len(known) and applied > 0:
            applied -= len(known[there].marks)
            there += 1
        before = len(self._steps)
        self._steps = deque(known[:there], maxlen=HISTORY)
        self._undone = known[there:][::-1]
        if there < before:
            self.stepped.tell([step.id for step in known[there:before]], True)
        elif there > before:
            self.stepped.tell([step.id for step in known[before:there]], False)

    def scene_replaced(self) -> None:
        """Forget all steps, because replacing the scene has emptied the application's list."""
        self._steps.clear()
        self._undone.clear()
        self._replaced = True

    def _close(self, step: OpenStep) -> bool:
        """End the step, and return whether it contains anything that can be undone."""
        step.recording.close()
        return step.recorded and not self._replaced and self._holds_changes(step)

    def _unlike_known(self, label: str) -> str:
        """Make the label differ from all known ones by adding spaces, which the artist can't see.
        Labels must be unique where they identify recorded and undone steps."""
        marks = {mark for step in (*self._steps, *self._undone) for mark in step.marks}
        marks.add(self._newest())
        while label in marks:
            label += " "
        return label


def applied_of(
    marks: Sequence[Hashable], newest: Container[Hashable], next: Container[Hashable]
) -> int | None:
    """Return how many of our steps the scene contains. These are the steps up to the last among the
    ``newest`` that can be undone, or before the first among the ``next`` that can be redone."""
    held = [n + 1 for n, mark in enumerate(marks) if mark in newest]
    if held:
        return held[-1]
    return min((n for n, mark in enumerate(marks) if mark in next), default=None)
