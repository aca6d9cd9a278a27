"""Warm hosts that work off a batch's tasks, side by side."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Literal

from callboard.content import Json
from callboard.errors import CallboardError, HostError
from callboard.mapping.host_process import HostLost
from callboard.mapping.tasks import Task, TaskResult, filled, stamp_of
from callboard_programs.batch.warm_host import UNSAVED, WarmHost, is_changed
from callboard_programs.client.tool_call import beside, content_of, failure, never_goes


@dataclass(frozen=True)
class BatchWork:
    """What is done to each file. ``host_options`` are those of ``callboard serve``; ``retries``
    says how often a file is tried again whose host was lost; ``timeout`` is in seconds."""

    tool: str
    given: Json
    host_options: Sequence[str]
    open: bool = True
    save: bool = False
    retries: int = 2
    timeout: float | None = None

    def described(self) -> Json:
        """What makes its results other ones."""
        return {
            "tool": self.tool,
            "arguments": self.given,
            "open": self.open,
            "save": self.save,
            "host": list(self.host_options),
        }


class HostPool:
    """A thread for each host. Used from one thread, which is told of each result."""

    def __init__(self, work: BatchWork, hosts: int, told: Callable[[str], None]) -> None:
        """``told`` hears what the user should know, a sentence each, on the thread that runs it."""
        self._work = work
        self._count = hosts
        self._told = told
        self._tasks: queue.SimpleQueue[tuple[Task, int] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[TaskResult | CallboardError | str] = queue.SimpleQueue()
        self._stopped = threading.Event()
        self._guard = threading.Lock()
        self._hosts: set[WarmHost] = set()
        self._serving = 0
        self._began = self._warned = False

    def run(self, tasks: Sequence[Task]) -> Generator[TaskResult, None, None]:
        """The results as they come. Closing the iterator ends the hosts. A host that doesn't start
        leaves its work to the others. Raises HostError where none starts, RemoteError where the
        tool isn't there or lacks a capability."""
        for task in tasks:
            self._tasks.put((task, 1))
        threads = [
            threading.Thread(target=self._serve, name=f"callboard-batch-{number}")
            for number in range(min(self._count, len(tasks)))
        ]
        self._serving = len(threads)
        for thread in threads:
            thread.start()
        try:
            for _ in tasks:
                yield self._next()
            for _ in threads:
                self._tasks.put(None)
        except BaseException:
            self._stop()
            raise
        finally:
            for thread in threads:
                thread.join()

    def _next(self) -> TaskResult:
        while True:
            try:
                # On Windows a wait without a deadline can't be interrupted by Ctrl-C.
                result = self._results.get(timeout=0.5)
            except queue.Empty:
                continue
            if isinstance(result, TaskResult):
                return result
            if isinstance(result, CallboardError):
                raise result
            self._told(result)

    def _stop(self) -> None:
        self._stopped.set()
        for _ in range(self._count):
            self._tasks.put(None)
        with self._guard:
            for host in self._hosts:
                host.kill("the batch was stopped")

    # -- on each host's thread --------------------------------------------------------------------

    def _serve(self) -> None:
        """Host after host: the next begins where one was lost and there is something to do."""
        next = self._next_task()
        while next is not None:
            host = WarmHost(self._work.host_options)
            with self._guard:
                self._hosts.add(host)
            if self._stopped.is_set():
                return
            started = False
            try:
                with host:
                    started = self._began = True
                    while next is not None and self._do(host, *next):
                        next = self._next_task()
            except HostError as error:
                if not started and next is not None and self._hands_over(next, error):
                    return
            except Exception as error:
                # A thread that dies in silence would keep everybody waiting.
                why = f"{type(error).__name__}: {error}"
                self._results.put(HostError(f"the batch can't go on: {why}"))
            finally:
                with self._guard:
                    self._hosts.discard(host)
            next = next and self._next_task()

    def _hands_over(self, held: tuple[Task, int], error: HostError) -> bool:
        """Where a host didn't start. Whether others do this thread's work, so that it may end."""
        with self._guard:
            alone = self._serving == 1
            self._serving -= not alone
        if not alone:
            self._tasks.put(held)
            self._results.put(f"a host didn't start, the others go on: {error.message}")
        elif self._began:
            self._lost(*held, error)
        else:  # then none ever will
            self._results.put(error)
        return not alone

    def _next_task(self) -> tuple[Task, int] | None:
        return None if self._stopped.is_set() else self._tasks.get()

    def _do(self, host: WarmHost, task: Task, attempt: int) -> bool:
        """Whether the host still lives."""
        work = self._work
        try:
            result = host.run(
                work.tool,
                filled(work.given, task),
                scene=task.file if work.open else None,
                save=work.save,
                timeout=work.timeout,
            )
            if work.open and not work.save and is_changed(result) and not self._warned:
                self._warned = True
                self._results.put(UNSAVED)
            self._tell(task, attempt, content_of(result), beside(result))
        except HostLost as error:
            self._lost(task, attempt, error)
            return False
        except CallboardError as error:
            if never_goes(error):
                self._results.put(error)
            else:
                self._tell(task, attempt, error)
        return True

    def _lost(self, task: Task, attempt: int, error: HostError) -> None:
        if attempt <= self._work.retries:
            self._tasks.put((task, attempt + 1))
        else:
            self._tell(task, attempt, error)

    def _tell(self, task: Task, attempts: int, value: object, content: Sequence[Json] = ()) -> None:
        status: Literal["done", "failed"] = "done"
        if isinstance(value, CallboardError):
            status, value = "failed", failure(value)
        self._results.put(
            TaskResult(
                task.index,
                task.file,
                status,
                value,
                attempts,
                stamp_of(task.file),
                content=content,
            )
        )
