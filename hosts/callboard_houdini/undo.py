"""Undo steps in Houdini's own list: a group per call, so that the artist's Ctrl+Z undoes it too.

Houdini tells nobody that something was undone, but shows the labels of what can be undone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import hou

from callboard_houdini.edit import selected_paths, set_selection

#: Steps of ours that can be undone; what Houdini keeps is the artist's choice.
HISTORY = 64


@dataclass(frozen=True)
class _Begun:
    label: str
    #: Houdini doesn't count selecting as a change.
    selection: tuple[str, ...]
    group: ExitStack = field(default_factory=ExitStack)
    enabled: bool = True


class HoudiniUndo:
    """The undo port. Nodes that were looked up before ``rollback`` or ``undo`` may be gone."""

    def __init__(self) -> None:
        self._count = 0
        #: (undo id, label) of our steps, the newest last.
        self._steps: deque[tuple[str, str]] = deque(maxlen=HISTORY)
        self._replaced = False

    def begin(self, label: str) -> object:
        self._replaced = False
        selection = tuple(selected_paths())
        if not hou.undos.areEnabled():
            return _Begun(label, selection, enabled=False)
        # Afterwards, the label tells whether anything was recorded: Houdini drops an empty group.
        # So the same label never comes twice in a row; a space at its end is seen by nobody.
        begun = _Begun(f"{label} " if _newest() == label else label, selection)
        begun.group.enter_context(_group(begun.label))
        return begun

    def commit(self, token: object) -> str | None:
        if not self._close(token):
            return None
        assert isinstance(token, _Begun)
        self._count += 1
        self._steps.append((str(self._count), token.label))
        return self._steps[-1][0]

    def rollback(self, token: object) -> bool:
        assert isinstance(token, _Begun)
        recorded = self._close(token)
        if not token.enabled or self._replaced:
            return False
        if recorded:
            hou.undos.performUndo()
        set_selection(token.selection)
        return True

    def undo(self, undo_id: str) -> bool:
        newest = _newest()
        while self._steps and self._steps[-1][1] != newest:
            # The artist undid it, or did something since.
            self._steps.pop()
        if not self._steps or self._steps[-1][0] != undo_id:
            return False
        self._steps.pop()
        hou.undos.performUndo()
        return True

    def scene_replaced(self) -> None:
        """Houdini's list is empty now."""
        self._steps.clear()
        self._replaced = True

    def _close(self, token: object) -> bool:
        """Whether Houdini recorded anything."""
        assert isinstance(token, _Begun)
        token.group.close()
        return token.enabled and not self._replaced and _newest() == token.label


@contextmanager
def _group(label: str) -> Iterator[None]:
    with hou.undos.group(label):
        yield


def _newest() -> str:
    labels = hou.undos.undoLabels()
    return labels[0] if labels else ""
