"""Runs a whole farm on this machine, with a scheduler in this process and a supervisor process for
each host."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from importlib.util import find_spec
from typing import Any

from callboard.errors import HostError
from callboard.mapping.host_process import HostLost, HostProcess
from callboard_programs.farm.security import quiet

#: Dask's settings. A worker may block its interpreter for minutes, and supervisors end workers that
#: are stuck. The client decides what happens to a lost host's tasks.
SCHEDULING = {
    "distributed.scheduler.worker-ttl": None,
    "distributed.scheduler.allowed-failures": 0,
    "distributed.admin.tick.limit": "1h",
}


class LocalScheduler:
    """Runs Dask's scheduler on a separate thread. Use it as a context manager."""

    def __init__(self, host: str, port: int, security: Any, secure: bool) -> None:
        self._where = {"host": host, "port": port, "protocol": "tls" if secure else "tcp"}
        self._security = security
        self._started: Future[tuple[str, str]] = Future()
        self._thread = threading.Thread(target=self._run, name="callboard-scheduler", daemon=True)

    def __enter__(self) -> LocalScheduler:
        """Start the scheduler. Raises HostError when it can't listen, for example because the port
        is taken."""
        self._thread.start()
        try:
            self.address, self.dashboard = self._started.result()
        except OSError as error:
            raise HostError(
                f"the scheduler can't listen: {error}; give another --port or --listen"
            ) from None
        return self

    def __exit__(self, *error: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            if self._started.done():
                raise
            self._started.set_exception(error)

    async def _serve(self) -> None:
        import dask
        from distributed import Scheduler

        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        quiet()
        with dask.config.set(SCHEDULING):
            scheduler = Scheduler(
                **self._where, security=self._security, dashboard_address="127.0.0.1:0"
            )
            async with scheduler:
                # Without bokeh, Dask serves only a plain page instead of its dashboard.
                page = "status" if find_spec("bokeh") else "info/main/workers.html"
                port = scheduler.http_server.port
                self._started.set_result((scheduler.address, f"http://127.0.0.1:{port}/{page}"))
                await self._over.wait()


class LocalSupervisors:
    """Runs supervisors, and restarts each one that ends without being asked to. Use it as a context
    manager."""

    def __init__(
        self, commands: Sequence[Sequence[str]], goodbye: float, reported: Callable[[str], None]
    ) -> None:
        """Each supervisor has ``goodbye`` seconds to end. ``reported`` receives a sentence about
        each supervisor that ended unasked."""
        self._commands, self._goodbye, self._reported = commands, goodbye, reported
        self._stopped = threading.Event()
        self._guard = threading.Lock()
        self._processes: set[HostProcess] = set()

    def __enter__(self) -> LocalSupervisors:
        """Wait until all hosts are ready. Raises HostLost when one doesn't start."""
        ready: list[Future[None]] = [Future() for _ in self._commands]
        self._threads = [
            threading.Thread(target=self._keep, args=pair)
            for pair in zip(self._commands, ready, strict=True)
        ]
        for thread in self._threads:
            thread.start()
        try:
            for started in ready:
                started.result()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._stopped.set()
        with self._guard:
            for process in self._processes:
                process.dismiss()
        for thread in self._threads:
            thread.join()

    def _keep(self, command: Sequence[str], ready: Future[None]) -> None:
        while not self._stopped.is_set():
            try:
                with HostProcess(command, self._goodbye) as process:
                    with self._guard:
                        self._processes.add(process)
                    if self._stopped.is_set():
                        process.dismiss()
                    process.ready()
                    if not ready.done():
                        ready.set_result(None)
                    while process.line() is not None:
                        continue
                    with self._guard:
                        self._processes.discard(process)
                    if not self._stopped.is_set():
                        self._reported(process.lost().message)
            except HostLost as error:
                if not ready.done():
                    ready.set_exception(error)
                    return
                if self._stopped.wait(1.0):
                    return
                self._reported(error.message)
