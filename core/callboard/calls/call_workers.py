"""The threads for tools that don't need the main thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from callboard.calls.tools import Tool
from callboard.content import Json
from callboard.errors import HostOffline
from callboard.guest.workers import Workers

T = TypeVar("T")

#: Threads for tools with ``affinity: any``, for our own tools, and for checking paths. If the
#: threads of one kind are stuck, the others still run.
WORKERS, OWN_WORKERS, PATH_WORKERS = 4, 2, 2
#: Seconds that a call waits for a thread before it is considered starved.
STARVED = 5.0


class CallWorkers:
    """The worker threads. Use it on the server's loop, except :meth:`close`."""

    def __init__(self, starved: float = STARVED) -> None:
        """``starved`` is how long a call waits, in seconds, before :meth:`starving` reports it."""
        self._starved = starved
        self._tools = Workers(WORKERS, "callboard-worker")
        self._ours = Workers(OWN_WORKERS, "callboard-own")
        self._paths = Workers(PATH_WORKERS, "callboard-paths")
        self._names: dict[Future[Any], str] = {}
        self._closed = False

    async def run(self, tool: Tool, function: Callable[..., T], *args: Any) -> T:
        """Run ``function`` on a thread for this tool and return its result. If the call is
        abandoned, a new thread replaces the thread that may be stuck."""
        return await self._run(self._ours if tool.ours else self._tools, tool, function, *args)

    async def run_on_paths(self, tool: Tool, function: Callable[..., T], *args: Any) -> T:
        """Like :meth:`run`, but on the threads for paths, because a network drive may be slow."""
        return await self._run(self._paths, tool, function, *args)

    async def _run(self, workers: Workers, tool: Tool, function: Callable[..., T], *args: Any) -> T:
        if self._closed:
            raise HostOffline(
                "callboard is shutting down; the call did not begin, and nothing was changed"
            )
        future = workers.submit(function, *args)
        self._names[future] = tool.name
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            workers.abandon(future)
            raise
        finally:
            del self._names[future]

    def starving(self) -> Json | None:
        """Return ``{waited_ms, running}`` if calls have been waiting for a thread for a long time,
        or None. ``running`` lists the tools that are using the threads."""
        waited = max(self._tools.waited(), self._ours.waited(), self._paths.waited())
        if waited < self._starved:
            return None
        running = sorted({name for future, name in self._names.items() if future.running()})
        return {"waited_ms": round(waited * 1000), "running": running}

    def close(self) -> None:
        """Don't start any more work. Call it from any thread."""
        self._closed = True
        for workers in (self._tools, self._ours, self._paths):
            workers.shutdown(cancel_futures=True)
