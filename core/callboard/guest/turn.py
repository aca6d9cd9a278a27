"""A turn: one call's work on the main thread, at once or a slice at a time."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Generator
from enum import Enum
from functools import partial
from time import perf_counter
from types import GeneratorType
from typing import Any, Protocol

from callboard.errors import CallCancelled
from callboard.ground.by_itself import BY_ITSELF
from callboard.guest.interruption import Interruptible
from callboard.ports.contract import Work

#: What a generator yields to be left alone until ``MainThread.unpark``.
PARK = object()


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
        self._code = Interruptible()

    @property
    def interrupted(self) -> bool:
        """Whether it was asked to end in the middle of its work."""
        return self._code.asked

    def interrupt(self) -> None:
        """Ends what of it runs now, by an exception. Any thread but the main one."""
        self._code.ask()

    def hold(self, doing: str | None) -> None:
        """Notes what it waits for. Main thread."""
        if doing == self.held_by:
            return
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
            value = self._code.run(self._work)
            if not isinstance(value, GeneratorType):
                return True, value
            slices = self._slices = value
        if self.cancelled:
            self._code.run(slices.close)
            raise CallCancelled("cancelled")
        # Before the slice looks whether there is anything to do.
        self._woken = self.looks = False
        try:
            told = self._code.run(partial(next, slices))
        except StopIteration as stop:
            return True, stop.value
        self.looks = told is BY_ITSELF
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
