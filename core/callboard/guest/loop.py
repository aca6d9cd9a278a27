"""An asyncio loop that is a guest of the host's own event loop.

The host runs :meth:`GuestLoop._tick` on its main thread whenever something is due. A tick
alternates between a *slice* of the asyncio loop and a batch of main-thread turns, for at most
``host.budget`` seconds unless a single turn takes longer. A slice is ``run_forever()`` over a
selector that calls ``loop.stop()`` instead of blocking. One of asyncio's private names is used:
``_get_running_loop`` returns, without raising, the loop that is running in this thread.

Between ticks a watcher thread waits in ``select()``, so an idle server costs nothing. When a tick
that it requested hasn't moved for ``STAND_IN`` seconds (because the main thread is rendering or
running a long tool), the watcher runs the slices itself, under the same lock, until the host is
back. Therefore nothing that runs on this loop may touch the host's API or assume the main thread.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import Any, Protocol, TypeVar

from callboard.guest.selector import GuestSelector
from callboard.guest.switch_interval import short_turns
from callboard.guest.thread_pause import PausableEvent, go_on
from callboard.guest.wake import wakeable
from callboard.guest.worker_loop import WorkerLoop
from callboard.ports.host import Host

log = logging.getLogger(__name__)
T = TypeVar("T")

#: After this many seconds without a sign from the main thread, the watcher stands in. A call that
#: arrives in the meantime waits just as long, and has to be answered within 0.25 s.
STAND_IN = 0.2
#: Seconds that one slice may take while the watcher stands in.
STAND_IN_BUDGET = 0.008
#: Seconds for sending the answers in a tick whose time a turn has used up.
ANSWER_BUDGET = 0.002


class Turns(Protocol):
    """The work that a tick runs between two slices; see :mod:`callboard.guest.main_thread`."""

    def pending(self) -> bool: ...

    def drain(self, until: float) -> None: ...


class GuestLoop:
    """Runs one asyncio loop inside a host. Make, start and close it on the host's main thread."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.may_run = host.may_run
        self._selector = GuestSelector()
        # Explicit, because a host's policy may make loops that we can't use.
        self.loop = WorkerLoop(self._selector)
        self._selector.stop = self.loop.stop
        self.turns: Turns | None = None
        #: Run on the loop when the main thread has been away for ``STAND_IN`` seconds.
        self.on_away: Callable[[], None] = lambda: None
        self._lock = threading.Lock()
        self._completions: deque[Callable[[], None]] = deque()
        self._posted = False
        self._ticking = False
        self._foreign = False
        #: True while the watcher runs the slices.
        self.stands_in = False
        self._rest = PausableEvent()
        self._alive = self._asked = perf_counter()
        self._owner: int | None = None
        self._closed = False
        self._watcher: threading.Thread | None = None
        self._main = threading.get_ident()
        self._unwake: Callable[[], None] = lambda: None
        self._budget = host.budget
        self._burst = host.burst
        #: Seconds that a slice waits for the next request after a request that queued no turn. Zero
        #: in a process with a GUI.
        alone = host.identity.headless and not host.has_windows
        self._linger = self._burst if alone else 0.0

    # -- life ---------------------------------------------------------------------------------

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to completion, blocking; for start-up and shut-down. Runs on the main
        thread."""
        go_on()  # The work may wait for the other threads.
        if asyncio._get_running_loop() is None:
            return self._run_here(work)
        # The main thread is inside another plug-in's loop, where ours can't run.
        with ThreadPoolExecutor(1, thread_name_prefix="callboard-run") as elsewhere:
            return elsewhere.submit(self._run_here, work).result()

    def _run_here(self, work: Coroutine[Any, Any, T]) -> T:
        with self._lock:
            self._selector.blocking = True
            try:
                return self.loop.run_until_complete(work)
            finally:
                self._selector.blocking = False

    def start(self) -> None:
        """Hand the loop over to the host and the watcher."""
        self._selector.blocking = False
        self._unwake = wakeable()
        self._watcher = threading.Thread(
            target=self._selector.permit.run,
            args=(self._watch,),
            name="callboard-watcher",
            daemon=True,
        )
        self._watcher.start()
        self.request_tick()

    def close(self) -> None:
        """Stop the watcher and close the loop. Everything still scheduled is cancelled."""
        if self._closed:
            return
        self._closed = True
        go_on()
        self._rest.set()
        self._selector.wake()
        if self._watcher is not None:
            self._watcher.join()
        self.run(self.loop.finish())
        self.loop.close()
        self._unwake()

    # -- for other packages ------------------------------------------------------------------------

    def request_tick(self) -> None:
        """Ask the host for a tick unless a tick is on its way. Call it from any thread."""
        if not self._posted and not self._closed:
            self._posted = True
            self._asked = perf_counter()
            self._host.post(self._tick)

    def ask_again(self) -> None:
        """Ask for a tick even though one seems to be on its way, because that tick may have been
        lost. Runs on the main thread."""
        self._posted = False
        self.request_tick()

    def attend_turns(self) -> None:
        """Have a queued turn served: end the slice if the main thread is running the slice, or
        else ask for a tick. Call it on the loop."""
        if self._owner == self._main:
            self.loop.stop()
        else:
            self.request_tick()

    def complete(self, callback: Callable[..., None], *given: Any) -> None:
        """Run ``callback`` on the loop before its next slice. Call it on the main thread, outside a
        slice."""
        self._completions.append(partial(callback, *given))
        if not self._ticking:
            self.request_tick()

    def interrupt(self) -> None:
        """End an idle slice that is waiting for the next call, so that the main thread returns to
        the host. Call it from any thread, or from signal handlers."""
        self._selector.wake()

    def stalled_for(self) -> float:
        """Return the seconds since the main thread's last sign of life, or 0.0 if the thread isn't
        overdue. Call it from any thread."""
        if self._rest.is_set():
            return 0.0
        return perf_counter() - self._last_sign() if self._main_is_away() else 0.0

    def blocked_by(self) -> str | None:
        """Return the host's description of what keeps its main thread busy, or None if it can't
        tell. Call it from any thread."""
        return self._host.blocked_by()

    # -- the tick, on the main thread -------------------------------------------------------------

    def _tick(self) -> None:
        self._posted = False
        if self._closed:
            return
        if self._ticking:
            return  # A tool is running the host's loop inside itself, and turns never nest.
        self._alive = perf_counter()
        self._ticking = True
        if self.stands_in:
            self._selector.wake()  # A turn may hold this tick, and the watcher has to notice that.
        # Two asyncio loops can't run in one thread. Inside another plug-in's loop the watcher runs
        # the slices, and the main thread runs only the turns.
        self._foreign = asyncio._get_running_loop() is not None
        try:
            if self._foreign:
                self._rest.set()
                self._selector.wake()
                self._serve_turns()
            else:
                self._rest.clear()
                self._serve()
        except Exception:
            log.exception("a tick failed")
        finally:
            self._ticking = False
            self._alive = perf_counter()
            if not self._posted:
                self._rest.set()
            # A byte that no watch waits for would end the next watch, whose tick would write
            # another byte.
            if self._foreign or self._selector.watched:
                self._selector.wake()

    def _serve(self) -> None:
        now = perf_counter()
        end = now + self._budget
        wait_until = now + self._linger
        turns = self.turns
        while True:
            if not self._slice(end, wait_until):
                self.request_tick()
                return
            self._alive = perf_counter()
            if turns is not None and turns.pending():
                if self._selector.watched:
                    # The watcher didn't ask for this tick, but has to time it.
                    self._selector.wake()
                turns.drain(end)
                self._alive = now = perf_counter()
                wait_until = 0.0 if turns.pending() else min(now + self._burst, end)
                if now < end:
                    continue
                # The answers are sent in this tick, however long the turn took.
                self._slice(now + ANSWER_BUDGET, 0.0)
                self.request_tick()
                return
            if self._selector.heard and self._linger and self._alive < end:
                wait_until = min(self._alive + self._linger, end)
                continue
            if self._selector.more:
                self.request_tick()
            return

    def _serve_turns(self) -> None:
        if self.turns is not None and self.turns.pending():
            self.turns.drain(perf_counter() + self._budget)
            if self.turns.pending():
                self.request_tick()

    def _slice(self, end: float, wait_until: float) -> bool:
        """Run the loop once. Return False when the other thread didn't release the loop in time."""
        if not self._lock.acquire(timeout=2 * STAND_IN_BUDGET):
            return False
        selector = self._selector
        try:
            if self.loop.is_closed():
                return True
            self._owner = threading.get_ident()
            while self._completions:
                self._completions.popleft()()
            selector.end = end
            selector.wait_until = wait_until
            selector.more = selector.heard = False
            self.loop.run_forever()
        finally:
            self._owner = None
            self._lock.release()
        return True

    # -- the watcher ------------------------------------------------------------------------------

    def _watch(self) -> None:
        while not self._closed:
            self._await_rest()
            if self._closed:
                return  # The stand-in's last slice may have consumed the wake-up.
            self._selector.watch()
            if self._closed:
                return
            if self._foreign:
                self._slice(perf_counter() + STAND_IN_BUDGET, 0.0)
                while self._selector.more and not self._closed:
                    self._slice(perf_counter() + STAND_IN_BUDGET, 0.0)
                continue
            self._rest.clear()
            if self._closed:
                return  # close() may have set it just before it was cleared
            self.request_tick()

    def _await_rest(self) -> None:
        """Wait until the tick that is posted or under way ends, and stand in if needed."""
        while not self._closed:
            # A main thread that is inside a slice isn't away, however long the slice takes.
            left = self._last_sign() + STAND_IN - perf_counter()
            if self._selector.permit.wait(self._rest, max(left, 0.01)):
                return
            if self._main_is_away():
                self._stand_in()

    def _main_is_away(self) -> bool:
        return perf_counter() - self._last_sign() >= STAND_IN and self._owner != self._main

    def _last_sign(self) -> float:
        # An idle main thread isn't away: a tick is late only from the time it was requested.
        return self._alive if self._ticking else max(self._alive, self._asked)

    def _stand_in(self) -> None:
        last_sign = self._alive
        self.stands_in = True
        with suppress(RuntimeError):  # The loop was closed.
            self.loop.call_soon_threadsafe(self.on_away)
        with short_turns():
            while self._alive == last_sign and not self._closed:
                self._slice(perf_counter() + STAND_IN_BUDGET, 0.0)
                # Any change to these two is followed by a wake-up, which this slice may have
                # consumed.
                if not (self._selector.more or self._closed or self._alive != last_sign):
                    self._selector.watch()
        self.stands_in = False
