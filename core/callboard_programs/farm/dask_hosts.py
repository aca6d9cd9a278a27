"""Runs tasks behind a Dask scheduler: sends orders to the scheduler's hosts, and receives the
hosts' answers."""

from __future__ import annotations

import asyncio
import logging
import math
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any

from callboard.content import Json
from callboard.errors import HostError
from callboard.mapping.host_process import HostLost
from callboard_programs.client.tool_call import failure
from callboard_programs.farm.orders import LOST, perform
from callboard_programs.farm.runner import Attempt, Loss
from callboard_programs.farm.security import no_answer, quiet

log = logging.getLogger(__name__)

#: Seconds of work in each host's queue, and the minimum and maximum number of tasks in the queue.
#: The queue is long enough that no host waits for us, and short enough that the tasks of another
#: run soon get their turn.
AHEAD, FEWEST, MOST = 0.5, 2, 64
#: Seconds allowed for a supervisor to report why its host was lost.
LOSS_PATIENCE = 5.0
#: Seconds between two counts of the workers.
COUNT_AGAIN = 5.0
#: Seconds to wait for a suitable host before a warning says that there is none.
NONE_SUITS = 10.0


class DaskHosts:
    """A connection to a scheduler. Use it as a context manager on one thread. Leaving the block
    cancels unfinished tasks."""

    def __init__(
        self,
        scheduler: str,
        security: Any,
        needs: Mapping[str, float],
        reported: Callable[[int, int], None] = lambda out, hosts: None,
    ) -> None:
        """``security`` is Dask's security object. ``needs`` are the amounts that a host must offer.
        ``reported`` is called from time to time with the numbers of unfinished tasks and suitable
        hosts.
        """
        self._scheduler, self._security = scheduler, security
        self._needs, self._reported = dict(needs), reported
        self._id = secrets.token_hex(6)
        self._sent = 0
        #: The unfinished attempts, by Dask's keys.
        self._out: dict[str, tuple[Attempt, Any]] = {}
        #: Futures that have ended, and reports from supervisors.
        self._arrived: SimpleQueue[Any] = SimpleQueue()
        self._losses: dict[str, Json] = {}
        #: Attempts whose worker is gone, with the time until which its supervisor may report the
        #: reason.
        self._orphans: list[tuple[float, str, str, Attempt]] = []
        self._counted, self._hosts = 0.0, 0
        #: The moving average of the seconds that a task takes.
        self._pace = AHEAD / FEWEST
        #: The time since which no host has been suitable. It is infinite once the warning has been
        #: logged.
        self._alone_since: float | None = None

    def __enter__(self) -> DaskHosts:
        """Connect to the scheduler. Raises HostError when it can't be reached."""
        from distributed import Client

        quiet(logging.CRITICAL)  # Every failure is raised as an error instead.
        try:
            self._client = Client(
                self._scheduler, security=self._security, timeout=10, set_as_default=False
            )
        except (OSError, asyncio.TimeoutError, ValueError) as error:
            raise no_answer(self._scheduler, error, self._security) from None
        self._client.subscribe_topic(LOST, lambda event: self._arrived.put(event[1]))
        return self

    def __exit__(self, *error: object) -> None:
        if self._out and self._client.status == "running":
            self._client.cancel([future for _, future in self._out.values()])
        self._client.close()

    # -- sending ----------------------------------------------------------------------------------

    def room(self) -> int:
        if monotonic() - self._counted > COUNT_AGAIN:
            self._counted = monotonic()
            self._hosts = self._suiting()
        window = max(1, self._hosts) * max(FEWEST, min(MOST, int(AHEAD / max(self._pace, 0.001))))
        room = window - len(self._out)
        # Send few large batches, because each one costs the scheduler the same.
        return 0 if room < window // 2 else room

    def _suiting(self) -> int:
        """Return the number of suitable hosts. Log a warning if there have been none for a
        while."""
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        needs = self._needs.items()
        suiting = sum(
            all(one["resources"].get(name, 0) >= amount for name, amount in needs)
            for one in workers
        )
        if suiting:
            self._alone_since = None
        elif self._alone_since is None:
            self._alone_since = monotonic()
        elif monotonic() - self._alone_since > NONE_SUITS:
            wanted = ", ".join(f"{name}={amount:g}" for name, amount in needs)
            log.warning(
                "no host of this farm offers %s; start one with `callboard farm worker`", wanted
            )
            self._alone_since = math.inf
        return suiting

    def send(self, attempts: Sequence[Attempt]) -> None:
        if not attempts:
            return
        self._sent += len(attempts)
        keys = [f"callboard-{self._id}-{self._sent - left}" for left in range(len(attempts))]
        futures = self._client.map(
            perform,
            [{**each.order, "key": key} for each, key in zip(attempts, keys, strict=True)],
            key=keys,
            resources=self._needs,
            pure=False,
        )
        for attempt, future in zip(attempts, futures, strict=True):
            self._out[future.key] = attempt, future
            future.add_done_callback(self._arrived.put)

    # -- receiving --------------------------------------------------------------------------------

    def ended(self) -> Iterable[tuple[Attempt, Json | Loss]]:
        """Yield the attempts that have ended. Raises HostError if the scheduler is gone."""
        self._reported(len(self._out), self._hosts)
        finished = []
        for item in self._heard():
            if isinstance(item, dict):
                self._losses[item["worker"]] = item
            elif item.key not in self._out:
                continue
            elif item.status == "finished":
                finished.append(item)
            else:
                yield from self._erred(item)
        yield from self._fetched(finished)
        yield from self._settled()

    def _heard(self) -> list[Any]:
        """Return everything that has arrived. Wait briefly for the first item."""
        arrived = []
        try:
            # The wait is short, because orphans have deadlines and Windows handles Ctrl+C only
            # between waits.
            arrived.append(self._arrived.get(timeout=0.5))
            while True:
                arrived.append(self._arrived.get_nowait())
        except Empty:
            return arrived

    def _fetched(self, futures: Sequence[Any]) -> Iterator[tuple[Attempt, Json | Loss]]:
        if not futures:
            return
        try:
            answers = self._client.gather(futures)
        # The results of a lost worker are gone. Only these tasks are done again.
        except Exception as error:
            if len(futures) > 1:
                for future in futures:
                    yield from self._fetched([future])
            else:
                attempt, _ = self._out.pop(futures[0].key)
                yield attempt, Loss(HostError(str(error)), begun=False)
            return
        for future, answer in zip(futures, answers, strict=True):
            attempt, _ = self._out.pop(future.key)
            self._pace += (answer.get("seconds", self._pace) - self._pace) / 8
            yield attempt, answer

    def _erred(self, future: Any) -> Iterator[tuple[Attempt, Json | Loss]]:
        from distributed.scheduler import KilledWorker

        attempt, _ = self._out.pop(future.key)
        if future.status == "cancelled":
            raise HostError("the scheduler is gone; finished tasks are kept for the next run")
        error = future.exception()
        if isinstance(error, KilledWorker):
            until = monotonic() + LOSS_PATIENCE
            self._orphans.append((until, error.last_worker.name, future.key, attempt))
            return
        why = HostError(f"the farm can't run the task: {type(error).__name__}: {error}")
        yield attempt, {"status": "failed", "value": failure(why)}

    def _settled(self) -> Iterator[tuple[Attempt, Loss]]:
        """Yield the orphaned attempts for which the supervisor has reported the reason, or has had
        enough time to do so."""
        orphans, self._orphans = self._orphans, []
        for until, worker, key, attempt in orphans:
            loss = self._losses.get(worker)
            if loss is None and monotonic() < until:
                self._orphans.append((until, worker, key, attempt))
                continue
            lost = loss or {"why": "the host and its supervisor are gone", "code": None, "key": key}
            yield attempt, Loss(HostLost(lost["why"], code=lost["code"]), lost["key"] == key)
