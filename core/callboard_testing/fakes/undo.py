"""Undo over snapshots of the fake scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from callboard.changes import Changes
from callboard.content import Json
from callboard_testing.fakes.scene import FakeScene


@dataclass
class _Step:
    id: str
    label: str
    before: Json
    after: Json = field(default_factory=dict)


class FakeUndo:
    """UndoPort over snapshots. ``steps`` are the labels of the steps that the artist could undo,
    oldest first. ``open`` is true while a step is open."""

    joins = True

    def __init__(self, scene: FakeScene) -> None:
        self._scene = scene
        self._steps: list[_Step] = []
        self._undone: list[_Step] = []
        self.stepped: Changes[[Sequence[str], bool]] = Changes()
        self._open: _Step | None = None
        self._count = 0

    @property
    def steps(self) -> list[str]:
        return [step.label for step in self._steps]

    @property
    def open(self) -> bool:
        return self._open is not None

    def begin(self, label: str) -> object:
        before = self._scene.snapshot()
        if self._open is not None:
            raise AssertionError(f"'{label}' began inside the undo step '{self._open.label}'")
        self._count += 1
        self._open = _Step(f"undo-{self._count}", label, before)
        return self._open

    def commit(self, token: object) -> str | None:
        step = self._close(token)
        step.after = self._scene.snapshot()
        if step.after == step.before:
            return None
        self._steps.append(step)
        self._undone.clear()
        return step.id

    def rollback(self, token: object) -> bool:
        self._scene.restore(self._close(token).before)
        return True

    def join(self, undo_ids: Sequence[str]) -> str | None:
        newest = self._steps[-len(undo_ids) :]
        if [step.id for step in newest] != list(undo_ids):
            return None
        if any(one.after != other.before for one, other in pairwise(newest)):
            return None
        first, last = newest[0], newest[-1]
        self._steps[-len(undo_ids) :] = [replace(last, before=first.before)]
        return last.id

    def undo(self, undo_id: str) -> bool:
        if not self._steps or self._steps[-1].id != undo_id:
            return False
        if self._steps[-1].after != self._scene.snapshot():
            return False
        self._undone.append(self._steps.pop())
        self._scene.restore(self._undone[-1].before)
        return True

    def redo(self, undo_id: str) -> bool:
        if not self._undone or self._undone[-1].id != undo_id:
            return False
        if self._undone[-1].before != self._scene.snapshot():
            return False
        self._steps.append(self._undone.pop())
        self._scene.restore(self._steps[-1].after)
        return True

    def artist(self, key: str) -> None:
        """Press ``ctrl+z``, or ``ctrl+shift+z``."""
        undo = key == "ctrl+z"
        step = (self._steps if undo else self._undone).pop()
        (self._undone if undo else self._steps).append(step)
        self._scene.restore(step.before if undo else step.after)
        self.stepped.tell([step.id], undo)

    def _close(self, token: object) -> _Step:
        if not isinstance(token, _Step) or token is not self._open:
            raise AssertionError("an undo step that isn't open was ended")
        self._open = None
        return token
