"""Undo steps on Blender's own undo stack, so that the artist's Ctrl+Z undoes a call as well.

Blender saves states, not edits. Pushing stores the current scene under a label, and undoing goes
back to the previous state. A step is therefore pushed when it ends. A rollback pushes the half-done
state too, and then undoes it. All of this works in background mode once a first state exists.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

import bpy

from callboard.changes import Changes
from callboard.errors import HostError
from callboard_blender.application import modes
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.names import forget, view_layer
from callboard_blender.application.state_mark import StateMark
from callboard_blender.application.views import in_a_window

#: Maximum number of our steps that can be undone. Blender keeps 32 states by default.
HISTORY = 30


@dataclass(frozen=True)
class _Begun:
    label: str
    unsaved: bool
    #: True when a state was pushed although the stack already held the same state.
    based_again: bool


@dataclass(frozen=True)
class _Step:
    """Blender's steps from number ``first`` to ``last``. ``follows`` is True when they are directly
    on top of our previous step."""

    first: int
    last: int
    follows: bool


class BlenderUndo:
    """The undo port. References to objects become invalid in ``rollback`` and ``undo``."""

    joins = False

    def __init__(self, changes: SceneChanges) -> None:
        self.stepped: Changes[[Sequence[str], bool]] = Changes()
        self._changes = changes
        self._count = 0
        self._mark = StateMark()
        #: Our steps that can be undone or redone, oldest first.
        self._known: deque[_Step] = deque(maxlen=HISTORY)
        #: Our steps that are on top of Blender's stack.
        self._steps: list[_Step] = []
        #: The number of our newest step that the scene contains, or 0 for none.
        self._at = 0
        changes.went.watch(self._went)
        changes.emptied.watch(self._emptied)

    def begin(self, label: str) -> object:
        changes = self._changes
        changes.mode = modes.current()
        unsaved, based_again = changes.unsaved, False
        self._prepare()
        if changes.mode.mode != "OBJECT":
            with changes.unnoticed():
                modes.leave()
                view_layer().update()
            if changes.foreign or not self._steps:
                # An undo state of a different mode contains only one object's data, but the state
                # to return to must be complete.
                based_again, changes.based = changes.based, self._push("before callboard")
        # This makes Blender report recent changes.
        view_layer().update()
        if not changes.based:
            # The state to return to must be on the stack.
            changes.based = self._push("before callboard")
        if changes.foreign:
            self._steps.clear()
        changes.in_step, changes.touched, changes.foreign = True, False, False
        changes.replaced = changes.stepped = False
        forget()
        return _Begun(label, unsaved, based_again)

    def commit(self, token: object) -> str | None:
        assert isinstance(token, _Begun)
        changes = self._changes
        if not changes.replaced:
            modes.leave()
        id = self._commit(token)
        if id is None and token.based_again:
            # Nothing changed, so the artist has nothing to undo.
            with changes.unnoticed():
                _undo()
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
            # Opening a file clears Blender's stack, and there is no window until the next tick.
            return ""
        if changes.stepped:
            # The earlier states are no longer below the current one.
            self._steps.clear()
            self._push(token.label)
            return ""
        if not changes.touched:
            return None
        number = self._count + 1
        if not changes.based or not self._push(token.label, number):
            return ""
        self._count = self._at = number
        self._known.append(_Step(number, number, follows=bool(self._steps)))
        self._steps.append(self._known[-1])
        return str(number)

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
                and self._push(f"{token.label} (failed)")
                and _undo()
            )
        changes.in_step = False
        self._back_to_the_artists_mode()
        if done:
            changes.unsaved = token.unsaved
        return done

    def undo(self, undo_id: str) -> bool:
        changes = self._changes
        if changes.foreign or not self._steps or str(self._steps[-1].last) != undo_id:
            return False
        first = self._steps[-1].first
        with changes.unnoticed():
            while self._at >= first and not changes.foreign:
                if not _undo():
                    return False
                changes.unsaved = True
        return self._at < first

    def redo(self, undo_id: str) -> bool:
        changes = self._changes
        step = next((one for one in self._known if one.first > self._at), None)
        if changes.strayed or step is None or str(step.last) != undo_id:
            return False
        with changes.unnoticed():
            while self._at < step.last:
                if not _redo():
                    return False
                changes.unsaved = True
        return True

    def join(self, undo_ids: Sequence[str]) -> str | None:
        # A change from any other source between these steps would have cleared the list.
        joined = self._steps[-len(undo_ids) :]
        if [str(step.last) for step in joined] != list(undo_ids):
            return None
        for _ in joined:
            self._steps.pop()
            self._known.pop()
        self._known.append(replace(joined[-1], first=joined[0].first, follows=joined[0].follows))
        self._steps.append(self._known[-1])
        return undo_ids[-1]

    def end_jobs(self) -> None:
        """End jobs that Blender runs in separate threads, such as a render. Going back one state
        ends them, and the state below is an identical copy of the current one. Undo stays possible,
        but redo doesn't."""
        changes = self._changes
        if changes.in_step:
            return
        kept = changes.foreign, changes.stepped, self._steps.copy()
        with changes.unnoticed():
            if self._push("before callboard") and self._push("before callboard"):
                _go_once(bpy.ops.ed.undo)
                view_layer().update()
        changes.foreign, changes.stepped, self._steps = kept

    def _prepare(self) -> None:
        """Make the mark, without reporting a change, if it is missing. A purge of unused data
        removes it."""
        if not self._mark.ready:
            view_layer().update()
            with self._changes.unnoticed():
                self._mark.prepare()
                view_layer().update()

    def _push(self, label: str, number: int | None = None) -> bool:
        """Save the state, as the artist's own if ``number`` is None. After that, no undone step can
        be redone."""
        if not _may_undo():
            return False
        self._prepare()
        while self._known and self._known[-1].first > self._at:
            self._known.pop()
        with self._mark.on_top(self._at if number is None else number, ours=number is not None):
            return _push(label)

    def _went(self) -> None:
        """Note that Blender has switched to a different state in an undo or redo."""
        changes, before = self._changes, self._at
        self._at, ours = self._mark.read()
        with changes.unnoticed():
            view_layer().update()
        changes.foreign = not ours
        self._steps.clear()
        for step in self._known:
            if step.first <= self._at:
                if not step.follows:
                    self._steps.clear()
                self._steps.append(step)
        gone = [str(one.last) for one in self._known if self._at < one.first <= before]
        back = [str(one.last) for one in self._known if before < one.first <= self._at]
        if gone:
            self.stepped.tell(gone, True)
        if back:
            self.stepped.tell(back, False)

    def _emptied(self) -> None:
        """Forget all steps, because a different file is now open."""
        self._known.clear()
        self._steps.clear()
        self._at = 0


def _may_undo() -> bool:
    return bool(bpy.context.preferences.edit.use_global_undo)


def _push(label: str) -> bool:
    with in_a_window():
        return bool(bpy.ops.ed.undo_push(message=label[:63]) == {"FINISHED"})


#: A text datablock that exists only while a script is running, so that each state that the script
#: pushes contains it.
_INNER = "callboard: a step of a script's own"


@contextmanager
def marked() -> Iterator[None]:
    """Mark undo steps that a script pushes inside the block, so that an undo skips them."""
    bpy.data.texts.new(_INNER)
    try:
        yield
    finally:
        mark = bpy.data.texts.get(_INNER)
        if mark is not None:
            bpy.data.texts.remove(mark)


def _undo() -> bool:
    return _go(bpy.ops.ed.undo)


def _redo() -> bool:
    return _go(bpy.ops.ed.redo)


def _go(step: Callable[[], set[str]]) -> bool:
    """Go one state back or forward in Blender's stack, skipping states that a script pushed."""
    done = _go_once(step)
    while done and _INNER in bpy.data.texts:
        done = _go_once(step)
    forget()
    view_layer().update()
    return done


def _go_once(step: Callable[[], set[str]]) -> bool:
    try:
        with in_a_window():
            return step() == {"FINISHED"}
    except RuntimeError:
        return False
