"""A coroutine tool's stay on the main thread: one job, one undo step, many visits."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Generator
from typing import Any

from callboard.guest.main_thread import PARK, Job, MainThread, Transaction


class MainSession:
    """Holds one parked job open while the coroutine runs, and wakes it per visit. Loop side."""

    def __init__(self, main: MainThread, name: str, context: Any, step: Transaction | None) -> None:
        self._main = main
        self._loop = asyncio.get_running_loop()
        self._visits: deque[tuple[Callable[[], Any], asyncio.Future[Any]]] = deque()
        self._closing = False
        self._error: BaseException | None = None
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._opened = False
        self.job = Job(name, self._serve, self._done, transaction=step, context=context)

    def submit(self, function: Callable[[], Any], future: asyncio.Future[Any]) -> None:
        """Queues one visit. Raises HostBusy."""
        if not self._opened:
            self._main.submit(self.job)
            self._opened = True
        self._visits.append((function, future))
        self._main.unpark(self.job)

    async def close(self, error: BaseException | None) -> None:
        """Ends the job: its undo step is committed, or rolled back for an error."""
        if not self._opened:
            return
        self._error, self._closing = error, True
        self._main.unpark(self.job)
        await self._ended

    def _serve(self) -> Generator[object, None, None]:
        while True:
            while self._visits:
                function, future = self._visits.popleft()
                self._visit(function, future)
                yield None
            if self._closing:
                if self._error is not None:
                    raise self._error
                return
            yield PARK

    def _visit(self, function: Callable[[], Any], future: asyncio.Future[Any]) -> None:
        try:
            value = function()
        except BaseException as error:
            failed = error if isinstance(error, Exception) else RuntimeError(repr(error))
            self._main.complete(lambda: _settle(future, None, failed))
        else:
            self._main.complete(lambda: _settle(future, value, None))

    def _done(self, value: Any, error: BaseException | None) -> None:
        def settle() -> None:
            for _, future in self._visits:
                _settle(future, None, error)
            if not self._ended.done():
                self._ended.set_result(None)

        self._main.complete(settle)


def _settle(future: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    if future.done():
        return  # nobody waits any more
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(value)
