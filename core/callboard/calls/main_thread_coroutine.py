"""Keeps one turn of the main thread for a coroutine tool, which may run several functions there
during the call."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Generator
from threading import get_ident
from typing import Any

from callboard.calls.outcomes import settle
from callboard.errors import CallCancelled
from callboard.guest.main_thread import MainThread
from callboard.guest.turn import PARK, Transaction, Turn, Waiter
from callboard.ports.host import Work


class MainThreadCoroutine:
    """Keeps a parked turn open while the coroutine runs, and wakes it for each visit. Use it on the
    loop."""

    def __init__(
        self,
        main: MainThread,
        name: str,
        context: Any,
        step: Transaction | None,
        kind: Work,
        waiter: Waiter | None = None,
    ) -> None:
        self._main = main
        self._loop = asyncio.get_running_loop()
        self._visits: deque[tuple[Callable[[], Any], asyncio.Future[Any]]] = deque()
        self._closing = False
        self._visited_on: int | None = None
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._opened = False
        self.turn = Turn(
            name,
            self._serve,
            self._done,
            transaction=step,
            context=context,
            kind=kind,
            waiter=waiter,
        )

    @property
    def is_here(self) -> bool:
        """True when the caller is running within a visit. Read it from any thread."""
        return self._visited_on == get_ident()

    def submit(self, function: Callable[[], Any], future: asyncio.Future[Any]) -> None:
        """Queue one visit. Raises HostBusy."""
        if not self._opened:
            self._main.submit(self.turn)
            self._opened = True
        self._visits.append((function, future))
        self._main.unpark(self.turn)

    async def close(self, error: BaseException | None) -> None:
        """End the turn. Its undo step is committed, or rolled back when there is an error."""
        if not self._opened:
            return
        if error is None:
            self._closing = True
            self._main.unpark(self.turn)
        else:
            self._main.cancel(self.turn)
        await self._ended

    def _serve(self) -> Generator[object, None, None]:
        while True:
            if self._visits:
                function, future = self._visits.popleft()
                if not future.cancelled():
                    self._visit(function, future)
            if self._visits:
                yield None
            elif self._closing:
                return
            else:
                yield PARK

    def _visit(self, function: Callable[[], Any], future: asyncio.Future[Any]) -> None:
        self._visited_on = get_ident()
        try:
            value = function()
        except BaseException as error:
            self._main.complete(settle, future, None, error)
        else:
            self._main.complete(settle, future, value, None)
        finally:
            self._visited_on = None

    def _done(self, value: Any, error: BaseException | None) -> None:
        def end() -> None:
            for _, future in self._visits:
                settle(future, None, error or CallCancelled("the call has ended"))
            settle(self._ended, None, None)

        self._main.complete(end)
