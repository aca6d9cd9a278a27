"""Records the changes to the scene that Blender's handlers report, and whether callboard made
them."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy
from bpy.app.handlers import persistent

from callboard.changes import Changes
from callboard_blender.application import main_thread
from callboard_blender.application.modes import Mode
from callboard_blender.application.names import forget


class SceneChanges:
    """Listens to Blender's handlers. ``touched`` is True once the running step has changed
    something. ``foreign`` is True once anything else has made a change after our last step, which
    then isn't the newest change. ``unsaved`` is True if anything has changed since the last load or
    save. Background mode needs ``unsaved``, because in that mode Blender reports a new scene as
    modified."""

    def __init__(self, scene_replaced: Callable[[], None]) -> None:
        self._scene_replaced = scene_replaced
        #: Called when reading the scene would give a different result.
        self.noticed: Changes[[]] = Changes()
        self.in_step = False
        self._unnoticed = False
        self.touched = False
        self.foreign = False
        #: True once anything but our steps has changed the scene since Blender last switched to a
        #: different state of its undo stack.
        self.strayed = False
        #: True once the running step has opened a file.
        self.replaced = False
        #: True once the running step itself has switched to a different state of Blender's undo
        #: stack.
        self.stepped = False
        #: Called after an undo or redo, when the other state is already current.
        self.went: Changes[[]] = Changes()
        #: Called after another file has been opened. Opening it removes all our steps from the undo
        #: stack.
        self.emptied: Changes[[]] = Changes()
        #: Called when the scene has been written, perhaps to a new file.
        self.saved: Changes[[]] = Changes()
        #: The artist's mode when the running step began.
        self.mode = Mode()
        self.unsaved = False
        #: True after one of our steps has saved or opened a file. With a GUI, Blender marks the
        #: file as unmodified only after the next events.
        self._settling = False
        #: True while Blender's undo stack holds the state that the next step starts from.
        self.based = not bpy.app.background
        self._added = self._handlers()
        self._listen()

    def _handlers(self) -> list[tuple[Any, Callable[..., None]]]:
        """Return Blender's lists of handlers, each with the function to add."""
        handlers = bpy.app.handlers

        # Blender drops plain handlers when it opens a file. Only functions can be marked to stay.
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
            # Blender did not report any of the artist's changes during the render.
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
            # A render calls the update handler on its own thread, which can crash Blender 3.4. So
            # the handler is removed until the render ends, and the render is treated as a change.
            added += [
                (handlers.render_init, render_begins),
                (handlers.render_complete, render_ends),
                (handlers.render_cancel, render_ends),
            ]
        return added

    def _listen(self) -> None:
        for handler_list, function in self._added:
            handler_list.append(function)
        # A handler that is left behind keeps the bpy module alive beyond the interpreter, and then
        # the process doesn't end.
        atexit.register(self.close)

    @contextmanager
    def unnoticed(self) -> Iterator[None]:
        """Ignore changes inside the block, because they will be undone, or because they
        restore an earlier state."""
        before, self._unnoticed = self._unnoticed, True
        try:
            yield
        finally:
            self._unnoticed = before

    def touch(self) -> None:
        """Note a change. Code that adds, removes or renames objects also calls ``forget``."""
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
        """Stop listening. Idempotent."""
        added, self._added = self._added, []
        for handler_list, function in added:
            if function in handler_list:
                handler_list.remove(function)
        # The list of objects also keeps the module alive.
        forget()
        atexit.unregister(self.close)


def _by_a_script() -> bool:
    """Return whether another timer or a handler made the change that Blender is reporting. Blender
    pushes an undo state for the artist's changes and for add-ons' operators, but not for changes by
    a timer or a handler. When our own timer makes Blender report a change, the change was made
    earlier. It is treated as the artist's, just as if Blender had reported it without our timer."""
    frame = sys._getframe(2).f_back  # This is the code that made the change, or None.
    while frame is not None and frame.f_back is not None:
        frame = frame.f_back
    if frame is None or frame.f_globals is vars(main_thread):
        return False
    return frame.f_code.co_name not in ("execute", "invoke", "modal")
