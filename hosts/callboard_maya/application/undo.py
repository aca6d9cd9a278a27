"""Undo steps in Maya's own queue, one chunk per call."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager

from maya import cmds

from callboard_qt import OpenStep, UndoSteps, applied_of


class MayaUndo(UndoSteps):
    """The undo port. Maya reports an undo later, when it is idle."""

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

    def _is_next_redo(self, mark: Hashable) -> bool:
        return bool(cmds.undoInfo(query=True, redoName=True) == mark)

    def _redo_next(self) -> bool:
        return _done(cmds.redo)

    def _undo_newest(self) -> bool:
        return _done(cmds.undo)


def _done(command: Callable[[], object]) -> bool:
    try:
        command()
    except RuntimeError:
        return False
    return True


@contextmanager
def unnoticed() -> Iterator[None]:
    """Keep changes inside the block out of the undo queue, and leave the modified flag as it was.
    The block must undo its changes itself."""
    recording = bool(cmds.undoInfo(query=True, state=True))
    modified = bool(cmds.file(query=True, modified=True))
    cmds.undoInfo(stateWithoutFlush=False)
    try:
        yield
    finally:
        cmds.undoInfo(stateWithoutFlush=recording)
        if not modified:
            cmds.file(modified=False)
