"""The main thread of a host without a user interface, which runs posted functions."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from queue import Empty, SimpleQueue

log = logging.getLogger(__name__)

#: On Windows, Ctrl-C can't interrupt a wait without a deadline.
_WAIT = 0.5 if os.name == "nt" else None


class MainThreadInbox:
    """Functions for the main thread. Call ``post`` and ``stop`` from any thread, and ``run`` from
    the thread that is to be the main thread."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    def post(self, fn: Callable[[], None]) -> None:
        """Have ``run`` call ``fn`` soon. Never blocks."""
        self._queue.put(fn)

    def stop(self) -> None:
        """Make ``run`` return once it has run all functions that were posted before."""
        self._queue.put(None)

    def run(self) -> None:
        """Run posted functions until ``stop``. An exception that a function raises is logged.
        KeyboardInterrupt and SystemExit pass through, and ``run`` may be called again."""
        while True:
            try:
                fn = self._queue.get(timeout=_WAIT)
            except Empty:
                continue
            if fn is None:
                return
            try:
                fn()
            except Exception:
                log.exception("a function posted to the main thread failed")
