"""What happened to the scene, and whether it was us."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy
from bpy.app.handlers import persistent

from callboard.changes import Changes as Watch
from callboard_blender.application.modes import Mode
from callboard_blender.application.names import forget


class Changes:
    """Listens to Blender's handlers. ``touched``: the running step changed something. ``foreign``:
    somebody else did since our last step, so it isn't the newest. ``unsaved``: since the last load
    or save; for background mode, where Blender calls a new scene modified."""

    def __init__(self, scene_replaced: Callable[[], None]) -> None:
        self._scene_replaced = scene_replaced
        #: Something reads differently now.
        self.noticed: Watch[[]] = Watch()
        self.in_step = False
        self._unnoticed = False
        self.touched = False
        self.foreign = False
        #: Somebody changed something since Blender went to the state that is there.
        self.strayed = False
        #: The running step opened a file.
        self.replaced = False
        #: The running step went to another state of Blender's undo stack by itself.
        self.stepped = False
        #: Somebody went to another state of Blender's undo stack, which is there now.
        self.went: Watch[[]] = Watch()
        #: Another file is open, and nothing of ours on the stack.
        self.emptied: Watch[[]] = Watch()
        #: The scene was written, maybe to another file than before.
        self.saved: Watch[[]] = Watch()
        #: What the artist was in when the running step began.
        self.mode = Mode()
        self.unsaved = False
        #: A step of ours saved or opened; with windows Blender takes until its next events to call
        #: the file clean.
        self._settling = False
        #: Blender's undo stack holds the state that the next step starts from.
        self.based = not bpy.app.background
        self._added = self._handlers()
        self._listen()

    def _handlers(self) -> list[tuple[Any, Callable[..., None]]]:
        """Blender's lists of handlers, each with what is to be in it."""
        handlers = bpy.app.handlers

        # Blender drops plain handlers when it opens a file; only functions can be marked to stay.
        @persistent  # type: ignore[untyped-decorator]
        def updated(*_: object) -> None:
            forget()
            self.touch()

        @persistent  # type: ignore[untyped-decorator]
        def loaded(*_: object) -> None:
            forget()
            self.based = not bpy.app.background
            self.touched = self.foreign = self.replaced = True
            self.unsaved, self._settling = False, self.in_step
            self.emptied.tell()
            self._scene_replaced()

        @persistent  # type: ignore[untyped-decorator]
        def saved(*_: object) -> None:
            self.unsaved, self._settling = False, self.in_step
            self.saved.tell()

        @persistent  # type: ignore[untyped-decorator]
        def stepped(*_: object) -> None:
            forget()
            self.stepped, self.strayed = True, False
            self.unsaved |= not self._unnoticed
            self.went.tell()

        @persistent  # type: ignore[untyped-decorator]
        def render_begins(*_: object) -> None:
            if updated in handlers.depsgraph_update_post:
                handlers.depsgraph_update_post.remove(updated)

        @persistent  # type: ignore[untyped-decorator]
        def render_ends(*_: object) -> None:
            if self._added and updated not in handlers.depsgraph_update_post:
                handlers.depsgraph_update_post.append(updated)
            # Nobody told of what the artist did meanwhile.
            forget()
            self.touch()

        added = [
            (handlers.depsgraph_update_post, updated),
            (handlers.load_post, loaded),
            (handlers.save_post, saved),
            (handlers.undo_post, stepped),
            (handlers.redo_post, stepped),
        ]
        if not bpy.app.background and bpy.app.version < (4, 0):
            # A render in a thread of its own calls the first one from there, and Blender 3.4 ends
            # now and then when it does. Later ones tell of what the artist does meanwhile.
            added += [
                (handlers.render_init, render_begins),
                (handlers.render_complete, render_ends),
                (handlers.render_cancel, render_ends),
            ]
        return added

    def _listen(self) -> None:
        for handler_list, function in self._added:
            handler_list.append(function)
        # A handler that is left keeps the bpy module alive beyond the interpreter, and the process
        # from ending.
        atexit.register(self.close)

    @contextmanager
    def unnoticed(self) -> Iterator[None]:
        """What happens inside is put back, or is a state that was there before."""
        before, self._unnoticed = self._unnoticed, True
        try:
            yield
        finally:
            self._unnoticed = before

    def touch(self) -> None:
        """Something changes. Who adds, removes or renames objects also has them looked up anew."""
        if self._unnoticed:
            return
        self.unsaved = True
        self.noticed.tell()
        self._settling = self._settling and self.in_step and self.replaced
        if self.in_step:
            self.touched = True
        else:
            self.foreign = self.strayed = True
            if bpy.app.background or _by_a_script():
                self.based = False

    @property
    def modified(self) -> bool:
        if bpy.app.background:
            return self.unsaved
        if not bpy.data.is_dirty:
            self._settling = False
            return False
        return not self._settling

    def close(self) -> None:
        """Stops listening. Idempotent."""
        added, self._added = self._added, []
        for handler_list, function in added:
            if function in handler_list:
                handler_list.remove(function)
        # So do objects that are remembered.
        forget()
        atexit.unregister(self.close)


def _by_a_script() -> bool:
    """Whether a timer or a handler makes the change that Blender tells of. Blender pushes a state
    for what the artist does and for operators of add-ons, not for those."""
    frame = sys._getframe(2).f_back  # who changes, behind the handler that calls here, or nobody
    while frame is not None and frame.f_back is not None:
        frame = frame.f_back
    return frame is not None and frame.f_code.co_name not in ("execute", "invoke", "modal")
