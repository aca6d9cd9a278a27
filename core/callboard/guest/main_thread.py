"""The queue of turns that the host's main thread runs.

The server's loop queues turns, and a tick runs them outside any asyncio slice. So a tool may block,
or spin the host's own event loop, without affecting ours. ``loop`` asks the host for ticks.
"""

from __future__ import annotations

import logging
from collections import deque
from contextlib import suppress
from time import perf_counter
from typing import Any

from callboard.clients.shares import has_place
from callboard.errors import HostBusy
from callboard.guest.loop import GuestLoop
from callboard.guest.thread_pause import go_on
from callboard.guest.turn import Turn, TurnState
from callboard.ports.host import Work

log = logging.getLogger(__name__)

#: Maximum number of calls waiting for the main thread.
QUEUE_LIMIT = 512
#: Seconds that a turn waits for the artist before it is refused.
PATIENCE = 20.0
#: Seconds until the host is asked again whether a waiting turn may run.
ASK_AGAIN = 0.05
#: Seconds that a cancelled turn has to notice the cancellation and end on its own.
GRACE = 1.0
#: Seconds before a turn that continues after an interruption is interrupted again.
INTERRUPT_AGAIN = 0.5


class MainThread:
    """The bounded queue of turns, drained by the guest loop's ticks."""

    def __init__(
        self, guest: GuestLoop, limit: int = QUEUE_LIMIT, patience: float = PATIENCE
    ) -> None:
        self._guest = guest
        #: Runs a callback on the server's loop, soon. Called on the main thread, from within a
        #: turn.
        self.complete = guest.complete
        self._limit = limit
        self._patience = patience
        #: True while another question to the host is scheduled. The turns that the host held up
        #: wait until then.
        self._asks_again = False
        #: True when the host failed to answer last time.
        self._silent = False
        self._queue: deque[Turn] = deque()
        self._active: list[Turn] = []
        self._abandoned = False
        self.running: Turn | None = None
        guest.turns = self

    def __len__(self) -> int:
        return len(self._queue) + len(self._active)

    def submit(self, turn: Turn) -> None:
        """Queue a turn. Call it on the server's loop. Raises HostBusy when the turn's client
        has used up its share, or when another client's script or render holds the main thread."""
        if (busy := self._behind_script(turn)) is not None:
            raise busy
        waiting = [one.owner.holder for one in self._queue]
        if waiting and not has_place(turn.owner.holder, waiting, self._limit):
            raise HostBusy(
                f"the host has {len(self._queue)} calls waiting for its main thread; "
                "wait for an answer, or a few seconds, before the next call",
                data=self.stall(),
            )
        self._queue.append(turn)
        if self._guest.stalled_for():
            self._say_waiting(turn)
        self._guest.attend_turns()

    def say_waiting(self) -> None:
        """If the host can tell what keeps the main thread away, report it to the clients of all
        queued turns. Runs on the server's loop."""
        self._say_waiting(*self._queue)

    def _say_waiting(self, *turns: Turn) -> None:
        doing = self._guest.blocked_by()
        if doing is not None:
            for turn in turns:
                turn.say_waiting(doing)

    def refuse_behind_script(self) -> None:
        """Refuse the turns that other clients queued before a script or a render held the main
        thread. Runs on the server's loop while the main thread is away."""
        for turn in list(self._queue):
            busy = self._behind_script(turn)
            if busy is not None:
                with suppress(ValueError):  # The main thread is back, and has taken the turn.
                    self._queue.remove(turn)
                    turn.refuse(busy)
        self._guest.interrupt()  # The answers are sent now.

    def _behind_script(self, turn: Turn) -> HostBusy | None:
        """Return the refusal if another client's script, or a call that holds the window, is using
        the main thread. Nobody can predict when it will end, so other clients aren't kept waiting
        for it."""
        script = self.running
        if script is None or script.owner is turn.owner:
            return None
        if not (script.script or script.holds_window):
            return None
        seconds = self._guest.stalled_for()
        if not seconds:
            return None
        if script.script:
            what = "a script"
            way = (
                ", or ask the artist to end it: by holding Escape for a second, or by"
                " `callboard stop`"
            )
        else:
            what, way = f"the call {script.name}", "; it can't be interrupted"
        return HostBusy(
            f"{what} of the client '{script.owner.holder.name}' has held the application for"
            f" {seconds:.1f} s, so {turn.name} was not run. Call again later{way}",
            data={**self.stall(), "client": script.owner.holder.name},
        )

    def stall(self) -> dict[str, Any]:
        """Return ``{stalled_ms, queued, call?, blocked_by?}``: how long the main thread has been
        away, during which call, and what holds it up according to the host. Call it from any
        thread."""
        facts: dict[str, Any] = {
            "stalled_ms": round(self._guest.stalled_for() * 1000),
            "queued": len(self._queue),
        }
        running = self.running
        if running is not None:
            facts["call"] = running.name
        blocked_by = self._guest.blocked_by()
        if blocked_by is not None:
            facts["blocked_by"] = blocked_by
        return facts

    def busy(self, turn: Turn) -> HostBusy:
        """Return the error for a turn that waited in vain. Call it from any thread."""
        facts = self.stall()
        if turn.held_by is not None:
            facts["blocked_by"] = turn.held_by
        reason = f" ({facts['blocked_by']})" if "blocked_by" in facts else ""
        return HostBusy(
            f"the host is busy{reason} and did not get to {turn.name} in time; nothing was "
            "changed. Ask the artist what it is doing, or call again later",
            data=facts,
        )

    def cancel(self, turn: Turn) -> None:
        """Cancel a turn. A queued turn never starts, a generator stops before its next slice, and a
        plain function can check whether it has been cancelled. A turn that continues is
        interrupted. Runs on the server's loop."""
        if turn.state is TurnState.RUNNING and not turn.cancelled:
            self._guest.loop.call_later(GRACE, self._interrupt, turn)
        turn.cancelled = True
        self.unpark(turn)

    def _interrupt(self, turn: Turn) -> None:
        if turn.state is not TurnState.DONE:
            turn.interrupt()
            # Code that catches the exception, or receives it inside a callback, continues.
            self._guest.loop.call_later(INTERRUPT_AGAIN, self._interrupt, turn)

    def unpark(self, turn: Turn) -> None:
        """Give a parked turn its next slice. Call it on the server's loop."""
        turn.unpark()
        self._guest.attend_turns()

    def _look_later(self, turn: Turn) -> None:
        self._guest.loop.call_later(ASK_AGAIN, self.unpark, turn)

    def pending(self) -> bool:
        """Return whether a drain would do anything now."""
        if not self._active and not self._asks_again:
            return bool(self._queue)  # Nothing holds these turns up.
        if any(not turn.parked and not self._left_alone(turn) for turn in self._active):
            return True
        held = any(turn.exclusive for turn in self._active)
        return any(
            turn.cancelled or not ((held and turn.exclusive) or self._left_alone(turn))
            for turn in self._queue
        )

    def _left_alone(self, turn: Turn) -> bool:
        return self._asks_again and turn.held_by is not None

    def _held(self, turn: Turn) -> bool:
        """Return whether the turn must wait because of something that the artist is doing. Runs on
        the main thread."""
        if turn.cancelled and turn.state is TurnState.QUEUED:
            return False
        doing = self._ask_host(turn.kind)
        if doing != turn.held_by:
            turn.hold(doing)
        if doing is None:
            return False
        if (
            turn.state is TurnState.QUEUED
            and not turn.cancelled
            and perf_counter() - turn.held_since >= self._patience
        ):
            turn.refuse(self.busy(turn))
        elif not self._asks_again:
            self._asks_again = True
            self._guest.complete(self._ask_later)
        return True

    def _ask_host(self, kind: Work) -> str | None:
        """Return the host's description of what keeps it busy, or None. A host that can't report
        this is treated as busy, which is logged once."""
        try:
            doing = self._guest.may_run(kind)
        except Exception as error:
            if not self._silent:
                log.exception("the host could not report whether it is busy")
            self._silent = True
            return f"something that it could not name ({type(error).__name__})"
        if self._silent:
            log.info("the host can report again whether it is busy")
            self._silent = False
        return doing

    def _ask_later(self) -> None:
        self._guest.loop.call_later(ASK_AGAIN, self._ask_again)

    def _ask_again(self) -> None:
        self._asks_again = False
        self._guest.attend_turns()

    def drain(self, until: float) -> None:
        """Run one slice of every generator, then queued turns until time is up, but at least one
        turn. Runs on the main thread."""
        for turn in list(self._active):
            if turn.parked or (not turn.looks and self._held(turn)):
                continue
            self._step(turn)
            if turn.state is TurnState.DONE and turn in self._active:
                self._active.remove(turn)
        waiting: list[Turn] = []
        while self._queue:
            turn = self._queue.popleft()
            if self._active and self._must_wait(turn):
                waiting.append(turn)
                continue
            if self._held(turn):
                if turn.state is not TurnState.DONE:
                    waiting.append(turn)
                continue
            self._step(turn)
            if turn.state is not TurnState.DONE:
                self._active.append(turn)
            if perf_counter() >= until:
                break
        self._queue.extendleft(reversed(waiting))

    def _must_wait(self, turn: Turn) -> bool:
        """Return whether another undo step is open."""
        return (
            turn.exclusive and not turn.cancelled and any(other.exclusive for other in self._active)
        )

    def _step(self, turn: Turn) -> None:
        self.running = turn
        try:
            turn.step()
            if self._abandoned and turn.state is not TurnState.DONE:
                turn.step()  # The server that ran the turn was stopped, so this is its last slice.
            if turn.looks:
                self._guest.complete(self._look_later, turn)
        finally:
            self.running = None
            if turn.code.asked:
                # The interruption may have arrived at the beginning or the end of a pause.
                go_on()
                # The interruption may have arrived after a tick was posted and before the host ran
                # it.
                self._guest.ask_again()

    def abandon(self) -> None:
        """End every turn at shut-down, and roll back whatever was open. Runs on the main thread."""
        self._abandoned = True
        running = self.running
        if running is not None:
            running.cancelled = True
        for turn in [*self._active, *self._queue]:
            turn.cancelled = True
            # A turn that stopped the server from within is ended by its own step.
            if turn is not running:
                turn.step()
        self._active.clear()
        self._queue.clear()
