"""Undo steps in Maya's own queue: a chunk per call, so that the artist's Ctrl+Z undoes it too."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from maya import cmds

#: Steps of ours that can be undone; what Maya keeps is the artist's choice.
HISTORY = 64


@dataclass(frozen=True)
class _Chunk:
    #: What Maya calls it; None while undo is switched off.
    name: str | None


class MayaUndo:
    """The undo port."""

    def __init__(self) -> None:
        self._count = 0
        #: (undo id, chunk's name) of our steps that lie on top of Maya's queue, the newest last.
        self._steps: deque[tuple[str, str]] = deque(maxlen=HISTORY)
        #: Undos of ours that Maya hasn't told of yet.
        self._own = 0
        self._replaced = False

    def begin(self, label: str) -> object:
        if not cmds.undoInfo(query=True, state=True):
            return _Chunk(None)
        # Afterwards, the name tells whether the chunk is in the queue: Maya drops an empty one. So
        # the same name never comes twice in a row; a space at its end is seen by nobody.
        name = f"{label} " if _newest() == label else label
        self._replaced = False
        cmds.undoInfo(openChunk=True, chunkName=name)
        return _Chunk(name)

    def commit(self, token: object) -> str | None:
        assert isinstance(token, _Chunk)
        if token.name is None or not self._close(token.name):
            return None
        self._count += 1
        self._steps.append((str(self._count), token.name))
        return self._steps[-1][0]

    def rollback(self, token: object) -> bool:
        assert isinstance(token, _Chunk)
        if token.name is None:
            return False
        if self._close(token.name):
            return self._undo()
        # Nothing was changed; or the scene was replaced, which can't be undone.
        return not self._replaced

    def undo(self, undo_id: str) -> bool:
        if not self._steps or self._steps[-1] != (undo_id, _newest()):
            return False
        self._steps.pop()
        return self._undo()

    def somebody_undid(self) -> None:
        """Undone or redone: our steps may not be the newest any more."""
        if self._own:
            self._own -= 1
        else:
            self._steps.clear()

    def scene_replaced(self) -> None:
        """Maya's queue is empty now."""
        self._steps.clear()
        self._replaced = True

    def _close(self, name: str) -> bool:
        """Whether it holds anything."""
        cmds.undoInfo(closeChunk=True)
        return _newest() == name

    def _undo(self) -> bool:
        self._own += 1
        try:
            cmds.undo()
        except RuntimeError:
            self._own -= 1
            return False
        return True


def _newest() -> str:
    return str(cmds.undoInfo(query=True, undoName=True) or "")
