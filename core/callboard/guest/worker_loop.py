"""An asyncio loop whose threads don't delay the exit of the process."""

from __future__ import annotations

import asyncio
import selectors
import subprocess
import sys
import weakref
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, TypeVar

from callboard.guest.workers import Workers

T = TypeVar("T")

#: The number of threads for our own work that may take a while: reading files, starting programs.
LOOP_WORKERS = 8
#: Seconds that tasks are given to finish when the loop is closed.
END_PATIENCE = 2.0


class WorkerLoop(asyncio.SelectorEventLoop):
    """A loop whose default executor is ``workers``. A network drive that is gone may block one of
    its threads forever."""

    #: True to wait for started programs in threads, because this loop waits for sockets and can't
    #: wait for pipes.
    threaded_programs = sys.platform == "win32"

    def __init__(self, selector: selectors.BaseSelector) -> None:
        super().__init__(selector)
        self.workers = Workers(LOOP_WORKERS, "callboard-loop")
        self._made: weakref.WeakSet[asyncio.Task[Any]] = weakref.WeakSet()

    if sys.version_info >= (3, 14):

        def create_task(self, coro: Any, **options: Any) -> asyncio.Task[Any]:
            # asyncio.all_tasks() loses tasks made by a thread that has ended, such as all tasks
            # that the watcher made while it stood in.
            task = super().create_task(coro, **options)
            self._made.add(task)
            return task

    def run_in_executor(  # type: ignore[override]
        self, executor: Executor | None, func: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        return super().run_in_executor(executor or self.workers, func, *args)

    async def subprocess_exec(  # type: ignore[override]
        self,
        protocol_factory: Callable[[], asyncio.SubprocessProtocol],
        *command: Any,
        **options: Any,
    ) -> tuple[asyncio.SubprocessTransport, asyncio.SubprocessProtocol]:
        if not self.threaded_programs:
            return await super().subprocess_exec(protocol_factory, *command, **options)
        return self._program(protocol_factory, list(command), options)

    async def subprocess_shell(  # type: ignore[override]
        self,
        protocol_factory: Callable[[], asyncio.SubprocessProtocol],
        command: Any,
        **options: Any,
    ) -> tuple[asyncio.SubprocessTransport, asyncio.SubprocessProtocol]:
        if not self.threaded_programs:
            return await super().subprocess_shell(protocol_factory, command, **options)
        return self._program(protocol_factory, command, {**options, "shell": True})

    def _program(
        self,
        protocol_factory: Callable[[], asyncio.SubprocessProtocol],
        command: Any,
        options: dict[str, Any],
    ) -> tuple[asyncio.SubprocessTransport, asyncio.SubprocessProtocol]:
        from callboard.guest.threaded_process import ThreadedProcess  # Few tools start programs.

        for pipe in ("stdin", "stdout", "stderr"):
            options.setdefault(pipe, subprocess.PIPE)
        protocol = protocol_factory()
        return ThreadedProcess(self, protocol, command, **options), protocol

    async def finish(self) -> None:
        """Cancel the remaining tasks. Nothing waits for tasks that ignore the cancellation."""
        tasks = asyncio.all_tasks() | {task for task in self._made if not task.done()}
        tasks -= {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=END_PATIENCE)
        await self.shutdown_asyncgens()
        self.workers.shutdown(cancel_futures=True)
