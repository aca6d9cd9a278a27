"""One call of one tool: who asked, what it may see, how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import perf_counter
from typing import Any, Protocol

from callboard.calls.capabilities import Capabilities
from callboard.calls.invisible import shown
from callboard.calls.output import capturing
from callboard.calls.recent_log import caller, trace
from callboard.calls.tools import Tool
from callboard.calls.undo_step import UndoStep
from callboard.changes import Changes
from callboard.content import Json
from callboard.ports.contract import Host
from callboard.protocol.logging_levels import wants
from callboard.protocol.peer import PeerRequest
from callboard.workspace.containment import WorkspaceRoots


class CallServer(Protocol):
    """What a call needs of the dispatcher."""

    host: Host
    capabilities: Capabilities
    on_loop: Callable[..., Any]
    activity: Changes[[]]
    platform: Callable[[Call], Any]
    resource_updated: Changes[[str]]

    def new_id(self) -> str: ...


class Call:
    """State of a call, from the gate to the answer. Changed on the server's loop only, except
    ``changes_begun``, ``state`` and what the undo step notes, which the working thread writes."""

    def __init__(
        self, tool: Tool, arguments: Json, request: PeerRequest, server: CallServer
    ) -> None:
        self.id = server.new_id()
        self.tool = tool
        self.arguments = arguments
        self.request = request
        self.host = server.host
        self.capabilities = server.capabilities
        self.on_loop = server.on_loop
        self._activity = server.activity
        self.find_platform = server.platform
        self.resource_updated = server.resource_updated
        self.result: Json | None = None
        #: What becomes of the value that the tool returns, where the tool ran.
        self.shape: Callable[[Any], Any] = lambda value: value
        #: What the client answered so far, by the ask's key.
        self.answers: dict[str, Any] = {}
        self.roots: WorkspaceRoots | None = None
        self.started = perf_counter()
        self.queue_wait = 0.0
        self.main_seconds = 0.0
        #: Why the agent says it calls, where that is asked for.
        self.intent: str | None = None
        #: ``asking`` the artist, ``waiting`` for a thread, ``running``.
        self.state = "waiting"
        self.task: asyncio.Task[Any] | None = None
        #: What the artist does that it waits for.
        self.held_by: str | None = None
        self.cancelled_by_artist = False
        #: The artist paused before it began.
        self.paused = False
        #: Whether it writes to a path that no root holds.
        self.leaves_roots = False
        #: done, total, message
        self.latest_progress: tuple[float | None, float | None, str | None] = (None, None, None)
        self.cancelled = False
        self.timed_out = False
        self.finished = False
        self.changes_begun = False
        self.undo: UndoStep | None = None
        self.main_stay: Any = None
        traced = self.trace
        self.context, self.output = capturing()
        self.context.run(caller.set, request.peer.owner)
        if traced:
            self.context.run(trace.set, traced)
        self._progress = float("-inf")

    @property
    def trace(self) -> dict[str, str]:
        """W3C trace context of the request (2026-07-28: bare keys in ``_meta``)."""
        meta = self.request.meta
        if not meta:
            return {}
        keys = ("traceparent", "tracestate", "baggage")
        return {key: meta[key] for key in keys if isinstance(meta.get(key), str)}

    @property
    def visible_roots(self) -> WorkspaceRoots | None:
        """What a tool is handed as ``_workspace_roots``."""
        if self.roots is None or not self.tool.uses_files:
            return None
        return self.roots.for_writing() if self.tool.writes_files else self.roots

    def send_progress(self, done: float, total: float | None, message: str | None) -> None:
        message = shown(message)
        self.latest_progress = (done, total, message)
        self._activity.tell()
        token = self.request.meta.get("progressToken")
        if token is None or self.finished or done <= self._progress:
            return
        self._progress = done
        params: Json = {"progressToken": token, "progress": done}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        self.request.notify("notifications/progress", params)

    def hold(self, doing: str | None) -> None:
        """Says what its turn waits for; None: for nothing any more. Main thread."""
        self.on_loop(self._wait_for, doing)

    def _wait_for(self, doing: str | None) -> None:
        self.held_by = doing
        if doing is not None:
            self.send_progress(0, None, f"waiting: busy with {doing}")
        else:
            self.latest_progress = (None, None, None)
            self._activity.tell()

    def send_log(self, level: str, message: str, data: Json) -> None:
        if self.finished or not wants(self.request, level):
            return
        body: Any = {"message": message, **data} if data else message
        params = {"level": level, "logger": self.tool.name, "data": body}
        self.request.notify("notifications/message", params)
