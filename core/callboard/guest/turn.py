"""A turn is one call's work on the main thread, done at once or in slices. This module also
interrupts work that doesn't end on its own.

Python raises an exception in another thread at that thread's next instruction, which may be
anywhere. So the exception is requested only between the first and the last instruction of a tool,
and withdrawn if the tool ends before it arrives.
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
from callboard.ground.unattended import UNATTENDED, holds_window
from callboard.guest.wake import wake
from callboard.ports.host import Work

T = TypeVar("T")

#: A generator yields this to be left alone until ``MainThread.unpark``.
PARK = object()
#: Locks for the next runs. A lock that was held when an exception arrived may never be released, so
#: it isn't used again, even if the exception was meant for an outer run.
_locks: list[threading.RLock] = []
#: The owner of turns that no client asked for.
_OWN = Owner(NOBODY)


class Interrupted(BaseException):
    """Raised in a call that has run out of time, or whose answer is no longer needed. Not an
    Exception, so that a tool's ``except Exception`` doesn't catch it."""


class Interruptible:
    """Runs code that another thread can end. ``run`` is called by one thread at a time."""

    def __init__(self) -> None:
        #: True once the code has been asked to end.
        self.asked = False
        self._thread: int | None = None
        self._lock: threading.RLock
        #: True when an exception arrived while the lock was being taken or released.
        self._spoilt = False

    def run(self, function: Callable[[], T]) -> T:
        """Call ``function``. Raises what ``function`` raises, or Interrupted, which can't arrive
        once this has returned."""
        self._lock = _locks.pop() if _locks else threading.RLock()
        thread = threading.get_ident()
        try:
            try:
                self._thread = thread
                return function()
            finally:
                # Python can't raise an exception requested by another thread between the code and
                # this line. From here on, only an exception that has already been requested can
                # arrive.
                self._thread = None
                self._end(thread)
                if not (self.asked or self._spoilt):
                    _locks.append(self._lock)
        except Interrupted:
            self._end(thread)  # The interruption may have arrived just as the first _end() began.
            raise

    def ask(self) -> bool:
        """Raise Interrupted in the running code soon. If the code is waiting in Python, the wait
        ends at once. A long instruction, for instance in a compiled library, is finished first.
        Return False when no code is running. Call it from any other thread."""
        if self._thread is None:
            return False
        lock = self._lock
        if not lock.acquire(blocking=False):
            return False  # The code is ending.
        try:
            thread = self._thread
            if lock is not self._lock or thread is None or thread == threading.get_ident():
                return False
            self.asked = True
            _raise_in(thread, Interrupted)
            wake(thread)
            return True
        finally:
            lock.release()

    def _end(self, thread: int) -> None:
        while True:
            try:
                with self._lock:
                    if self.asked:
                        _raise_in(thread, None)
                return
            except Interrupted:
                # The requested exception arrived here; the lock may be taken twice now.
                self._spoilt = True


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Ask for the exception to be raised in that thread. None withdraws an exception that hasn't
    been raised yet."""
    import ctypes  # This import takes half a megabyte, and most servers never need it.

    what = ctypes.py_object(error) if error is not None else ctypes.py_object()
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), what)


class TurnState(Enum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"


class Transaction(Protocol):
    """The frame around a turn's work on the main thread, such as an undo step. An exception that it
    raises becomes the turn's error."""

    def enter(self) -> None:
        """Enter before the work and before each slice, because the artist could use the application
        in between."""

    def leave(self) -> None:
        """Leave after each slice that succeeded."""

    def end(self, error: BaseException | None) -> None:
        """End the turn. For a slice that ended with an error, ``enter`` was called but not
        ``leave``."""


class Waiter(Protocol):
    """A listener that is notified when a turn has to wait for the artist."""

    def hold(self, doing: str | None) -> None:
        """Note what the artist is doing, or None once it is over. Runs on the main thread."""

    def say_waiting(self, doing: str) -> None:
        """Report that the main thread is away, and what keeps it busy. Runs on the server's
        loop."""


class Turn:
    """One call. ``work`` runs on the main thread. If it returns a generator, the generator is
    advanced one slice at a time, and its return value is the result."""

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
        """``kind`` is the kind of work that the host is asked about."""
        self.name = name
        #: The client whose share of the queue the turn counts against.
        self.owner = _OWN
        #: True for code that was written for this one call.
        self.script = False
        self.kind: Work = kind
        #: The reason why the turn is waiting, in the artist's words.
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
        #: True while the turn polls for work that the application does on its own. It then runs
        #: even while other turns are held up.
        self.looks = False
        self._wants_park = False
        self._woken = False
        self._waiter = waiter
        #: The part of the turn that is running now.
        self.code = Interruptible()

    @property
    def holds_window(self) -> bool:
        """True once the turn does work that holds the window and can't be interrupted. Call it from
        any thread."""
        return self._context.get(holds_window, False)

    def interrupt(self) -> None:
        """Raise an exception in the part that is running now. Call it from any thread but the main
        one."""
        self.code.ask()

    def hold(self, doing: str | None) -> None:
        """Note the artist's action that the turn is waiting for, or None. Called on the main thread
        whenever it changes."""
        if self.held_by is None:
            self.held_since = perf_counter()
        self.held_by = doing
        if self._waiter is not None:
            self._waiter.hold(doing)

    def say_waiting(self, doing: str) -> None:
        """Report what keeps the main thread away. Runs on the server's loop."""
        if self._waiter is not None:
            self._waiter.say_waiting(doing)

    def refuse(self, error: BaseException) -> None:
        """End the turn before it begins. Runs on the main thread, or while that thread is away."""
        self._finish(None, error)

    @property
    def parked(self) -> bool:
        """True while the turn waits to be unparked. Call it from any thread."""
        return self._wants_park and not self._woken

    def unpark(self) -> None:
        """Give the turn its next slice. Call it from any thread. A request that arrives during a
        slice isn't lost."""
        self._woken = True

    @property
    def exclusive(self) -> bool:
        """True for turns that make undo steps. They never overlap, not even between slices."""
        return self._transaction is not None and not self.looks

    def step(self) -> None:
        """Run the turn, or its next slice, on the main thread."""
        if self.cancelled and self.state is TurnState.QUEUED:
            self._finish(None, CallCancelled("cancelled before it started"))
            return
        started = perf_counter()
        try:
            finished, value = self._context.run(self._advance)
        except BaseException as error:
            # A tool's SystemExit or KeyboardInterrupt ends the tool, not the host.
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
        # Polling isn't part of an undo step, because the artist continues to work.
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
        # Reset before the slice checks whether there is anything to do.
        self._woken = self.looks = False
        try:
            reported = self.code.run(partial(next, slices))
        except StopIteration as stop:
            return True, stop.value
        self.looks = reported is UNATTENDED
        self._wants_park = self.looks or reported is PARK
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
