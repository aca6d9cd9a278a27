"""A farm's client: tasks go out to its scheduler, results come back as they are there."""

from __future__ import annotations

import asyncio
import logging
import math
import secrets
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, Literal

from callboard.content import Json
from callboard.errors import HostError, PeerError
from callboard.mapping.host_process import HostLost
from callboard.mapping.tasks import Task, TaskResult, stamp_of
from callboard_programs.client.tool_call import failure
from callboard_programs.farm.orders import LOST, FarmWork, perform
from callboard_programs.farm.security import quiet

log = logging.getLogger(__name__)

#: Seconds of work that are out for each host, in so many tasks: enough that none waits for us, few
#: enough that another run's tasks soon have their turn.
AHEAD, FEWEST, MOST = 0.5, 2, 64
#: Seconds within which a supervisor tells what its host was lost with.
LOSS_PATIENCE = 5.0
#: Seconds between two counts of the workers.
COUNT_AGAIN = 5.0
#: Seconds that hosts may take to come before it is said that none suits.
NONE_SUITS = 10.0


@dataclass(frozen=True)
class Attempt:
    """A task that is out, for which time, under Dask's ``key``."""

    task: Task
    number: int
    key: str


class Farm:
    """A connection to a scheduler. A context manager, for one thread."""

    def __init__(self, scheduler: str, security: Any = None) -> None:
        """``security`` is Dask's."""
        self._scheduler, self._security = scheduler, security

    def __enter__(self) -> Farm:
        """Raises HostError where the scheduler can't be reached."""
        from distributed import Client

        quiet(logging.CRITICAL)  # what goes wrong is raised here
        try:
            self.client = Client(
                self._scheduler, security=self._security, timeout=10, set_as_default=False
            )
        except (OSError, asyncio.TimeoutError, ValueError) as error:
            raise HostError(
                f"no scheduler answers at {self._scheduler}: {error}; start it, or correct the "
                "address"
            ) from None
        return self

    def __exit__(self, *error: object) -> None:
        self.client.close()

    def workers(self) -> list[Json]:
        """``{name, offers}`` of each host that takes part now."""
        known = self.client.scheduler_info(n_workers=-1)["workers"].values()
        return [{"name": one["name"], "offers": one["resources"]} for one in known]

    def run(
        self,
        work: FarmWork,
        tasks: Iterable[Task],
        stopped: Callable[[], bool] = lambda: False,
        told: Callable[[int, int], None] = lambda out, hosts: None,
    ) -> Generator[tuple[TaskResult, Json]]:
        """The results as they come, each with ``{worker?, printed?, seconds?}``. Closing the
        iterator cancels what is out. Raises HostError where the scheduler goes away, PeerError
        where the tool isn't there or lacks a capability, KeyboardInterrupt once it is
        ``stopped``. ``told`` hears now and then how many tasks are out, and how many hosts suit."""
        run = FarmRun(self, work, stopped, told)
        try:
            yield from run.results(iter(tasks))
        finally:
            run.cancel()


class FarmRun:
    """One run over many tasks."""

    def __init__(
        self,
        farm: Farm,
        work: FarmWork,
        stopped: Callable[[], bool],
        told: Callable[[int, int], None],
    ) -> None:
        self._farm, self._client, self._work = farm, farm.client, work
        self._stopped, self._told = stopped, told
        self._id = secrets.token_hex(6)
        self._sent = 0
        self._out: dict[str, tuple[Attempt, Any]] = {}
        #: Futures that ended, and what supervisors told.
        self._arrived: SimpleQueue[Any] = SimpleQueue()
        self._losses: dict[str, Json] = {}
        #: Attempts whose worker is gone, until when its supervisor may say why.
        self._orphans: list[tuple[float, str, Attempt]] = []
        self._counted, self._hosts = 0.0, 0
        #: Seconds that a task takes lately.
        self._pace = AHEAD / FEWEST
        #: Since when no host suits; for ever once that is said.
        self._alone_since: float | None = None

    def results(self, tasks: Iterator[Task]) -> Generator[tuple[TaskResult, Json]]:
        self._client.subscribe_topic(LOST, lambda event: self._arrived.put(event[1]))
        more = True
        while more or self._out or self._orphans:
            if self._stopped():
                raise KeyboardInterrupt
            if monotonic() - self._counted > COUNT_AGAIN:
                self._counted = monotonic()
                self._hosts = self._suiting()
            more = more and self._fill(tasks)
            self._told(len(self._out), self._hosts)
            yield from self._take(self._next())

    def cancel(self) -> None:
        """What is out ends, what runs too."""
        if self._out and self._client.status == "running":
            self._client.cancel([future for _, future in self._out.values()])
        self._out.clear()

    # -- out --------------------------------------------------------------------------------------

    def _fill(self, tasks: Iterator[Task]) -> bool:
        """Whether there are more tasks than fit."""
        window = max(1, self._hosts) * max(FEWEST, min(MOST, int(AHEAD / max(self._pace, 0.001))))
        room = window - len(self._out)
        if room < window // 2:
            return True  # few and large: each sending costs the scheduler alike
        new = list(islice(tasks, room))
        self._send([(task, 1) for task in new])
        return len(new) == room

    def _suiting(self) -> int:
        """How many hosts could do it. Says so where none can."""
        needs = self._work.needs
        offers = [worker["offers"] for worker in self._farm.workers()]
        suiting = sum(
            all(offer.get(name, 0) >= amount for name, amount in needs.items()) for offer in offers
        )
        if suiting:
            self._alone_since = None
        elif self._alone_since is None:
            self._alone_since = monotonic()
        elif monotonic() - self._alone_since > NONE_SUITS:
            wanted = ", ".join(f"{name}={amount:g}" for name, amount in needs.items())
            log.warning("no host here offers %s; `callboard farm worker` starts one", wanted)
            self._alone_since = math.inf
        return suiting

    def _send(self, tasks: Sequence[tuple[Task, int]]) -> None:
        if not tasks:
            return
        attempts = []
        for task, number in tasks:
            self._sent += 1
            attempts.append(Attempt(task, number, f"callboard-{self._id}-{self._sent}"))
        orders = [self._work.order(attempt.task, attempt.key) for attempt in attempts]
        futures = self._client.map(
            perform,
            orders,
            key=[attempt.key for attempt in attempts],
            resources=dict(self._work.needs),
            pure=False,
        )
        for attempt, future in zip(attempts, futures, strict=True):
            self._out[attempt.key] = attempt, future
            future.add_done_callback(self._arrived.put)

    # -- back -------------------------------------------------------------------------------------

    def _next(self) -> list[Any]:
        """All that arrived, at least one where something does soon."""
        arrived = []
        try:
            # Not for ever: orphans come of age, and Windows hears Ctrl+C only in between.
            arrived.append(self._arrived.get(timeout=0.5))
            while True:
                arrived.append(self._arrived.get_nowait())
        except Empty:
            return arrived

    def _take(self, arrived: Iterable[Any]) -> Iterator[tuple[TaskResult, Json]]:
        finished = []
        for item in arrived:
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

    def _fetched(self, futures: Sequence[Any]) -> Iterator[tuple[TaskResult, Json]]:
        if not futures:
            return
        try:
            answers = self._client.gather(futures)
        except Exception:  # a worker went with its results: those alone are made again
            if len(futures) > 1:
                for future in futures:
                    yield from self._fetched([future])
            else:
                attempt, _ = self._out.pop(futures[0].key)
                self._send([(attempt.task, attempt.number)])
            return
        for future, answer in zip(futures, answers, strict=True):
            attempt, _ = self._out.pop(future.key)
            if answer.get("never"):
                value = answer["value"]
                raise PeerError(value["message"], code=value.get("code"), data=value.get("data"))
            self._pace += (answer["seconds"] - self._pace) / 8
            yield self._result(attempt, answer)

    def _erred(self, future: Any) -> Iterator[tuple[TaskResult, Json]]:
        from distributed.scheduler import KilledWorker

        attempt, _ = self._out.pop(future.key)
        if future.status == "cancelled":
            raise HostError("the scheduler is gone; what is done is kept for the next run")
        error = future.exception()
        if isinstance(error, KilledWorker):
            until = monotonic() + LOSS_PATIENCE
            self._orphans.append((until, error.last_worker.name, attempt))
            return
        why = HostError(f"the farm can't do it: {type(error).__name__}: {error}")
        yield self._result(attempt, {"status": "failed", "value": failure(why)})

    def _settled(self) -> Iterator[tuple[TaskResult, Json]]:
        """Orphans of whose host is known how it ended, or never will be: out again, or failed."""
        waiting, again = [], []
        for until, worker, attempt in self._orphans:
            loss = self._losses.get(worker)
            if loss is None and monotonic() < until:
                waiting.append((until, worker, attempt))
            elif loss is not None and loss["key"] != attempt.key:
                again.append((attempt.task, attempt.number))  # it hadn't begun
            elif attempt.number <= self._work.retries:
                again.append((attempt.task, attempt.number + 1))
            else:
                lost = loss or {"why": "the host and its supervisor are gone", "code": None}
                error = HostLost(lost["why"], code=lost["code"])
                answer = {"status": "failed", "value": failure(error), "worker": worker}
                yield self._result(attempt, answer)
        self._orphans = waiting
        self._send(again)

    def _result(self, attempt: Attempt, answer: Json) -> tuple[TaskResult, Json]:
        task = attempt.task
        status: Literal["done", "failed"] = "done" if answer["status"] == "done" else "failed"
        result = TaskResult(
            task.index,
            task.file,
            status,
            answer["value"],
            attempt.number,
            stamp_of(task.file),
            task.key,
            answer.get("artefacts", {}),
            answer.get("content", ()),
        )
        about = {
            name: answer[name] for name in ("worker", "printed", "seconds") if answer.get(name)
        }
        return result, about
