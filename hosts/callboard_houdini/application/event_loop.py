"""Detects whether Houdini's own loop runs.

Houdini's message windows are not Qt's modal ones. While one waits for the artist inside whatever
opened it, Qt's events, ours among them, are handled. Functions deferred to Houdini's own loop are
not, and that reveals the window.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic

import hdefereval
from qtpy.QtGui import QGuiApplication

log = logging.getLogger(__name__)

#: Seconds after which a deferred function is late: Houdini runs them some twenty times a second.
LATE = 0.5
#: Seconds until the next deferred function.
ASK_AGAIN = 5.0


class HoudiniEventLoop:
    """Watches Houdini's loop. It does nothing while idle: it defers a function only when another
    window gets the keyboard focus, as a message window does, and when ``held_by`` is called. Make
    and close it on the main thread of a Houdini with windows."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        #: The time of the deferred function that hasn't run yet.
        self._asked: float | None = None
        self._asked_again = 0.0
        #: Silence means nothing in a Houdini that has never run a deferred function.
        self._answered = False
        self._closed = False
        app = QGuiApplication.instance()
        self._app = app if isinstance(app, QGuiApplication) else None
        if self._app is not None:
            self._app.focusWindowChanged.connect(self._ask)
        self._ask()

    def held_by(self) -> str | None:
        """Return the Houdini window that waits for the artist, in words, or None. Call it on the
        main thread."""
        asked, now = self._asked, self._clock()
        if asked is None:
            self._ask()
            return None
        if not self._answered or now - asked < LATE:
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
        self._closed = True

    def _ask(self, window: object = None) -> None:
        if self._asked is None and not self._closed:
            self._asked = self._clock()
            self._defer()

    def _defer(self) -> None:
        self._asked_again = self._clock()
        hdefereval.executeDeferred(self._answer)

    def _answer(self) -> None:
        self._answered, self._asked = True, None
