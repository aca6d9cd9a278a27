"""The callbacks by which an application reports that it is busy, for example saving or rendering.
Calls from clients wait during that time. The application runs the callbacks on its main thread."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

log = logging.getLogger(__name__)

#: Playback doesn't hold up calls, and it may go on for hours.
PLAYING = "playing the animation"
#: The application always reports the end of these operations.
_SURELY_END = ("rendering", "a playblast")
#: Seconds after which any other operation is considered over. An application may report that it is
#: opening a scene, but not that this failed. Maya may stay "busy" after a command.
_LOST = 120.0

Act = Callable[[], None]


class Messages:
    """The state that callbacks report. Their exceptions are logged. Make and close it on the main
    thread. A subclass registers the callbacks and removes all of them in ``close``."""

    def __init__(self, application: str) -> None:
        self._application = application
        self._busy: tuple[str, ...] = ()
        self._since: dict[str, float] = {}

    def busy_with(self) -> str | None:
        """Return what the application is doing, in the artist's terms, or None. Call it from any
        thread."""
        return next((words for words in reversed(self._busy) if self._lasts(words)), None)

    def holds(self) -> str | None:
        """Return the operation during which none of our code may run, or None. The application
        still handles Qt's events during that operation, to draw its progress. Call it on the main
        thread."""
        busy = (words for words in reversed(self._busy) if words != PLAYING)
        return next((words for words in busy if self._lasts(words)), None)

    def _lasts(self, words: str) -> bool:
        surely = words == PLAYING or words in _SURELY_END
        return surely or monotonic() - self._since[words] < _LOST

    @contextmanager
    def during(self, words: str) -> Iterator[None]:
        """Record one of our own operations for the duration of the block, because the application
        doesn't report it."""
        self.note(words, True)
        try:
            yield
        finally:
            self.note(words, False)

    def note(self, words: str, begun: bool) -> None:
        if begun:
            self._since[words] = monotonic()
        # The value is replaced as a whole, because other threads read it.
        others = tuple(each for each in self._busy if each != words)
        self._busy = (*others, words) if begun else others

    def guarded(self, what: object, act: Callable[..., None]) -> Callable[..., None]:
        """Wrap ``act`` as a callback for the application. Exceptions are logged, not raised."""

        def call(*arguments: Any, **named: Any) -> None:
            try:
                act(*arguments, **named)
            except Exception:
                log.exception("%s's message %s could not be handled", self._application, what)

        return call

    def close(self) -> None:
        """Forget what the application was doing. Idempotent."""
        self._busy = ()
