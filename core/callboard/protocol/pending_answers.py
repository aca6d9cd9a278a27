"""Requests that were sent, and the tasks that wait for their answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from callboard.content import Json
from callboard.errors import CallboardError
from callboard.protocol.jsonrpc import Id, Response

#: Maximum number of characters of an error's message that are kept.
MESSAGE_LIMIT = 2000


class _Waiting:
    def __init__(self, answer: asyncio.Future[Json], patience: float | None) -> None:
        self.answer = answer
        #: Seconds within which the answer must come, counted from the time when the request is
        #: sent.
        self.patience = patience
        self.clock: asyncio.TimerHandle | None = None


class PendingAnswers:
    """The pending answers, by the id of the request. Runs on one loop.

    ``who`` is the name of the answering side in messages, such as "the client". ``refused`` is
    raised when the answer is an error, ``lost`` when no answer will come.
    """

    def __init__(self, who: str, refused: type[CallboardError], lost: type[CallboardError]) -> None:
        self._who = who
        self._refused = refused
        self._lost = lost
        self._waiting: dict[Id, _Waiting] = {}
        #: The reason why no more answers can come, or None.
        self.closed: str | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    async def wait(self, id: Id, send: Callable[[], object], patience: float | None = None) -> Json:
        """Call ``send``, which sends the request ``id``, and wait for its answer. If ``patience``
        is given, wait at most that many seconds after :meth:`sent`. Raises the errors of
        ``send``."""
        if self.closed is not None:
            raise self._lost(self.closed)
        waiting = _Waiting(asyncio.get_running_loop().create_future(), patience)
        self._waiting[id] = waiting
        try:
            send()
            return await waiting.answer
        finally:
            del self._waiting[id]
            if waiting.clock is not None:
                waiting.clock.cancel()

    def sent(self, id: Id) -> None:
        """Start the timeout of a request that has been sent."""
        waiting = self._waiting.get(id)
        if waiting is not None and waiting.patience is not None and waiting.clock is None:
            loop = asyncio.get_running_loop()
            waiting.clock = loop.call_later(waiting.patience, self._give_up, id)

    def _give_up(self, id: Id) -> None:
        self.fail(id, self._lost(f"{self._who} did not answer"))

    def take(self, response: Response) -> None:
        """Handle an answer. An answer that no open request is waiting for, such as a second answer
        to the same request, is dropped."""
        waiting = self._waiting.get(response.id)
        if waiting is None or waiting.answer.done():
            return
        if response.result is not None:
            waiting.answer.set_result(response.result)
            return
        error = response.error or {}
        data = error.get("data")
        waiting.answer.set_exception(
            self._refused(
                str(error.get("message", ""))[:MESSAGE_LIMIT],
                code=error.get("code"),
                data=data if isinstance(data, dict) else None,
            )
        )

    def fail(self, id: Id, error: Exception) -> None:
        """End the wait for one answer by raising ``error``."""
        waiting = self._waiting.get(id)
        if waiting is not None and not waiting.answer.done():
            waiting.answer.set_exception(error)

    def close(self, why: str) -> None:
        """Fail all waits with ``why``, because no more answers will come."""
        self.closed = why
        for id in list(self._waiting):
            self.fail(id, self._lost(why))
