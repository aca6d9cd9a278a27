"""Undo steps in Maya's own queue: a chunk per call."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from maya import cmds

from callboard.hosting.undo_steps import OpenStep, UndoSteps, applied_of


class MayaUndo(UndoSteps):
    """Maya tells later, when it is idle, that something was undone."""

    def _open(self, label: str) -> OpenStep:
        if not cmds.undoInfo(query=True, state=True):
            return OpenStep(None, recorded=False)
        name = self._unlike_known(label)
        step = OpenStep(name)
        cmds.undoInfo(openChunk=True, chunkName=name)
        step.recording.callback(cmds.undoInfo, closeChunk=True)
        return step

    def _newest(self) -> str:
        return str(cmds.undoInfo(query=True, undoName=True) or "")

    def _applied(self, marks: Sequence[Hashable]) -> int | None:
        following = str(cmds.undoInfo(query=True, redoName=True) or "")
        return applied_of(marks, (self._newest(),), (following,))

    def _undo_newest(self) -> bool:
        try:
            cmds.undo()
        except RuntimeError:
            return False
        return True
