"""A process for each workspace of a bundle whose server keeps sessions.

Such a server knows one set of roots, and doesn't say which call it asks for. Clients of one
workspace share a process. The first process is for the host's own roots.
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

#: Most processes of one bundle besides its first.
MAX_LANES = 8
#: Seconds for which an unused one is kept.
IDLE = 300.0


class WorkspaceServer(Protocol):
    """One process, kept running."""

    @property
    def name(self) -> str:
        """The bundle's name."""

    @property
    def workspace(self) -> str:
        """The workspace of the roots that it sees outside calls."""

    async def roots_changed(self) -> bool:
        """Notify it of changed roots. Return whether it uses the new ones now."""

    async def perform(self, caller: Caller, method: str, params: Json) -> Json:
        """Send a request to it."""

    async def close(self) -> None:
        """End it."""


@dataclass(eq=False)
class WorkspaceProcess:
    """One process. ``busy`` counts its running calls, ``peers`` are its callers so far. ``moved``
    is true when it must be notified of other roots, and ``moving`` is locked meanwhile."""

    roots: WorkspaceRoots
    server: WorkspaceServer = field(init=False)
    peers: WeakSet[Peer] = field(default_factory=WeakSet)
    busy: int = 0
    moved: bool = False
    moving: asyncio.Lock = field(default_factory=asyncio.Lock)
    ending: asyncio.TimerHandle | None = None


class WorkspaceProcesses:
    """The processes of one bundle, by workspace. Used on the loop."""

    def __init__(
        self,
        first: WorkspaceServer,
        make: Callable[[Callable[[], WorkspaceRoots]], WorkspaceServer],
        workspaces: Workspaces,
    ) -> None:
        """``make`` starts a process with these roots."""
        self._first = first
        self._make = make
        self._workspaces = workspaces
        self._lanes: dict[str, WorkspaceProcess] = {}
        self._closing: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def lane(self, caller: Caller) -> AsyncIterator[WorkspaceServer]:
        """Return the process for a call, as long as the call takes. Raises BundleError when the
        maximum of workspaces is in use."""
        name = self._workspaces.name(caller.roots)
        if name == self._first.workspace:
            yield self._first
            return
        lane = self._find(name, caller)
        lane.busy += 1
        lane.peers.add(caller.call.request.peer)
        if lane.ending is not None:
            lane.ending.cancel()
        try:
            async with lane.moving:
                if lane.moved:
                    await self._move(lane)
            yield lane.server
        finally:
            lane.busy -= 1
            if not lane.busy:
                loop = asyncio.get_running_loop()
                lane.ending = loop.call_later(IDLE, self._end, lane)

    async def _move(self, lane: WorkspaceProcess) -> None:
        """Keep calls from a process that still uses its former roots: when it is late, or never
        reads them again, a new one replaces it."""
        if not await lane.server.roots_changed():
            before, lane.server = lane.server, self._make(lambda: lane.roots)
            self._close(before)
        lane.moved = False

    def _find(self, name: str, caller: Caller) -> WorkspaceProcess:
        if name in self._lanes:
            return self._lanes[name]
        roots = caller.roots or WorkspaceRoots()
        peer = caller.call.request.peer
        for before, lane in self._lanes.items():
            # The only client went to another workspace, and takes the process along.
            if not lane.busy and peer.features.sessions and set(lane.peers) == {peer}:
                lane.roots, lane.moved = roots, True
                self._lanes[name] = self._lanes.pop(before)
                return lane
        if len(self._lanes) >= MAX_LANES:
            self._make_room()
        lane = WorkspaceProcess(roots)
        lane.server = self._make(lambda: lane.roots)
        self._lanes[name] = lane
        return lane

    def _make_room(self) -> None:
        idle = [lane for lane in self._lanes.values() if not lane.busy]
        if not idle:
            raise BundleError(
                f"bundle '{self._first.name}' is working for {MAX_LANES} other workspaces; call "
                "again later"
            )
        self._end(min(idle, key=lambda lane: lane.ending.when() if lane.ending else 0.0))

    def _end(self, lane: WorkspaceProcess) -> None:
        if lane.busy:
            return
        self._lanes = {name: one for name, one in self._lanes.items() if one is not lane}
        if lane.ending is not None:
            lane.ending.cancel()
        self._close(lane.server)

    def _close(self, server: WorkspaceServer) -> None:
        task = asyncio.get_running_loop().create_task(server.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """End every process but the first."""
        lanes, self._lanes = list(self._lanes.values()), {}
        for lane in lanes:
            if lane.ending is not None:
                lane.ending.cancel()
        await asyncio.gather(*(lane.server.close() for lane in lanes), *self._closing)
