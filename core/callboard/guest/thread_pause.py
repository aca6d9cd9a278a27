"""Moments in which none of callboard's own threads runs Python.

An application may run Python on its main thread without holding the interpreter, as Blender does
(docs/decisions/0392). During that time, no other thread may run Python. So each of our threads has
a :class:`PythonPermit`, a lock that it holds except while it waits, and the main thread takes all
of these locks. The main thread waits for at most ``PATIENCE``, because a host that is stuck would
be worse.

A pause can last as long as the application runs the user's code. While that code is Python, the
others are safe whenever the main thread waits inside it. So a signal's handler, which runs there,
lets them run for a moment at regular intervals. Windows has no such signal.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic, sleep
from typing import Any

#: Maximum seconds that the main thread waits for each of the others.
PATIENCE = 1.0
#: In a long pause, the seconds until the others may run, between these moments, and for how long.
FIRST_MOMENT, NEXT_MOMENT, MOMENT = 0.1, 0.15, 0.02
ALARM = getattr(signal, "SIGALRM", None)

_permits: list[PythonPermit] = []
#: The locks that the main thread holds, or is about to take.
_held: list[PythonPermit] = []
_stander = 0
#: True while the others run in the middle of a pause.
_breathing = False


def _always() -> bool:
    return True


class _Signal:
    """An event for one waiter, which consumes it. Unlike the lock of a Python event, it isn't
    damaged by an exception that arrives inside a method."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def set(self) -> None:
        with suppress(RuntimeError):  # The event is set already.
            self._lock.release()

    def clear(self) -> None:
        self._lock.acquire(blocking=False)

    def wait(self, seconds: float | None) -> None:
        self._lock.acquire(timeout=-1 if seconds is None else seconds)


class PausableEvent:
    """An event whose ``wait``, through a :class:`PythonPermit`, may also end before the event is
    set."""

    def __init__(self) -> None:
        self._rung = _Signal()
        self._set = False

    def set(self) -> None:
        """Set the event. Call it from any thread."""
        self._set = True
        self._rung.set()

    def clear(self) -> None:
        """Clear the event. Call it from any thread."""
        self._set = False
        self._rung.clear()

    def is_set(self) -> bool:
        """Return whether the event is set. Call it from any thread."""
        return self._set


class PythonPermit:
    """The lock that a thread holds while it runs Python, as a context manager."""

    def __init__(self) -> None:
        # A lock that records its owner, because the owner may be interrupted while it takes or
        # releases the lock.
        self._lock = threading.RLock()
        #: Ends the thread's wait, or None while the thread runs.
        self._summon: Callable[[], None] | None = None
        #: Returns whether the thread must be summoned: its wait may end, or has ended, on its own.
        self._stirs: Callable[[], object] = bool
        self._summoned = False
        self._came = _Signal()
        #: True when the thread didn't stop in time. Until it does, nothing waits for it.
        self._late = False

    def __enter__(self) -> None:
        with _login._lock:
            self._lock.acquire()
            _permits.append(self)

    def __exit__(self, *_: object) -> None:
        _permits.remove(self)
        self._lock.release()

    def run(self, work: Callable[..., object], *given: Any) -> None:
        """Do the work while holding the lock. For a thread's main function."""
        with self:
            work(*given)

    @property
    def summoned(self) -> bool:
        """True while the main thread is waiting for this thread. Call it from any thread."""
        return self._summoned

    def leave(self, summon: Callable[[], None], stirs: Callable[[], object] = _always) -> None:
        """Release the lock before the thread waits for something that ``summon`` can end. When
        ``stirs`` returns False, only callboard's own threads could end the wait, and none has. Call
        it on the thread itself."""
        self._summon, self._stirs = summon, stirs
        self._lock.release()

    def back(self) -> None:
        """Take the lock again, right after the wait. Blocks during a pause. Call it on the thread
        itself."""
        if not self._lock.acquire(blocking=False):
            if self._summoned:
                self._came.set()
            self._summon = None
            self._lock.acquire()
        self._summon = None

    def give_way(self) -> None:
        """Stand still now if the main thread wants that. For threads that run Python for a long
        time, between two parts of their work. Call it on the thread itself."""
        while self._summoned:
            self.wait(PausableEvent(), 0.005)
        if self._late:
            with _login._lock:  # Locked until the pause ends.
                pass

    def wait(self, event: PausableEvent, seconds: float | None) -> bool:
        """Wait at most ``seconds``. Return whether the event was set. Call it on the thread
        itself."""
        if event._set:
            return True
        self.leave(event._rung.set, event.is_set if seconds is None else _always)
        try:
            event._rung.wait(seconds)
        finally:
            self.back()
        return event._set

    def take(self, until: float) -> bool:
        """Make the thread stand still. Return whether the thread has stopped by ``until``. Runs on
        the main thread."""
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
        """Release the lock after :meth:`take`, whatever its outcome. Idempotent. Runs on the main
        thread."""
        with suppress(RuntimeError):  # The lock isn't ours.
            self._lock.release()


#: New threads wait here during a pause.
_login = PythonPermit()


class ThreadPause:
    """A context manager during which all threads with a permit stand still. Use it on the main
    thread."""

    def __enter__(self) -> None:
        self._outer = not _held
        if self._outer:
            _stop_the_others()
            self._alarmed = _set_alarm()

    def __exit__(self, *_: object) -> None:
        if self._outer:
            if self._alarmed:
                _end_alarm()
            go_on()


def _stop_the_others() -> None:
    global _stander
    _stander = threading.get_ident()
    try:
        _held.append(_login)
        _login._lock.acquire(timeout=PATIENCE)
        # The server's thread is one of the first. It answers clients while the main thread waits
        # for the others.
        for permit in reversed(_permits[:]):
            _held.append(permit)
            if not permit.take(monotonic() + PATIENCE):
                _held.remove(permit)
    except BaseException:
        go_on()
        raise


def breathe(seconds: float) -> None:
    """Let the threads run for ``seconds`` in the middle of a pause. Runs on the main thread while
    it runs Python. Does nothing when there is no pause, or inside another call of this function."""
    global _breathing
    if _breathing or not _held or _stander != threading.get_ident():
        return
    ending: BaseException | None = None
    _breathing = True
    try:
        go_on()
        sleep(seconds)
    except BaseException as error:
        ending = error
    while True:
        try:
            _stop_the_others()
            _breathing = False
            break
        except BaseException as error:  # The pause must be in force again before anything ends.
            ending = error
    if ending is not None:
        raise ending


def take_a_moment(number: int, frame: object) -> None:
    """Let the threads run for a moment. The handler of ``ALARM``."""
    if not _held and not _breathing:
        _end_alarm()  # An exception ended the pause before its end.
    breathe(MOMENT)
    for _ in range(2):
        pass  # The jump of this loop is an instruction at which a requested exception arrives.


def _set_alarm() -> bool:
    """Have the alarm sound during this pause, unless other code uses it. Return whether it will."""
    global _breathing
    _breathing = False
    if ALARM is None or signal.getsignal(ALARM) is not take_a_moment:
        return False
    if signal.getitimer(signal.ITIMER_REAL)[0]:
        return False
    signal.setitimer(signal.ITIMER_REAL, FIRST_MOMENT, NEXT_MOMENT)
    return True


def _end_alarm() -> None:
    # Code that ran during the pause may have set a timer, with a handler for it.
    if ALARM is not None and signal.getsignal(ALARM) is take_a_moment:
        signal.setitimer(signal.ITIMER_REAL, 0)


def go_on() -> None:
    """Let all threads continue, whatever stopped them. Call it before waiting for one of them to
    end. Idempotent; does nothing on threads other than the main thread."""
    while _held and _stander == threading.get_ident():
        # The lock is removed only after it is released, because an exception may arrive in between.
        _held[-1].give()
        _held.pop()
