"""Moments in which none of callboard's own threads runs Python.

An application may run Python on its main thread without holding the interpreter, as Blender does
(docs/decisions/0392). Meanwhile no other thread may run any. So each thread of ours has a
:class:`Seat`, a lock that it holds except while it waits for something, and the main thread takes
all of them. That waits ``PATIENCE`` at most: a host that hangs would be worse.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic
from types import TracebackType

#: Seconds that the main thread waits for the others at most.
PATIENCE = 0.05

_seats: list[Seat] = []
_held: list[Seat] = []


class Bell:
    """An event whose ``wait``, through a :class:`Seat`, may also end for nothing."""

    def __init__(self) -> None:
        self._rung = threading.Event()
        self._set = False

    def set(self) -> None:
        """Any thread."""
        self._set = True
        self._rung.set()

    def clear(self) -> None:
        """Any thread."""
        self._set = False
        self._rung.clear()

    def is_set(self) -> bool:
        """Any thread."""
        return self._set


class Seat:
    """What a thread holds while it runs Python, as a context manager."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        #: Ends what the thread waits for; None while it sits, or where nothing else ends that.
        self._summon: Callable[[], None] | None = None
        self._summoned = False
        self._came = threading.Event()
        #: It didn't come in time, and isn't waited for again until it has left its seat.
        self._late = False

    def __enter__(self) -> None:
        self._lock.acquire()
        _seats.append(self)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _seats.remove(self)
        self._lock.release()

    def leave(self, summon: Callable[[], None]) -> None:
        """Before the thread waits for something that may end by itself, or by ``summon``. In its
        own thread."""
        self._summon = summon
        self._lock.release()

    def back(self) -> None:
        """After it, first of all. In its own thread; waits during a standstill."""
        if not self._lock.acquire(blocking=False):
            self._summon = None
            if self._summoned:
                self._came.set()
            self._lock.acquire()
        self._summon = None

    def wait(self, bell: Bell, seconds: float | None) -> bool:
        """Waits for the bell, at most so long; whether it was set. In its own thread."""
        if bell._set:
            return True
        if seconds is None:
            self._lock.release()
        else:
            self.leave(bell._rung.set)
        try:
            bell._rung.wait(seconds)
        finally:
            self.back()
        if not bell._set:
            bell._rung.clear()  # a summons
            if bell._set:
                bell._rung.set()
        return bell._set

    def take(self, until: float) -> bool:
        """Whether the thread stands still now. On the main thread."""
        self._came.clear()
        self._summoned = True
        try:
            wait = 0.0 if self._late else max(0.0, until - monotonic())
            if not self._lock.acquire(timeout=wait):
                self._late = True
                return False
            self._late = False
            if self._summon is not None:
                self._summon()
                self._came.wait(max(0.0, until - monotonic()))
            return True
        finally:
            self._summoned = False

    def give(self) -> None:
        """On the main thread, after :meth:`take`."""
        self._lock.release()


class Standstill:
    """While it is entered, the threads that have a seat stand still. On the main thread."""

    def __enter__(self) -> None:
        self._outer = not _held
        if self._outer:
            until = monotonic() + PATIENCE
            for seat in list(_seats):
                if seat.take(until):
                    _held.append(seat)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._outer:
            go_on()


def go_on() -> None:
    """Lets all of them go on, whoever held them: what waits for one of them to end calls this
    before. On the main thread; idempotent."""
    while _held:
        _held.pop().give()
