"""Threads for work that may never end. None of them delays the end of the process."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from time import monotonic
from typing import Any, TypeVar

from callboard.guest.thread_pause import PythonPermit

T = TypeVar("T")

#: Maximum number of abandoned threads that are replaced, because they may be stuck forever. Beyond
#: that, no thread is replaced, and new work waits.
MOST_ABANDONED = 64


class _Job:
    def __init__(self, future: Future[Any], run: Callable[[], Any]) -> None:
        self.future = future
        self.run = run
        self.queued = monotonic()
        self.abandoned = False


class Workers(Executor):
    """An executor with ``count`` threads, started when there is work. Before it exits, Python waits
    for the threads of its own pools, but not for these. Call it from any thread."""

    def __init__(self, count: int, name: str) -> None:
        self._count = count
        self._name = name
        self._there = threading.Condition()
        self._queue: deque[_Job] = deque()
        self._running: set[_Job] = set()
        self._threads = 0
        self._idle = 0
        self._closed = False

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Run the function as soon as a thread is free. Raises RuntimeError after the shut-down."""
        job = _Job(Future(), lambda: fn(*args, **kwargs))
        with self._there:
            if self._closed:
                raise RuntimeError("these threads were shut down")
            self._queue.append(job)
            self._grow()
            self._there.notify()
        return job.future

    def abandon(self, future: Future[Any]) -> None:
        """Stop waiting for the work. If the work is already running, a new thread replaces its
        thread, which ends with the work."""
        future.cancel()
        with self._there:
            waiting = [job for job in self._queue if job.future is not future]
            self._queue = deque(waiting)
            for job in self._running:
                if job.future is future and self._abandoned() < MOST_ABANDONED:
                    job.abandoned = True
            self._grow()

    def waited(self) -> float:
        """Return the seconds that the oldest work has been waiting for a thread, or 0.0 when none
        is waiting."""
        with self._there:
            return monotonic() - self._queue[0].queued if self._queue else 0.0

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more work. Never waits, whatever ``wait`` says: some work may never end."""
        with self._there:
            self._closed = True
            dropped = list(self._queue) if cancel_futures else []
            if cancel_futures:
                self._queue.clear()
            self._there.notify_all()
        for job in dropped:
            job.future.cancel()

    def _abandoned(self) -> int:
        return sum(job.abandoned for job in self._running)

    def _surplus(self) -> bool:
        return self._threads > self._count + self._abandoned()

    def _grow(self) -> None:
        if len(self._queue) > self._idle and self._threads < self._count + self._abandoned():
            self._threads += 1
            threading.Thread(target=self._work, name=self._name, daemon=True).start()

    def _work(self) -> None:
        with (permit := PythonPermit()):
            while self._work_on(permit):
                pass

    def _work_on(self, permit: PythonPermit) -> bool:
        """Wait for a job and run it. Return whether the thread continues."""
        permit.leave(self._stir, self._stirred)
        try:
            with self._there:
                job = self._next(permit)
                ended = job is None and not permit.summoned
                self._threads -= ended
        finally:
            permit.back()  # The condition is released first, because the main thread may need it.
        if job is not None:
            _run(job)
            with self._there:
                self._running.discard(job)
        return not ended

    def _next(self, permit: PythonPermit) -> _Job | None:
        """Return the next job, or None if the thread must end or is summoned."""
        self._idle += 1
        while not (self._queue or self._closed or self._surplus() or permit.summoned):
            self._there.wait()
        self._idle -= 1
        if self._surplus() or not self._queue:
            return None
        job = self._queue.popleft()
        self._running.add(job)
        return job

    def _stirred(self) -> bool:
        return bool(self._queue) or self._closed

    def _stir(self) -> None:
        with self._there:
            self._there.notify_all()


def _run(job: _Job) -> None:
    if not job.future.set_running_or_notify_cancel():
        return
    try:
        value = job.run()
    except BaseException as error:
        job.future.set_exception(error)
    else:
        job.future.set_result(value)
