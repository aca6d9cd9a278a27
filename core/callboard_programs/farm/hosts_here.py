"""Runs tasks on this machine, with warm hosts that perform their orders in parallel."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from queue import Empty, SimpleQueue

from callboard.content import Json
from callboard.errors import CallboardError, HostError
from callboard.mapping.host_process import HostLost
from callboard_programs.client.http_client import pass_over
from callboard_programs.client.tool_call import Notified
from callboard_programs.farm.orders import carried_out
from callboard_programs.farm.runner import Attempt, Loss
from callboard_programs.farm.warm_host import WarmHost


class HostsHere:
    """Hosts on this machine, each with its own thread. Use it as a context manager on one thread.
    If a host doesn't start, the others do its work."""

    def __init__(
        self,
        options: Sequence[str],
        hosts: int,
        reported: Callable[[str], None],
        notified: Notified = pass_over,
    ) -> None:
        """``options`` are those of ``callboard serve``. ``reported`` receives sentences for the
        user. ``notified`` receives the tools' notifications, on the hosts' threads."""
        self._options, self._count = options, hosts
        self._reported, self._notified = reported, notified
        self._orders: SimpleQueue[Attempt | None] = SimpleQueue()
        self._ended: SimpleQueue[tuple[Attempt, Json | Loss] | CallboardError | str] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._stopped = threading.Event()
        self._guard = threading.Lock()
        self._hosts: set[WarmHost] = set()
        self._out = self._serving = 0
        self._began = False

    def __enter__(self) -> HostsHere:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        """Let the hosts shut down, or kill them at once if work is unfinished."""
        if kind is not None or self._out:
            self._stopped.set()
            with self._guard:
                for host in self._hosts:
                    host.kill("the batch was stopped")
        for _ in self._threads:
            self._orders.put(None)
        for thread in self._threads:
            thread.join()

    def room(self) -> int:
        # Each host has one more order ready, so that no host has to wait.
        return 2 * self._count - self._out

    def send(self, attempts: Sequence[Attempt]) -> None:
        self._out += len(attempts)
        for attempt in attempts:
            self._orders.put(attempt)
        while len(self._threads) < min(self._count, self._out):
            name = f"callboard-batch-{len(self._threads)}"
            thread = threading.Thread(target=self._serve, name=name)
            self._threads.append(thread)
            with self._guard:
                self._serving += 1
            thread.start()

    def ended(self) -> Iterable[tuple[Attempt, Json | Loss]]:
        """Return the attempts that have ended. Raises HostError when no host can be started."""
        try:
            # On Windows, Ctrl-C can't interrupt a wait without a deadline.
            ended = self._ended.get(timeout=0.5)
        except Empty:
            return []
        if isinstance(ended, CallboardError):
            raise ended
        if isinstance(ended, str):
            self._reported(ended)
            return []
        self._out -= 1
        return [ended]

    # -- on each host's thread --------------------------------------------------------------------

    def _serve(self) -> None:
        """Run one host after another. A new host is started when the last one has been lost and
        there is still work."""
        held = self._next()
        while held is not None:
            host = WarmHost(self._options)
            with self._guard:
                self._hosts.add(host)
            if self._stopped.is_set():
                return
            started = False
            try:
                with host:
                    started = self._began = True
                    while held is not None and self._do(host, held):
                        held = self._next()
            except HostError as error:
                if not started and held is not None and self._hands_over(held, error):
                    return
            except Exception as error:
                # If the thread died silently, the batch would wait for it forever.
                why = f"{type(error).__name__}: {error}"
                self._ended.put(HostError(f"the batch can't continue: {why}"))
            finally:
                with self._guard:
                    self._hosts.discard(host)
            held = held and self._next()

    def _next(self) -> Attempt | None:
        return None if self._stopped.is_set() else self._orders.get()

    def _do(self, host: WarmHost, attempt: Attempt) -> bool:
        """Perform an attempt. Return whether the host is still alive."""
        try:
            with host.client_for(attempt.order["timeout"]) as client:
                answer = carried_out(client, attempt.order, self._notified)
        except HostLost as error:
            self._ended.put((attempt, Loss(error)))
            return False
        self._ended.put((attempt, answer))
        return True

    def _hands_over(self, held: Attempt, error: HostError) -> bool:
        """Leave this thread's work to the other threads because its host didn't start. Return
        whether they take over, in which case this thread may end."""
        with self._guard:
            alone = self._serving == 1
            self._serving -= not alone
        if not alone:
            self._orders.put(held)
            self._ended.put(f"a host didn't start, the others continue: {error.message}")
        elif self._began:
            self._ended.put((held, Loss(error)))
        else:  # No host has ever started.
            self._ended.put(error)
        return not alone
