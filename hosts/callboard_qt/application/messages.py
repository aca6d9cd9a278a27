"""What an application tells of itself: callbacks of ours that it calls on its main thread."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

log = logging.getLogger(__name__)

#: Nobody is in the way of this, and it may go on for hours.
PLAYING = "playing the animation"
#: The end of these is told whatever becomes of them.
_SURELY_END = ("rendering", "a playblast", "a command that takes long")
#: After this many seconds the end of anything else is taken to be one that wasn't told: an
#: application may say that it opens a scene, and not that it failed to.
_LOST = 120.0

Act = Callable[[], None]


class Messages:
    """What callbacks raise is logged. Made and closed on the main thread; a subclass registers the
    callbacks, and removes every one of them in ``close``."""

    def __init__(self, application: str) -> None:
        self._application = application
        self._busy: tuple[str, ...] = ()
        self._since: dict[str, float] = {}

    def busy_with(self) -> str | None:
        """What the application is in the middle of, in the artist's words. Any thread."""
        busy = self._busy
        return busy[-1] if busy else None

    def holds(self) -> str | None:
        """What nothing of ours may run inside of, although the application runs Qt's events there
        to draw its progress. Main thread."""
        for words in reversed(self._busy):
            if words in _SURELY_END or (
                words != PLAYING and monotonic() - self._since[words] < _LOST
            ):
                return words
        return None

    @contextmanager
    def during(self, words: str) -> Iterator[None]:
        """What we do ourselves, and the application doesn't tell of."""
        self.note(words, True)
        try:
            yield
        finally:
            self.note(words, False)

    def note(self, words: str, begun: bool) -> None:
        if begun:
            self._since[words] = monotonic()
        # Replaced as a whole, because other threads read it.
        others = tuple(each for each in self._busy if each != words)
        self._busy = (*others, words) if begun else others

    def guarded(self, what: object, act: Callable[..., None]) -> Callable[..., None]:
        """The same function, for the application to call."""

        def call(*arguments: Any, **named: Any) -> None:
            try:
                act(*arguments, **named)
            except Exception:
                log.exception("%s's message %s was not dealt with", self._application, what)

        return call

    def close(self) -> None:
        """Idempotent."""
        self._busy = ()
