"""Exact undo steps, one per call, at a cost that depends only on the call's changes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pxr import Sdf

from callboard.changes import Changes
from callboard_openusd.application.document import Document, OpenStage
from callboard_openusd.application.patch import Patch, difference, keep

#: Maximum number of steps that can be undone. The oldest is forgotten first.
HISTORY = 64


@dataclass(frozen=True)
class _Begun:
    label: str
    opened: OpenStage
    #: The state to return to.
    shadow: Sdf.Layer
    selection: list[str]
    modified: bool


@dataclass(frozen=True)
class _Step:
    """One step. ``parts`` has, for each call in the step, the state before the call and the patch
    that undoes the call's changes, oldest first."""

    undo_id: str
    parts: tuple[tuple[_Begun, Patch], ...]


@dataclass(frozen=True)
class _Undone:
    """An undone step with the patches that redo its parts, and the state after it."""

    step: _Step
    again: tuple[Patch, ...]
    opened: OpenStage
    selection: list[str]
    modified: bool


class UsdUndo:
    """The undo port. Opening a file is a step like any other: the previous stage is kept with the
    step, and an undo restores that stage unchanged."""

    joins = True

    def __init__(self, document: Document, scene_changed: Callable[[], None]) -> None:
        #: In this host, only this port undoes anything.
        self.stepped: Changes[[Sequence[str], bool]] = Changes()
        self._document = document
        self._scene_changed = scene_changed
        self._steps: deque[_Step] = deque(maxlen=HISTORY)
        #: Steps that can be redone, the next one last.
        self._undone: list[_Undone] = []
        self._count = 0

    def begin(self, label: str) -> object:
        opened = self._document.opened
        if opened.touched:
            # The stage was changed outside a step, so older steps no longer apply.
            self._steps.clear()
            self._undone.clear()
            opened.settle()
        return _Begun(label, opened, opened.shadow, list(opened.selection), opened.modified)

    def commit(self, token: object) -> str | None:
        assert isinstance(token, _Begun)
        opened = self._document.opened
        if opened is token.opened and not opened.touched and opened.selection == token.selection:
            return None
        before = difference(token.opened.touched, token.shadow, token.opened.layer)
        self._count += 1
        step = _Step(str(self._count), ((token, keep(before)),))
        token.opened.settle()
        opened.settle()
        self._steps.append(step)
        self._undone.clear()
        self._scene_changed()
        return step.undo_id

    def rollback(self, token: object) -> bool:
        assert isinstance(token, _Begun)
        opened = token.opened
        difference(opened.touched, token.shadow, opened.layer).apply(opened.layer)
        self._put_back(token)
        return True

    def undo(self, undo_id: str) -> bool:
        newest = self._steps[-1] if self._steps else None
        if newest is None or newest.undo_id != undo_id or self._document.opened.touched:
            return False
        self._steps.pop()
        after, again = self._document.opened, []
        selection, modified = list(after.selection), after.modified
        for begun, before in reversed(newest.parts):
            opened = begun.opened
            before.apply(opened.layer)
            # The shadow still holds the state after the step.
            again.append(keep(difference(opened.touched, opened.shadow, opened.layer)))
            before.apply(opened.shadow)
            self._put_back(begun)
            # The file may have been saved since, so the scene is considered different from the
            # file.
            opened.modified = opened.modified or bool(before)
        self._undone.append(_Undone(newest, tuple(again[::-1]), after, selection, modified))
        self._scene_changed()
        return True

    def redo(self, undo_id: str) -> bool:
        undone = self._undone[-1] if self._undone else None
        if undone is None or undone.step.undo_id != undo_id or self._document.opened.touched:
            return False
        self._undone.pop()
        for (begun, _), patch in zip(undone.step.parts, undone.again, strict=True):
            patch.apply(begun.opened.layer)
            patch.apply(begun.opened.shadow)
            begun.opened.touched.clear()
        opened = self._document.opened = undone.opened
        opened.selection = undone.selection
        opened.modified = undone.modified or any(map(bool, undone.again))
        self._steps.append(undone.step)
        self._scene_changed()
        return True

    def join(self, undo_ids: Sequence[str]) -> str | None:
        newest = list(self._steps)[-len(undo_ids) :]
        if [step.undo_id for step in newest] != list(undo_ids):
            return None
        for _ in newest:
            self._steps.pop()
        parts = tuple(part for step in newest for part in step.parts)
        self._steps.append(_Step(undo_ids[-1], parts))
        return undo_ids[-1]

    def _put_back(self, begun: _Begun) -> None:
        begun.opened.touched.clear()
        begun.opened.selection = list(begun.selection)
        begun.opened.modified = begun.modified
        self._document.opened = begun.opened
