"""Whether Houdini's own loop turns.

Houdini's message windows are none of Qt's modal ones: Qt's events, ours among them, are handled
while one waits for the artist inside whatever opened it. What was deferred to Houdini's own loop is
not, and that tells.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic

import hdefereval
from qtpy.QtGui import QGuiApplication

log = logging.getLogger(__name__)

#: Seconds after which what was deferred is late: Houdini comes to it some twenty times a second.
LATE = 0.5
#: Seconds until it is asked for again.
ASK_AGAIN = 5.0


class HoudiniEventLoop:
    """Made and closed on the main thread of a Houdini with windows. Idle, it does nothing: it asks
    when another window gets the keyboard, as a message window does, and when it is asked itself."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        #: When the question that is open was asked.
        self._asked: float | None = None
        self._asked_again = 0.0
        #: A Houdini that never answered says nothing by being silent.
        self._answered = False
        self._closed = False
        app = QGuiApplication.instance()
        self._app = app if isinstance(app, QGuiApplication) else None
        if self._app is not None:
            self._app.focusWindowChanged.connect(self._ask)
        self._ask()

    def held_by(self) -> str | None:
        """The window of Houdini's that waits for the artist, in words. Main thread."""
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
        """Idempotent."""
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
