"""The undo port over an application's own list of steps: one per call, so that the artist's Ctrl+Z
undoes it too."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Hashable, Sequence
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
    """``count`` steps of the application's, one on top of the other, the newest marked ``mark``."""

    id: str
    mark: Hashable
    #: Whether it lies right on top of the one before it here.
    follows: bool
    count: int = 1


class UndoSteps(ABC):
    """Objects that were looked up before ``rollback`` or ``undo`` may be gone. Main thread."""

    joins = False

    def __init__(self) -> None:
        self.stepped: Changes[[Sequence[str], bool]] = Changes()
        self._count = 0
        #: Our steps that may still be the newest, the newest last.
        self._steps: deque[_Step] = deque(maxlen=HISTORY)
        self._follows = False
        #: Undos of ours that the application hasn't told of yet.
        self._own = 0
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

    def _holds_changes(self, step: OpenStep) -> bool:
        """Whether the closed step is on top of the list: applications drop an empty one."""
        return self._newest() == step.mark

    def _restore(self, step: OpenStep) -> None:  # noqa: B027 - most have nothing to add
        """After a rollback: what isn't in the application's steps."""

    def _show(self) -> None:  # noqa: B027 - most redraw by themselves
        """After each step and each undo: has the views drawn again."""

    def begin(self, label: str) -> object:
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
        self._steps.append(_Step(str(self._count), self._newest(), self._follows))
        return self._steps[-1].id

    def rollback(self, token: object) -> bool:
        assert isinstance(token, OpenStep)
        changed = self._close(token)
        try:
            if not token.recorded or self._replaced:
                # Another scene can't be undone.
                return False
            if changed and not self._undo():
                return False
            self._restore(token)
            return True
        finally:
            self._show()

    def undo(self, undo_id: str) -> bool:
        newest = self._newest()
        while self._steps and self._steps[-1].mark != newest:
            # The artist undid it, or did something since.
            self._steps.pop()
        if not self._steps or self._steps[-1].id != undo_id:
            return False
        step = self._steps.pop()
        try:
            return all(self._undo() for _ in range(step.count))
        finally:
            self._show()

    def join(self, undo_ids: Sequence[str]) -> str | None:
        newest = list(self._steps)[-len(undo_ids) :]
        if [step.id for step in newest] != list(undo_ids):
            return None
        if not all(step.follows for step in newest[1:]):
            return None
        for _ in newest:
            self._steps.pop()
        count = sum(step.count for step in newest)
        self._steps.append(replace(newest[-1], follows=newest[0].follows, count=count))
        return undo_ids[-1]

    def somebody_undid(self) -> None:
        """Undone or redone: our steps may not be the newest any more."""
        if self._own:
            self._own -= 1
        else:
            self._steps.clear()

    def scene_replaced(self) -> None:
        """The application's list is empty now."""
        self._steps.clear()
        self._replaced = True

    def _close(self, step: OpenStep) -> bool:
        """Whether it holds anything that can be undone."""
        step.recording.close()
        return step.recorded and not self._replaced and self._holds_changes(step)

    def _undo(self) -> bool:
        self._own += 1
        if self._undo_newest():
            return True
        self._own = max(0, self._own - 1)
        return False


def label_unlike(newest: Hashable, label: str) -> str:
    """Where the newest label tells whether a step was recorded, the same one may not come twice in
    a row; a space at its end is seen by nobody."""
    return f"{label} " if newest == label else label
