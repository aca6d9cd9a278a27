"""The main thread of a host without a user interface: it runs what is posted to it."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from queue import Empty, SimpleQueue

log = logging.getLogger(__name__)

#: On Windows a wait without a deadline can't be interrupted by Ctrl-C.
_WAIT = 0.5 if os.name == "nt" else None


class MainThreadInbox:
    """Functions for the main thread. ``post`` and ``stop`` are called from any thread; ``run`` by
    the thread that is to be the main one."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    def post(self, fn: Callable[[], None]) -> None:
        """Has ``run`` call ``fn`` soon. Never blocks."""
        self._queue.put(fn)

    def stop(self) -> None:
        """Lets ``run`` return once it has run what was posted before."""
        self._queue.put(None)

    def run(self) -> None:
        """Runs posted functions until ``stop``. A function that raises is logged and loses only
        itself; KeyboardInterrupt and SystemExit pass through, and ``run`` may be called again."""
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
