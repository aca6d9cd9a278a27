"""The one way to observe something: ``watch(listener)`` returns the way to stop."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, ParamSpec

P = ParamSpec("P")


class Changes(Generic[P]):
    """Who wants to hear of a change. Any thread. Listeners are called on the thread that tells, in
    the order in which they came; they return at once and don't raise."""

    def __init__(self) -> None:
        # Replaced as a whole, never mutated, so that telling needs no lock.
        self._listeners: dict[object, Callable[P, object]] = {}
        self._lock = threading.Lock()
        #: Whether anybody listens; for whoever tells often, and reads it first.
        self.watched = False

    def watch(self, listener: Callable[P, object]) -> Callable[[], None]:
        """Calls ``listener`` at every change from now on; returns the way to stop, which may be
        called twice."""
        place = object()
        with self._lock:
            self._listeners = {**self._listeners, place: listener}
            self.watched = True

        def stop() -> None:
            with self._lock:
                self._listeners = {p: one for p, one in self._listeners.items() if p is not place}
                self.watched = bool(self._listeners)

        return stop

    def tell(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Calls everyone who listens now."""
        for listener in self._listeners.values():
            listener(*args, **kwargs)
