"""What Blender is busy with, for those who wait for it."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from functools import partial

import bpy
from bpy.app.handlers import persistent

#: From the handler that starts it to those that end it, in the artist's words.
_TASKS = (
    ("rendering", "render_init", ("render_complete", "render_cancel")),
    ("opening a file", "load_pre", ("load_post", "load_post_fail")),
    ("saving a file", "save_pre", ("save_post", "save_post_fail")),
    ("playing the animation", "animation_playback_pre", ("animation_playback_post",)),
)


class Busy:
    """Listens to Blender's handlers. They may run on the render thread, so all they do is note."""

    def __init__(self) -> None:
        self._doing: list[str] = []
        self._added: list[tuple[list[Callable[..., None]], Callable[..., None]]] = []
        for task, begin, ends in _TASKS:
            self._add(begin, partial(self._begin, task))
            for end in ends:
                self._add(end, partial(self._end, task))
        # A handler that is left keeps the bpy module alive, and the process from ending.
        atexit.register(self.close)

    @property
    def doing(self) -> str | None:
        """What began last and goes on. Any thread."""
        found = self._doing[-1:]
        return found[0] if found else None

    def close(self) -> None:
        """Stops listening. Idempotent."""
        for handlers, function in self._added:
            if function in handlers:
                handlers.remove(function)
        self._added = []
        atexit.unregister(self.close)

    def _add(self, name: str, note: Callable[[], None]) -> None:
        handlers = getattr(bpy.app.handlers, name, None)
        if handlers is None:
            return  # the ones that tell of a failure are there since 4.0

        @persistent  # type: ignore[untyped-decorator]
        def noted(*_: object) -> None:
            note()

        handlers.append(noted)
        self._added.append((handlers, noted))

    def _begin(self, task: str) -> None:
        self._doing = [*(one for one in self._doing if one != task), task]

    def _end(self, task: str) -> None:
        self._doing = [one for one in self._doing if one != task]
