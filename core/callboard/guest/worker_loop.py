"""An asyncio loop whose threads hold up no exit."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, TypeVar

from callboard.guest.workers import Workers

T = TypeVar("T")

#: Threads for what is ours and may take long: reading files, starting programs.
LOOP_WORKERS = 8
#: Seconds that tasks get to end when the loop is closed.
END_PATIENCE = 2.0


class WorkerLoop(asyncio.SelectorEventLoop):
    """What is given to no executor in particular runs in ``workers``: a network drive that is gone
    may hold a thread for ever."""

    def __init__(self, selector: selectors.BaseSelector) -> None:
        super().__init__(selector)
        self.workers = Workers(LOOP_WORKERS, "callboard-loop")

    def run_in_executor(  # type: ignore[override]
        self, executor: Executor | None, func: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        return super().run_in_executor(executor or self.workers, func, *args)

    async def finish(self) -> None:
        """Cancels what is still there. One that takes no for an answer isn't waited for."""
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=END_PATIENCE)
        await self.shutdown_asyncgens()
        self.workers.shutdown(cancel_futures=True)
