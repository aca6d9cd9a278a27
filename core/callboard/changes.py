"""The one way to observe changes. The owner of a :class:`Changes` calls ``tell``. An observer calls
``watch(listener)``, which returns the function that stops the notifications."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, ParamSpec

P = ParamSpec("P")


class Changes(Generic[P]):
    """The listeners of a change. Use it from any thread. Listeners are called on the thread that
    notifies, in the order in which they were added; they return at once and don't raise."""

    #: True while there are listeners; code that notifies often checks this first.
    watched: bool
    #: Calls all current listeners. If there is only one, this is the listener itself, to save time:
    #: every tool call notifies.
    tell: Callable[P, object]

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._replace({})

    def watch(self, listener: Callable[P, object]) -> Callable[[], None]:
        """Call ``listener`` at every change from now on. Return the function that stops these
        calls; it may be called twice."""
        place = object()
        with self._lock:
            self._replace({**self._listeners, place: listener})

        def stop() -> None:
            with self._lock:
                self._replace({p: one for p, one in self._listeners.items() if p is not place})

        return stop

    def _replace(self, listeners: dict[object, Callable[P, object]]) -> None:
        # Replaced as a whole, never mutated, so that notifying needs no lock.
        self._listeners = listeners
        self.watched = bool(listeners)
        self.tell = next(iter(listeners.values())) if len(listeners) == 1 else self._tell_all

    def _tell_all(self, *args: P.args, **kwargs: P.kwargs) -> None:
        for listener in self._listeners.values():
            listener(*args, **kwargs)
