"""The host's side of the farm: a Dask worker whose tasks are calls to the host's tools."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from functools import lru_cache, partial
from queue import SimpleQueue
from time import monotonic
from typing import Any

from callboard.app import Callboard
from callboard.content import Json
from callboard_programs.farm.direct_client import TYPED, DirectClient
from callboard_programs.farm.orders import RunOwner, carried_out, perform_by
from callboard_programs.farm.security import quiet

#: Seconds allowed for the last results to be fetched before a fresh host replaces this one.
FETCHING = 5.0


@dataclass(frozen=True)
class Membership:
    """A host's membership in the farm. ``most_memory`` is in bytes. ``offers`` has the amounts that
    the host offers to tasks."""

    scheduler: str
    name: str
    folder: str
    offers: Mapping[str, float] = field(default_factory=dict)
    most_tasks: int | None = None
    most_memory: int | None = None


class HostExecutor(Executor):
    """Runs Dask's tasks one after another. Its thread only waits, because the tool runs on the
    host's main thread through the host's dispatcher, like every other call."""

    def __init__(self, serve: Callable[[SimpleQueue[Any]], None]) -> None:
        self._waiting: SimpleQueue[Any] = SimpleQueue()
        threading.Thread(
            target=serve, args=[self._waiting], name="callboard-farm", daemon=True
        ).start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._waiting.put((future, fn, args, kwargs))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Do nothing, because the process ends with its last task, or is killed."""


class HostWorker:
    """The Dask worker in the host that ``app`` serves. ``report`` passes each event on to the
    supervisor. ``ended`` is called when the worker has left the farm. Both may be called from any
    thread."""

    def __init__(
        self,
        app: Callboard,
        member: Membership,
        security: Any,
        report: Callable[[Json], None],
        ended: Callable[[], None],
    ) -> None:
        """``security`` is Dask's security object."""
        self._catalog, self._dispatcher = app.catalog, app.dispatcher
        self._client_of = lru_cache(maxsize=16)(partial(DirectClient, app))
        self._member, self._security = member, security
        self._report, self._ended = report, ended
        self._done = 0
        self._running: str | None = None
        self._last = ""

    def start(self) -> None:
        threading.Thread(target=self._run, name="callboard-dask", daemon=True).start()

    # -- Dask's thread ----------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            asyncio.run(self._work())
        except Exception as error:
            print(f"the farm can't be joined: {error}", file=sys.stderr, flush=True)
            os._exit(1)
        self._ended()

    async def _work(self) -> None:
        from distributed import Worker

        quiet()
        member = self._member
        self._loop = asyncio.get_running_loop()
        perform_by(self._perform)
        loopback = "127.0.0.1" if "//127." in member.scheduler else None
        self._worker = Worker(
            member.scheduler,
            nthreads=1,
            name=member.name,
            host=loopback,
            executor=HostExecutor(self._serve),
            resources=dict(member.offers),
            memory_limit=0,
            dashboard=False,
            dashboard_address="127.0.0.1:0",
            local_directory=member.folder,
            security=self._security,
            plugins=[_cancelled_by(self._cancelled)],
        )
        async with self._worker:
            self._report({"event": "ready", "worker": member.name, "pid": os.getpid()})
            await self._worker.finished()
        self._report({"event": "left"})

    def _cancelled(self, key: str) -> None:
        if key == self._running:
            self._report({"event": "cancelled", "key": key})

    async def _retire(self) -> None:
        """Leave the farm cleanly, without losing a result or beginning a waiting task."""
        patience = monotonic() + FETCHING
        # The last result may not have been fetched yet. Dask drops each result after it has been
        # fetched.
        while (
            self._worker.data or self._last in self._worker.state.tasks
        ) and monotonic() < patience:
            await asyncio.sleep(0.01)
        await self._worker.close_gracefully()

    # -- the executor's thread --------------------------------------------------------------------

    def _serve(self, waiting: SimpleQueue[Any]) -> None:
        try:
            while (why := self._worn_out()) is None:
                future, fn, args, kwargs = waiting.get()
                if future.set_running_or_notify_cancel():
                    _settle(future, fn, args, kwargs)
            self._report({"event": "recycled", "why": why})
            asyncio.run_coroutine_threadsafe(self._retire(), self._loop)
        except BaseException as error:
            # Without this thread the worker would accept tasks but never begin one.
            print(f"the host can't continue: {error}", file=sys.stderr, flush=True)
            os._exit(1)

    def _worn_out(self) -> str | None:
        """Return the reason why a fresh process should take over, or None."""
        member = self._member
        if member.most_tasks is not None and self._done >= member.most_tasks:
            return f"it did {self._done} tasks"
        if member.most_memory is not None and (used := _memory()) > member.most_memory:
            return f"it held {used} bytes"
        return None

    def _perform(self, order: Json) -> Json:
        self._running = order["key"]
        self._report({"event": "began", "key": order["key"], "timeout": order["timeout"]})
        began = monotonic()
        try:
            answer = self._answered(order)
            took = round(monotonic() - began, 3)
            return {**answer, "worker": self._member.name, "seconds": took}
        finally:
            self._done += 1
            self._running, self._last = None, order["key"]
            self._report({"event": "ended", "key": order["key"]})

    def _answered(self, order: Json) -> Json:
        asker = RunOwner(*order["asker"]) if "asker" in order else TYPED
        known = self._catalog.known if order["skills"] else ()
        skills = {one.skill.name: one.skill.version for one in known}
        try:
            client, who = self._client_of(asker), self._member.name
            answer = carried_out(client, order, who=who, skills=skills)
        except Exception:
            if not self._dispatcher.closed:
                raise
            answer = {"status": "failed"}
        if answer["status"] == "failed" and self._dispatcher.closed:
            # A call that was cut short because the host is ending isn't a failure. Its worker is
            # reported as lost, together with the host.
            threading.Event().wait()
        return answer


def _cancelled_by(heard: Callable[[str], None]) -> Any:
    """Return a plug-in for Dask's worker that calls ``heard`` when a running task is no longer
    needed."""
    from distributed.diagnostics.plugin import WorkerPlugin

    class Cancelled(WorkerPlugin):
        def transition(self, key: Any, start: str, finish: str, **more: Any) -> None:
            if start == "executing" and finish not in ("memory", "error"):
                heard(key)

    return Cancelled()


def _settle(future: Future[Any], fn: Callable[..., Any], args: Any, kwargs: Any) -> None:
    try:
        value = fn(*args, **kwargs)
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(value)


def _memory() -> int:
    """Return the number of bytes of memory that this process uses."""
    import psutil

    return int(psutil.Process().memory_info().rss)
