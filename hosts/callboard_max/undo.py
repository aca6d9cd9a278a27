"""Undo steps in 3ds Max's own list: one per call, so that the artist's Ctrl+Z undoes it too.

3ds Max doesn't show its list. It counts the changes that were ever recorded, and that tells
whether a call changed anything, and whether our newest step is still the newest of all.
"""

from __future__ import annotations

from collections import deque
from contextlib import ExitStack
from dataclasses import dataclass, field

import pymxs
from pymxs import runtime as rt

#: Steps of ours that can be undone; what 3ds Max keeps is the artist's choice.
HISTORY = 64


@dataclass(frozen=True)
class _Begun:
    changes: int
    context: ExitStack = field(default_factory=ExitStack)


class MaxUndo:
    """The undo port. Nodes that were looked up before ``rollback`` or ``undo`` may be gone."""

    def __init__(self) -> None:
        self._count = 0
        #: Undo ids of our steps that lie on top of 3ds Max's list, the newest last.
        self._steps: deque[str] = deque(maxlen=HISTORY)
        #: 3ds Max's count when our newest step was on top.
        self._changes = 0
        #: Undos of ours that 3ds Max hasn't told of yet.
        self._own = 0
        self._replaced = False

    def begin(self, label: str) -> object:
        self._look()
        self._replaced = False
        begun = _Begun(_recorded())
        # Without this, 3ds Max would record nothing of what Python does.
        begun.context.enter_context(pymxs.undo(True, label))
        return begun

    def commit(self, token: object) -> str | None:
        assert isinstance(token, _Begun)
        token.context.close()
        changed = not self._replaced and _recorded() != token.changes
        self._changes = _recorded()
        if not changed:
            return None
        self._count += 1
        self._steps.append(str(self._count))
        return self._steps[-1]

    def rollback(self, token: object) -> bool:
        assert isinstance(token, _Begun)
        token.context.close()
        if self._replaced:
            return False
        done = _recorded() == token.changes or self._undo()
        self._changes = _recorded()
        return done

    def undo(self, undo_id: str) -> bool:
        self._look()
        if not self._steps or self._steps[-1] != undo_id:
            return False
        self._steps.pop()
        done = self._undo()
        self._changes = _recorded()
        return done

    def somebody_undid(self) -> None:
        """Undone or redone: our steps may not be the newest any more."""
        if self._own:
            self._own -= 1
        else:
            self._steps.clear()

    def scene_replaced(self) -> None:
        """3ds Max's list is empty now."""
        self._steps.clear()
        self._replaced = True

    def _look(self) -> None:
        """Forgets our steps where somebody else's lie on top."""
        if _recorded() != self._changes:
            self._steps.clear()

    def _undo(self) -> bool:
        self._own += 1
        try:
            rt.execute("max undo")
        except RuntimeError:
            self._own = 0
            return False
        self._own = 0
        return True


def _recorded() -> int:
    """How many changes 3ds Max has recorded since it started."""
    return int(rt.theHold.GetGlobalPutCount())
