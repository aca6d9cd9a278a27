"""Moments in which none of callboard's own threads runs Python.

An application may run Python on its main thread without holding the interpreter, as Blender does
(docs/decisions/0392). Meanwhile no other thread may run any. So each thread of ours has a
:class:`PythonPermit`, a lock that it holds except while it waits for something, and the main
thread takes all of them. That waits ``PATIENCE`` at most: a host that hangs would be worse.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any

#: Seconds that the main thread waits for the others at most.
PATIENCE = 0.05

_seats: list[PythonPermit] = []
#: What the main thread holds, or is about to take.
_held: list[PythonPermit] = []
_stander = 0


def _always() -> bool:
    return True


class _Signal:
    """An event for one waiter, who uses it up. Whatever exception lands in it spoils nothing, as it
    might the lock within one of Python's events."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def set(self) -> None:
        with suppress(RuntimeError):  # it is set
            self._lock.release()

    def clear(self) -> None:
        self._lock.acquire(blocking=False)

    def wait(self, seconds: float | None) -> None:
        self._lock.acquire(timeout=-1 if seconds is None else seconds)


class PausableEvent:
    """An event whose ``wait``, through a :class:`PythonPermit`, may also end for nothing."""

    def __init__(self) -> None:
        self._rung = _Signal()
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


class PythonPermit:
    """What a thread holds while it runs Python, as a context manager."""

    def __init__(self) -> None:
        # One that knows its owner, who may be interrupted while it takes or releases it.
        self._lock = threading.RLock()
        #: Ends what the thread waits for; None while it sits.
        self._summon: Callable[[], None] | None = None
        #: Whether it has to be summoned: what it waits for may end by itself, or did already.
        self._stirs: Callable[[], object] = bool
        self._summoned = False
        self._came = _Signal()
        #: It didn't come in time, and isn't waited for again until it has left its seat.
        self._late = False

    def __enter__(self) -> None:
        with _door._lock:
            self._lock.acquire()
            _seats.append(self)

    def __exit__(self, *_: object) -> None:
        _seats.remove(self)
        self._lock.release()

    def run(self, work: Callable[..., object], *given: Any) -> None:
        """Does the work in the seat: what a thread is made for."""
        with self:
            work(*given)

    @property
    def summoned(self) -> bool:
        """Whether the main thread waits for it. Any thread."""
        return self._summoned

    def leave(self, summon: Callable[[], None], stirs: Callable[[], object] = _always) -> None:
        """Before the thread waits for something that ``summon`` ends, too. Where ``stirs`` says no,
        nothing but callboard's own threads could end it, and none has. In its own thread."""
        self._summon, self._stirs = summon, stirs
        self._lock.release()

    def back(self) -> None:
        """After it, first of all. In its own thread; waits during a standstill."""
        if not self._lock.acquire(blocking=False):
            if self._summoned:
                self._came.set()
            self._summon = None
            self._lock.acquire()
        self._summon = None

    def wait(self, bell: PausableEvent, seconds: float | None) -> bool:
        """Waits for the bell, at most so long; whether it was set. In its own thread."""
        if bell._set:
            return True
        self.leave(bell._rung.set, bell.is_set if seconds is None else _always)
        try:
            bell._rung.wait(seconds)
        finally:
            self.back()
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
            summon = self._summon
            if summon is not None and self._stirs():
                summon()
                self._came.wait(max(0.0, until - monotonic()))
            return True
        finally:
            self._summoned = False

    def give(self) -> None:
        """On the main thread, after :meth:`take`, however that ended; idempotent."""
        with suppress(RuntimeError):  # it isn't ours
            self._lock.release()


#: Whoever comes anew waits here during a standstill.
_door = PythonPermit()


class ThreadPause:
    """While it is entered, the threads that have a seat stand still. On the main thread."""

    def __enter__(self) -> None:
        global _stander
        self._outer = not _held
        if not self._outer:
            return
        _stander = threading.get_ident()
        until = monotonic() + PATIENCE
        try:
            _held.append(_door)
            _door._lock.acquire(timeout=PATIENCE)
            for seat in list(_seats):
                _held.append(seat)
                if not seat.take(until):
                    _held.remove(seat)
        except BaseException:
            go_on()
            raise

    def __exit__(self, *_: object) -> None:
        if self._outer:
            go_on()


def go_on() -> None:
    """Lets all of them go on, whoever held them: what waits for one of them to end calls this
    before. Idempotent; does nothing but on the main thread."""
    while _held and _stander == threading.get_ident():
        # It is forgotten once it is given: an exception may land in between.
        _held[-1].give()
        _held.pop()
