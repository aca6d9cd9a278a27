"""A turn: one call's work on the main thread, at once or a slice at a time; and ending work that
doesn't end by itself.

Python raises an exception in another thread where that thread's next instruction would be. It may
land anywhere, so it is asked for only between the first and the last instruction of a tool, and
taken back when the tool ends before it landed.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Generator
from enum import Enum
from functools import partial
from time import perf_counter
from types import GeneratorType
from typing import Any, Protocol, TypeVar

from callboard.clients.holder import NOBODY
from callboard.clients.owner import Owner
from callboard.errors import CallCancelled
from callboard.ground.unattended import UNATTENDED
from callboard.ports.contract import Work

T = TypeVar("T")

#: What a generator yields to be left alone until ``MainThread.unpark``.
PARK = object()
#: Locks for the next runs: one that an exception landed on may never be released, so that isn't
#: used again. The exception may be that of a run around this one.
_locks: list[threading.RLock] = []


class Interrupted(BaseException):
    """The call has no more time, or nobody wants its answer. No Exception, so that a tool that
    catches those goes on to its end only by catching everything."""


class Interruptible:
    """Runs code that another thread can end. ``run`` is called by one thread at a time."""

    def __init__(self) -> None:
        #: Whether it was ever asked to end.
        self.asked = False
        self._thread: int | None = None
        self._lock: threading.RLock
        #: Whether an exception landed while the lock was taken or released.
        self._spoilt = False

    def run(self, function: Callable[[], T]) -> T:
        """Calls ``function``. Raises what it raises, or Interrupted; after that none lands."""
        self._lock = _locks.pop() if _locks else threading.RLock()
        try:
            try:
                self._thread = threading.get_ident()
                return function()
            finally:
                self._end()
                if not (self.asked or self._spoilt):
                    _locks.append(self._lock)
        except Interrupted:
            self._end()  # it may have landed on the way into the first
            raise

    def ask(self) -> bool:
        """Raises Interrupted in what runs, soon: an instruction that takes long, of a compiled
        library for instance, ends first. False when nothing runs. Any other thread."""
        if self._thread is None:
            return False
        lock = self._lock
        if not lock.acquire(blocking=False):
            return False  # it is ending
        try:
            thread = self._thread
            if lock is not self._lock or thread is None or thread == threading.get_ident():
                return False
            self.asked = True
            _raise_in(thread, Interrupted)
            return True
        finally:
            lock.release()

    def _end(self) -> None:
        while True:
            try:
                with self._lock:
                    thread, self._thread = self._thread, None
                    if self.asked and thread is not None:
                        _raise_in(thread, None)
                return
            except Interrupted:
                # The one that was asked for landed here; the lock may be taken twice now.
                self._spoilt = True


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Asks for the exception; None takes back what hasn't landed yet."""
    import ctypes  # half a megabyte, for what most servers never do

    what = ctypes.py_object(error) if error is not None else ctypes.py_object()
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), what)


class TurnState(Enum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"


class Transaction(Protocol):
    """What surrounds a turn's work on the main thread: an undo step, for instance. What raises is
    the turn's error."""

    def enter(self) -> None:
        """Before the work, and before each slice: the artist had the application in between."""

    def leave(self) -> None:
        """After each of them that ended well."""

    def end(self, error: BaseException | None) -> None:
        """The turn is over; what an error came out of was entered and not left."""


class Waiter(Protocol):
    """Who hears what a turn waits for."""

    def hold(self, doing: str | None) -> None:
        """``doing`` is what the artist does; None when that is over. Main thread."""


class Turn:
    """One call. ``work`` runs on the main thread; if it returns a generator, that is advanced one
    slice at a time and its return value is the result."""

    def __init__(
        self,
        name: str,
        work: Callable[[], Any],
        done: Callable[[Any, BaseException | None], None],
        *,
        transaction: Transaction | None = None,
        context: contextvars.Context | None = None,
        kind: Work = "read",
        waiter: Waiter | None = None,
    ) -> None:
        """``kind`` is what the host is asked about."""
        self.name = name
        #: Has it among its holder's share of the queue.
        self.owner = Owner(NOBODY)
        #: It runs code that somebody wrote for this call.
        self.script = False
        self.kind: Work = kind
        #: What it waits for, in the artist's words.
        self.held_by: str | None = None
        self.held_since = 0.0
        self.state = TurnState.QUEUED
        self.queued_at = perf_counter()
        self.started_at: float | None = None
        self.main_seconds = 0.0
        self.cancelled = False
        self._work = work
        self._done = done
        self._transaction = transaction
        self._context = context or contextvars.copy_context()
        self._slices: Generator[Any, None, Any] | None = None
        #: The application does by itself what it waits for: it looks, whatever else holds turns up.
        self.looks = False
        self._wants_park = False
        self._woken = False
        self._waiter = waiter
        #: What of it runs now.
        self.code = Interruptible()

    def interrupt(self) -> None:
        """Ends what of it runs now, by an exception. Any thread but the main one."""
        self.code.ask()

    def hold(self, doing: str | None) -> None:
        """Notes what it waits for now, where that is another thing. Main thread."""
        if self.held_by is None:
            self.held_since = perf_counter()
        self.held_by = doing
        if self._waiter is not None:
            self._waiter.hold(doing)

    def refuse(self, error: BaseException) -> None:
        """Ends it before it began. Main thread."""
        self._finish(None, error)

    @property
    def parked(self) -> bool:
        """Whether it waits to be unparked. Any thread."""
        return self._wants_park and not self._woken

    def unpark(self) -> None:
        """Gives it its next slice. Any thread: one that comes while a slice runs isn't lost."""
        self._woken = True

    @property
    def exclusive(self) -> bool:
        """Turns that make undo steps never overlap: nothing else of ours comes between two."""
        return self._transaction is not None and not self.looks

    def step(self) -> None:
        """Runs the turn, or its next slice. Main thread."""
        if self.cancelled and self.state is TurnState.QUEUED:
            self._finish(None, CallCancelled("cancelled before it started"))
            return
        started = perf_counter()
        try:
            finished, value = self._context.run(self._advance)
        except BaseException as error:
            # SystemExit and KeyboardInterrupt of a tool end the tool, not the host.
            self.main_seconds += perf_counter() - started
            self._finish(None, error)
            return
        self.main_seconds += perf_counter() - started
        if finished:
            self._finish(value, None)

    def _advance(self) -> tuple[bool, Any]:
        if self.state is TurnState.QUEUED:
            self.state = TurnState.RUNNING
            self.started_at = perf_counter()
        # Looking is part of no undo step: the artist goes on.
        step = None if self.looks else self._transaction
        if step is not None:
            step.enter()
        finished, value = self._visit()
        if step is not None:
            if finished and self.cancelled:
                raise CallCancelled("cancelled")
            step.leave()
        return finished, value

    def _visit(self) -> tuple[bool, Any]:
        slices = self._slices
        if slices is None:
            value = self.code.run(self._work)
            if not isinstance(value, GeneratorType):
                return True, value
            slices = self._slices = value
        if self.cancelled:
            self.code.run(slices.close)
            raise CallCancelled("cancelled")
        # Before the slice looks whether there is anything to do.
        self._woken = self.looks = False
        try:
            told = self.code.run(partial(next, slices))
        except StopIteration as stop:
            return True, stop.value
        self.looks = told is UNATTENDED
        self._wants_park = self.looks or told is PARK
        return False, None

    def _finish(self, value: Any, error: BaseException | None) -> None:
        if self._transaction is not None and self.state is TurnState.RUNNING:
            try:
                self._context.run(self._transaction.end, error)
            except BaseException as failed:
                error = error or failed
        self.state = TurnState.DONE
        self._slices = None
        self._done(value, error)
