"""Undo steps in Houdini's own list, one group per call.

Houdini doesn't report an undo, but it lists the labels of the steps that can be undone and redone.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager

import hou

from callboard_houdini.application.names import selected_paths, set_selection
from callboard_qt import OpenStep, UndoSteps, applied_of


class HoudiniUndo(UndoSteps):
    def __init__(self) -> None:
        super().__init__()
        #: True once Houdini has recorded a step. hython records steps only on request, if at all,
        #: but always reports undo as enabled.
        self._records = bool(hou.isUIAvailable())
        if not self._records:
            hou.hscript("undoctrl on")

    def rollback(self, token: object) -> bool:
        return super().rollback(token) and self._records

    def _holds_changes(self, step: OpenStep) -> bool:
        changed = super()._holds_changes(step)
        self._records = self._records or changed
        return changed

    def _open(self, label: str) -> OpenStep:
        # Houdini doesn't count selecting as a change.
        selection = tuple(selected_paths())
        if not hou.undos.areEnabled():
            return OpenStep(None, recorded=False, selection=selection)
        step = OpenStep(self._unlike_known(label), selection=selection)
        step.recording.enter_context(_group(str(step.mark)))
        return step

    def _newest(self) -> str:
        labels = hou.undos.undoLabels()
        return labels[0] if labels else ""

    def _applied(self, marks: Sequence[Hashable]) -> int | None:
        return applied_of(marks, hou.undos.undoLabels(), hou.undos.redoLabels())

    def _undo_newest(self) -> bool:
        hou.undos.performUndo()
        return True

    def _is_next_redo(self, mark: Hashable) -> bool:
        return mark in hou.undos.redoLabels()[:1]

    def _redo_next(self) -> bool:
        hou.undos.performRedo()
        return True

    def _restore(self, step: OpenStep) -> None:
        set_selection(step.selection)


@contextmanager
def _group(label: str) -> Iterator[None]:
    with hou.undos.group(label):
        yield
