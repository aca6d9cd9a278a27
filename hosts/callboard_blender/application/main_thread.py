"""Uses a permanent timer to run functions on Blender's main thread while the user interface
runs."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable

import bpy
from bpy.app.handlers import persistent

log = logging.getLogger(__name__)

#: Seconds between two calls of the timer. In practice Blender waits about five milliseconds.
INTERVAL = 0.0


def window_is_gone() -> bool:
    """Return whether a file has been opened, or the window closed, since the tick began. Until the
    next tick, touching a screen or workspace crashes Blender."""
    return bpy.context.window is None


class TimerInbox:
    """Functions for the main thread. ``post`` may be called from any thread and uses no Blender
    API, because Blender's list of timers has no lock."""

    def __init__(self) -> None:
        self._queue: deque[Callable[[], None]] = deque()
        self._running = False
        self._guest: Callable[[], bool] | None = None

        @persistent  # type: ignore[untyped-decorator]
        def loaded(*_: object) -> None:
            self._arm()

        self._loaded = loaded

    def post(self, fn: Callable[[], None]) -> None:
        self._queue.append(fn)

    def start(self) -> None:
        """Start the timer. Call it on the main thread."""
        self._running = True
        self._arm()
        bpy.app.handlers.load_post.append(self._loaded)

    def stop(self) -> None:
        """Stop the timer without running the functions that are still in the queue. Call it on the
        main thread. Idempotent."""
        self._running = False
        self._guest = None
        self._queue.clear()
        if bpy.app.timers.is_registered(self._tick):
            bpy.app.timers.unregister(self._tick)
        if self._loaded in bpy.app.handlers.load_post:
            bpy.app.handlers.load_post.remove(self._loaded)

    def lend(self, guest: Callable[[], bool]) -> None:
        """Call ``guest`` at every tick for as long as it returns True. Call it on the main
        thread."""
        self._guest = guest

    def _arm(self) -> None:
        if self._running and not bpy.app.timers.is_registered(self._tick):
            bpy.app.timers.register(self._tick, first_interval=INTERVAL, persistent=True)

    def _tick(self) -> float | None:
        for _ in range(len(self._queue)):
            try:
                self._queue.popleft()()
            except BaseException:
                # Any exception that escapes ends the timer; SystemExit even ends Blender.
                log.exception("a function posted to Blender's main thread failed")
            if window_is_gone():
                return INTERVAL if self._running else None
        if self._guest is not None:
            try:
                more = self._guest()
            except BaseException:
                log.exception("the function called on each tick failed and won't be called again")
                more = False
            if not more:
                self._guest = None
        return INTERVAL if self._running else None
