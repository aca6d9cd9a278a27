"""A process for each workspace of a bundle whose server keeps sessions.

Such a server supports only one set of roots, and its questions don't say which call they are for.
Clients of one workspace share a process. The first process is for the host's own roots.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol
from weakref import WeakSet

from callboard.bundles.files.workspaces import Workspaces
from callboard.bundles.running.caller import Caller
from callboard.bundles.running.errors import BundleError
from callboard.content import Json
from callboard.protocol.peer import Peer
from callboard.workspace.containment import WorkspaceRoots

#: Maximum number of processes of one bundle besides its first.
MAX_PROCESSES = 8
#: Seconds for which an unused process is kept.
IDLE = 300.0


class WorkspaceServer(Protocol):
    """One process, kept running."""

    @property
    def name(self) -> str:
        """The bundle's name."""

    @property
    def workspace(self) -> str:
        """The workspace of the roots that the process sees outside calls."""

    async def roots_changed(self) -> bool:
        """Notify the process of changed roots. Return whether it uses the new ones now."""

    async def perform(self, caller: Caller, method: str, params: Json) -> Json:
        """Send a request to the process."""

    async def close(self) -> None:
        """End the process."""


@dataclass(eq=False)
class WorkspaceProcess:
    """One process. ``busy`` counts its running calls, and ``peers`` contains its callers so far.
    ``moved`` is true when the process must still be notified of changed roots, and ``moving`` is
    locked while that happens."""

    roots: WorkspaceRoots
    server: WorkspaceServer = field(init=False)
    peers: WeakSet[Peer] = field(default_factory=WeakSet)
    busy: int = 0
    moved: bool = False
    moving: asyncio.Lock = field(default_factory=asyncio.Lock)
    ending: asyncio.TimerHandle | None = None


class WorkspaceProcesses:
    """The processes of one bundle, by workspace. Use it on the loop."""

    def __init__(
        self,
        first: WorkspaceServer,
        make: Callable[[Callable[[], WorkspaceRoots]], WorkspaceServer],
        workspaces: Workspaces,
    ) -> None:
        """``make`` starts a process with the given roots."""
        self._first = first
        self._make = make
        self._workspaces = workspaces
        self._processes: dict[str, WorkspaceProcess] = {}
        self._closing: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def worker(self, caller: Caller) -> AsyncIterator[WorkspaceServer]:
        """Yield the process for a call until the call ends. Raises BundleError when the maximum
        number of workspaces is in use."""
        name = self._workspaces.name(caller.roots)
        if name == self._first.workspace:
            yield self._first
            return
        worker = self._find(name, caller)
        worker.busy += 1
        worker.peers.add(caller.call.request.peer)
        if worker.ending is not None:
            worker.ending.cancel()
        try:
            async with worker.moving:
                if worker.moved:
                    await self._move(worker)
            yield worker.server
        finally:
            worker.busy -= 1
            if not worker.busy:
                loop = asyncio.get_running_loop()
                worker.ending = loop.call_later(IDLE, self._end, worker)

    async def _move(self, worker: WorkspaceProcess) -> None:
        """Make sure that a process uses its new roots before it is called. If it reads them too
        late or never, a new process replaces it."""
        if not await worker.server.roots_changed():
            before, worker.server = worker.server, self._make(lambda: worker.roots)
            self._close(before)
        worker.moved = False

    def _find(self, name: str, caller: Caller) -> WorkspaceProcess:
        if name in self._processes:
            return self._processes[name]
        roots = caller.roots or WorkspaceRoots()
        peer = caller.call.request.peer
        for before, worker in self._processes.items():
            # The process's only client has moved to another workspace, and keeps the process.
            if not worker.busy and peer.features.sessions and set(worker.peers) == {peer}:
                worker.roots, worker.moved = roots, True
                self._processes[name] = self._processes.pop(before)
                return worker
        if len(self._processes) >= MAX_PROCESSES:
            self._make_room()
        worker = WorkspaceProcess(roots)
        worker.server = self._make(lambda: worker.roots)
        self._processes[name] = worker
        return worker

    def _make_room(self) -> None:
        idle = [worker for worker in self._processes.values() if not worker.busy]
        if not idle:
            raise BundleError(
                f"bundle '{self._first.name}' is working for {MAX_PROCESSES} other workspaces; "
                "call again later"
            )
        self._end(min(idle, key=lambda worker: worker.ending.when() if worker.ending else 0.0))

    def _end(self, worker: WorkspaceProcess) -> None:
        if worker.busy:
            return
        self._processes = {name: one for name, one in self._processes.items() if one is not worker}
        if worker.ending is not None:
            worker.ending.cancel()
        self._close(worker.server)

    def _close(self, server: WorkspaceServer) -> None:
        task = asyncio.get_running_loop().create_task(server.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """End every process but the first."""
        workers, self._processes = list(self._processes.values()), {}
        for worker in workers:
            if worker.ending is not None:
                worker.ending.cancel()
        await asyncio.gather(*(worker.server.close() for worker in workers), *self._closing)
