"""The undo port over an application's own list of steps: one per call, so that the artist's Ctrl+Z
undoes it too."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Container, Hashable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from callboard.changes import Changes

#: Steps of ours that can be undone; what the application keeps is the artist's choice.
HISTORY = 64


@dataclass(frozen=True)
class OpenStep:
    """A step that is being recorded. ``mark`` tells later whether anything was."""

    mark: Hashable
    #: Closed when the step ends.
    recording: ExitStack = field(default_factory=ExitStack)
    #: Whether the application records at all.
    recorded: bool = True
    #: What was selected, where the application doesn't count selecting as a change.
    selection: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Step:
    """Steps of the application's, one on top of the other, by their marks, oldest first."""

    id: str
    marks: tuple[Hashable, ...]
    #: Whether it lies right on top of the one before it here.
    follows: bool

    @property
    def mark(self) -> Hashable:
        """The newest one's."""
        return self.marks[-1]


class UndoSteps(ABC):
    """Objects that were looked up before ``rollback`` or ``undo`` may be gone. Main thread."""

    joins = False

    def __init__(self) -> None:
        self.stepped: Changes[[Sequence[str], bool]] = Changes()
        self._count = 0
        #: Our steps that may still be the newest, the newest last.
        self._steps: deque[_Step] = deque(maxlen=HISTORY)
        #: Those that were undone and may be done again, the next one last.
        self._undone: list[_Step] = []
        self._follows = False
        self._replaced = False

    @abstractmethod
    def _open(self, label: str) -> OpenStep:
        """The application records what follows as one step."""

    @abstractmethod
    def _newest(self) -> Hashable:
        """The mark of what is on top of the application's list."""

    @abstractmethod
    def _undo_newest(self) -> bool:
        """Undoes what is on top; whether it did."""

    @abstractmethod
    def _is_next(self, mark: Hashable) -> bool:
        """Whether that is what the application would do again."""

    @abstractmethod
    def _redo_next(self) -> bool:
        """Does again what was undone last; whether it did."""

    def _applied(self, marks: Sequence[Hashable]) -> int | None:
        """How many of these, oldest first, the scene holds; None where that can't be known."""
        return None

    def _holds_changes(self, step: OpenStep) -> bool:
        """Whether the closed step is on top of the list: applications drop an empty one."""
        return self._newest() == step.mark

    def _restore(self, step: OpenStep) -> None:  # noqa: B027 - most have nothing to add
        """After a rollback: what isn't in the application's steps."""

    def _show(self) -> None:  # noqa: B027 - most redraw by themselves
        """After each step and each undo: has the views drawn again."""

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
                # Another scene can't be undone.
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
            # The artist did something since.
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
        if not self._is_next(step.marks[0]):
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
        """The marks of a step that was done again."""
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
        """Finds out what somebody undid or did again, as far as the application lets it be known.
        What is half undone counts as there."""
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
        """The application's list is empty now."""
        self._steps.clear()
        self._undone.clear()
        self._replaced = True

    def _close(self, step: OpenStep) -> bool:
        """Whether it holds anything that can be undone."""
        step.recording.close()
        return step.recorded and not self._replaced and self._holds_changes(step)

    def _unlike_known(self, label: str) -> str:
        """Where labels tell what was recorded and what is undone, none may come twice; spaces at
        its end are seen by nobody."""
        marks = {mark for step in (*self._steps, *self._undone) for mark in step.marks}
        marks.add(self._newest())
        while label in marks:
            label += " "
        return label


def applied_of(
    marks: Sequence[Hashable], newest: Container[Hashable], next: Container[Hashable]
) -> int | None:
    """How many of our steps the scene holds: up to the last that is among the ``newest`` of what
    can be undone, or before the first that is among the ``next`` of what can be done again."""
    held = [n + 1 for n, mark in enumerate(marks) if mark in newest]
    if held:
        return held[-1]
    return min((n for n, mark in enumerate(marks) if mark in next), default=None)
