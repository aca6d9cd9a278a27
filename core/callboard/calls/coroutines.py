"""Runs coroutine tools on the server's loop, with visits to the main thread."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import partial
from typing import Any, TypeVar

from callboard.calls.call import Call
from callboard.calls.context import AsyncToolContext
from callboard.calls.main_thread_coroutine import MainThreadCoroutine
from callboard.calls.outcomes import ToolExited, finished_later
from callboard.errors import CallCancelled
from callboard.guest.main_thread import MainThread

T = TypeVar("T")


class Coroutines:
    """The running coroutines. Use it on the server's loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, main: MainThread) -> None:
        self._loop = loop
        self._main = main
        self._tasks: set[asyncio.Task[Any]] = set()

    async def run(self, call: Call) -> Any:
        """Return the tool's value, or raise its error. Its visits to the main thread become one
        undo step if the host can join them."""
        call.state = "running"
        tool, entry = call.tool, call.tool.entry
        stay = MainThreadCoroutine(self._main, tool.name, call.context, call.undo, tool.work, call)
        stay.turn.owner = call.request.peer.owner
        call.main_coroutine = stay
        extra: dict[str, Any] = {}
        if entry.takes_ctx:
            extra["ctx"] = AsyncToolContext(call)
        extra.update(entry.roots(call.visible_roots))
        # The task inherits the context in which it is created, so that its prints belong to the
        # call.
        task = call.context.run(
            lambda: self._start(
                finished_later(partial(entry.function, **call.arguments, **extra), call.shape)
            )
        )
        try:
            # The task isn't awaited directly, because a coroutine that ignores its cancellation
            # must not delay the answer.
            await asyncio.wait([task])
        except asyncio.CancelledError as cancelled:
            task.cancel()
            self._start(stay.close(cancelled))
            raise
        error = CallCancelled("cancelled itself") if task.cancelled() else task.exception()
        await asyncio.shield(self._start(stay.close(error)))
        call.main_seconds += stay.turn.main_seconds
        if task.cancelled():
            raise ToolExited(f"{tool.name} raised CancelledError")
        return task.result()

    def _start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        # The loop keeps only weak references, so a task without a strong reference may vanish.
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # The caller already has the error. This marks it as retrieved.
