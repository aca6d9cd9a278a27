"""Detects whether Houdini's own loop is running.

Houdini's message windows aren't modal windows of Qt. While such a window waits for the artist,
inside the call that opened it, Qt still handles events, including ours. Houdini's own loop doesn't
run deferred functions during that time, which is how callboard detects the window.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic

import hdefereval
from qtpy.QtCore import QTimer
from qtpy.QtGui import QGuiApplication

log = logging.getLogger(__name__)

#: Milliseconds between two of Qt's timeouts. Houdini runs deferred functions more often, some
#: twenty times a second.
ALONE_MS = 250
#: Seconds until another function is deferred while a window is waiting.
ASK_AGAIN = 5.0


class HoudiniEventLoop:
    """Watches Houdini's loop. It does nothing while idle: it defers a function only when another
    window gets the keyboard focus, as a message window does, and when ``held_by`` is called. Make
    and close it on the main thread of a Houdini with a GUI."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        #: True while a deferred function hasn't run yet.
        self._asked = False
        self._asked_again = 0.0
        #: True once Houdini has run a deferred function. Before that, its silence means nothing.
        self._answered = False
        self._closed = False
        #: Number of Qt timeouts since the function was deferred. A long cook holds up both loops.
        #: After it, Houdini's loop runs before Qt's second timeout.
        self._timeouts = 0
        self._timer = QTimer(interval=ALONE_MS)
        self._timer.timeout.connect(self._still_silent)
        app = QGuiApplication.instance()
        self._app = app if isinstance(app, QGuiApplication) else None
        if self._app is not None:
            self._app.focusWindowChanged.connect(self._ask)
        self._ask()

    def held_by(self) -> str | None:
        """Return a description of the Houdini window that is waiting for the artist, or None. Call
        it on the main thread."""
        now = self._clock()
        if not self._asked:
            self._ask()
            return None
        if not self._answered or self._timeouts < 2:
            return None
        if now - self._asked_again >= ASK_AGAIN:
            self._defer()
        window = QGuiApplication.focusWindow()
        title = window.title() if window is not None else ""
        return f"Houdini's window '{title}'" if title else "a window of Houdini's"

    def close(self) -> None:
        """Stop watching. Idempotent."""
        if self._app is not None and not self._closed:
            self._app.focusWindowChanged.disconnect(self._ask)
        self._timer.stop()
        self._closed = True

    def _ask(self, window: object = None) -> None:
        if not self._asked and not self._closed:
            self._asked, self._timeouts = True, 0
            self._timer.start()
            self._defer()

    def _still_silent(self) -> None:
        self._timeouts += 1
        if self._timeouts >= 2:
            self._timer.stop()

    def _defer(self) -> None:
        self._asked_again = self._clock()
        hdefereval.executeDeferred(self._answer)

    def _answer(self) -> None:
        self._answered, self._asked, self._timeouts = True, False, 0
        self._timer.stop()
