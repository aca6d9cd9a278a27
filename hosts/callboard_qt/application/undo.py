"""The undo port on the application's own undo list. Each call is one step, so the artist's Ctrl+Z
undoes it too."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Container, Hashable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from callboard.changes import Changes

#: Maximum number of our own steps that can be undone. The artist decides how many the application
#: keeps.
HISTORY = 64


@dataclass(frozen=True)
class OpenStep:
    """A step that is being recorded. Its ``mark`` shows later whether anything was recorded."""

    mark: Hashable
    #: Closed when the step ends.
    recording: ExitStack = field(default_factory=ExitStack)
    #: True when the application records undo steps at all.
    recorded: bool = True
    #: What was selected when the step began. Only a subclass's ``_restore`` reads it, to select
    #: the same objects again after a rollback. Leave it empty if the application's own undo does
    #: that.
    selection: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Step:
    """One or more consecutive steps of the application, identified by their marks, oldest first."""

    id: str
    marks: tuple[Hashable, ...]
    #: True when the step is directly on top of the previous step in our list.
    follows: bool

    @property
    def mark(self) -> Hashable:
        """Return the newest step's mark."""
        return self.marks[-1]


class UndoSteps(ABC):
    """The undo port. Objects looked up before ``rollback`` or ``undo`` may be gone afterwards. Use
    it on the main thread.

    A subclass defines the abstract methods, and whichever of ``_applied``, ``_holds_changes``,
    ``_marks_again``, ``_restore`` and ``_show`` its application needs. It may use ``_top``,
    ``_forget`` and ``_unlike_known``. Any other name is free for its own use.
    """

    joins = False

    def __init__(self) -> None:
        self.stepped: Changes[[Sequence[str], bool]] = Changes()
        self.__count = 0
        #: Our steps that haven't been undone, the newest last.
        self.__steps: deque[_Step] = deque(maxlen=HISTORY)
        #: Steps that were undone and can be redone, the next one last.
        self.__undone: list[_Step] = []
        self.__follows = False
        self.__replaced = False

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
        """Return how many of these steps, oldest first, the scene contains, or None when that can't
        be determined."""
        return None

    def _holds_changes(self, step: OpenStep) -> bool:
        """Return whether the closed step is the newest. If so, it contains changes, because
        applications drop empty steps."""
        return self._newest() == step.mark

    def _restore(self, step: OpenStep) -> None:  # noqa: B027 - most have nothing to add
        """After a rollback, restore everything that the application's steps don't cover."""

    def _show(self) -> None:  # noqa: B027 - most redraw by themselves
        """Redraw the views after each step and each undo."""

    def begin(self, label: str) -> object:
        self.catch_up()
        self.__replaced = False
        self.__follows = bool(self.__steps) and self.__steps[-1].mark == self._newest()
        return self._open(label)

    def commit(self, token: object) -> str | None:
        assert isinstance(token, OpenStep)
        changed = self.__close(token)
        self._show()
        if not changed:
            return "" if self.__replaced or not token.recorded else None
        self.__count += 1
        self.__undone.clear()
        self.__steps.append(_Step(str(self.__count), (self._newest(),), self.__follows))
        return self.__steps[-1].id

    def rollback(self, token: object) -> bool:
        assert isinstance(token, OpenStep)
        changed = self.__close(token)
        try:
            if not token.recorded or self.__replaced:
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
        if not self.__steps or self.__steps[-1].id != undo_id:
            return False
        step = self.__steps[-1]
        if newest not in step.marks:
            # The artist has changed something since.
            return False
        self.__steps.pop()
        try:
            done = all(self._undo_newest() for _ in range(step.marks.index(newest) + 1))
        finally:
            self._show()
        if done:
            self.__undone.append(step)
        return done

    def redo(self, undo_id: str) -> bool:
        self.catch_up()
        if not self.__undone or self.__undone[-1].id != undo_id:
            return False
        step = self.__undone[-1]
        if not self._is_next_redo(step.marks[0]):
            return False
        self.__undone.pop()
        try:
            done = all(self._redo_next() for _ in step.marks)
        finally:
            self._show()
        if done:
            self.__steps.append(replace(step, marks=self._marks_again(step.marks)))
        return done

    def _marks_again(self, marks: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
        """Return the marks of a step that was redone."""
        return marks

    def join(self, undo_ids: Sequence[str]) -> str | None:
        newest = list(self.__steps)[-len(undo_ids) :]
        if [step.id for step in newest] != list(undo_ids):
            return None
        if not all(step.follows for step in newest[1:]):
            return None
        for _ in newest:
            self.__steps.pop()
        marks = tuple(mark for step in newest for mark in step.marks)
        self.__steps.append(_Step(undo_ids[-1], marks, newest[0].follows))
        return undo_ids[-1]

    def catch_up(self) -> None:
        """Find out which steps the artist undid or redid, as far as the application reveals it. A
        step that is half undone is treated as not undone."""
        known = [*self.__steps, *reversed(self.__undone)]
        applied = self._applied([mark for step in known for mark in step.marks])
        if applied is None:
            return
        there = 0
        while there < len(known) and applied > 0:
            applied -= len(known[there].marks)
            there += 1
        before = len(self.__steps)
        self.__steps = deque(known[:there], maxlen=HISTORY)
        self.__undone = known[there:][::-1]
        if there < before:
            self.stepped.tell([step.id for step in known[there:before]], True)
        elif there > before:
            self.stepped.tell([step.id for step in known[before:there]], False)

    def scene_replaced(self) -> None:
        """Forget all steps, because replacing the scene has emptied the application's list."""
        self._forget()
        self.__replaced = True

    def _forget(self) -> None:
        """Forget all steps, because another step is on top of them."""
        self.__steps.clear()
        self.__undone.clear()

    @property
    def _top(self) -> Hashable | None:
        """The mark of our newest step, or None if there is no step. Set this property if the mark
        has changed."""
        return self.__steps[-1].mark if self.__steps else None

    @_top.setter
    def _top(self, mark: Hashable) -> None:
        if self.__steps:
            newest = self.__steps[-1]
            self.__steps[-1] = replace(newest, marks=(*newest.marks[:-1], mark))

    def __close(self, step: OpenStep) -> bool:
        """End the step, and return whether it contains anything that can be undone."""
        step.recording.close()
        return step.recorded and not self.__replaced and self._holds_changes(step)

    def _unlike_known(self, label: str) -> str:
        """Make the label differ from all known ones by adding spaces, which the artist can't see.
        Labels must be unique where they identify recorded and undone steps."""
        marks = {mark for step in (*self.__steps, *self.__undone) for mark in step.marks}
        marks.add(self._newest())
        while label in marks:
            label += " "
        return label


def applied_of(
    marks: Sequence[Hashable], newest: Container[Hashable], next: Container[Hashable]
) -> int | None:
    """Return how many of our steps the scene contains. ``newest`` has the newest steps that can be
    undone, and ``next`` the next ones that can be redone. The count ends with our last step that
    is in ``newest``, or else before our first step that is in ``next``."""
    held = [n + 1 for n, mark in enumerate(marks) if mark in newest]
    if held:
        return held[-1]
    return min((n for n, mark in enumerate(marks) if mark in next), default=None)
