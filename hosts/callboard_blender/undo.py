"""Undo steps on Blender's own undo stack, so that the artist's Ctrl+Z undoes a call as well.

Blender saves states, not edits: pushing stores the scene as it is now under a label, undoing goes
back to the state before. A step is therefore pushed when it ends. To roll back, the half-done
state is pushed too, and undone. All of this works in background mode once a first state is there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any

import bpy

from callboard.errors import HostError
from callboard_blender import modes
from callboard_blender.changes import Changes
from callboard_blender.names import forget, view_layer

#: Steps of ours that can be undone; Blender keeps 32 states by default.
HISTORY = 30


@dataclass(frozen=True)
class _Begun:
    label: str
    unsaved: bool


class BlenderUndo:
    """The undo port. References to objects die with ``rollback`` and ``undo``."""

    joins = False

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._count = 0
        #: Our steps that lie on top of Blender's stack, the newest last.
        self._steps: deque[str] = deque(maxlen=HISTORY)
        #: How many of Blender's steps one of ours is, where it isn't one.
        self._counts: dict[str, int] = {}

    def begin(self, label: str) -> object:
        changes = self._changes
        changes.mode = modes.current()
        unsaved = changes.unsaved
        if changes.mode.mode != "OBJECT":
            with changes.unnoticed():
                modes.leave()
                view_layer().update()
            if changes.foreign or not self._steps:
                # Steps of other modes hold one object's data; the state to come back to is a whole.
                changes.based = _push("before callboard")
        # What somebody changed a moment ago is told now.
        view_layer().update()
        if not changes.based:
            # The state to come back to must be on the stack.
            changes.based = _push("before callboard")
        if changes.foreign:
            self._steps.clear()
        changes.in_step, changes.touched, changes.foreign = True, False, False
        changes.replaced = changes.stepped = False
        forget()
        return _Begun(label, unsaved)

    def commit(self, token: object) -> str | None:
        assert isinstance(token, _Begun)
        changes = self._changes
        if not changes.replaced:
            modes.leave()
        id = self._commit(token)
        self._back_to_the_artists_mode()
        return id

    def _back_to_the_artists_mode(self) -> None:
        changes = self._changes
        if changes.mode.mode != "OBJECT" and not changes.replaced:
            with changes.unnoticed():
                modes.put_back(changes.mode)
                view_layer().update()

    def _commit(self, token: _Begun) -> str | None:
        changes = self._changes
        if not changes.replaced:
            view_layer().update()
        changes.in_step = False
        if changes.replaced:
            # Opening a file starts Blender's stack anew, and leaves no window until the next tick.
            return ""
        if changes.stepped:
            # What was there before is no longer below what is there now.
            self._steps.clear()
            _push(token.label)
            return ""
        if not changes.touched:
            return None
        if not changes.based or not _push(token.label):
            return ""
        self._count += 1
        self._steps.append(str(self._count))
        return self._steps[-1]

    def rollback(self, token: object) -> bool:
        assert isinstance(token, _Begun)
        changes = self._changes
        if not changes.replaced:
            with suppress(HostError):
                modes.leave()
            view_layer().update()
        with changes.unnoticed():
            done = not changes.touched or (
                changes.based
                and not changes.stepped
                and _push(f"{token.label} (failed)")
                and _undo()
            )
        changes.in_step = False
        self._back_to_the_artists_mode()
        if done:
            changes.unsaved = token.unsaved
        return done

    def undo(self, undo_id: str) -> bool:
        changes = self._changes
        if changes.foreign or not self._steps or self._steps[-1] != undo_id:
            return False
        with changes.unnoticed():
            while self._counts.get(undo_id, 1):
                if not _undo():
                    return False
                changes.unsaved = True
                self._counts[undo_id] = self._counts.get(undo_id, 1) - 1
        del self._counts[self._steps.pop()]
        return True

    def join(self, undo_ids: Sequence[str]) -> str | None:
        # What somebody else did in between has cleared the list.
        if list(self._steps)[-len(undo_ids) :] != list(undo_ids):
            return None
        count = sum(self._counts.get(id, 1) for id in undo_ids)
        for _ in undo_ids:
            self._steps.pop()
        last = undo_ids[-1]
        self._steps.append(last)
        self._counts = {id: many for id, many in self._counts.items() if id in self._steps}
        self._counts[last] = count
        return last


def _push(label: str) -> bool:
    if not bpy.context.preferences.edit.use_global_undo:
        return False
    with _in_a_window():
        return bool(bpy.ops.ed.undo_push(message=label[:63]) == {"FINISHED"})


#: A text that is there while a script runs, and so in each state that the script pushes itself.
_INNER = "callboard: a step of a script's own"


@contextmanager
def marked() -> Iterator[None]:
    """Around what may push undo steps of its own, so that undoing goes back beyond them."""
    bpy.data.texts.new(_INNER)
    try:
        yield
    finally:
        mark = bpy.data.texts.get(_INNER)
        if mark is not None:
            bpy.data.texts.remove(mark)


def _undo() -> bool:
    done = _undo_once()
    while done and _INNER in bpy.data.texts:
        done = _undo_once()
    forget()
    view_layer().update()
    return done


def _undo_once() -> bool:
    try:
        with _in_a_window():
            return bool(bpy.ops.ed.undo() == {"FINISHED"})
    except RuntimeError:
        return False


def _in_a_window() -> AbstractContextManager[Any]:
    """Until the tick after a file was opened Blender's context has no window, and no undo; without
    a user interface it stays like that."""
    windows = bpy.context.window_manager.windows
    if bpy.context.window is not None or not windows:
        return nullcontext()
    override: AbstractContextManager[Any] = bpy.context.temp_override(window=windows[0])
    return override
