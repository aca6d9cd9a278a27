"""One call to one tool: the client that made it, the roots it may see, and how the call ends. This
module also lists all running calls, and stops them for the artist."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
from collections.abc import Callable
from time import perf_counter
from types import TracebackType
from typing import Any, Protocol

from callboard.calls.capabilities import Capabilities
from callboard.calls.invisible import shown
from callboard.calls.output import capturing
from callboard.calls.recent_log import caller, trace
from callboard.calls.tools import Tool
from callboard.calls.undo_step import UndoStep
from callboard.changes import Changes
from callboard.content import Json
from callboard.errors import CallboardError, CallCancelled, HostOffline, Paused, RefusedByArtist
from callboard.ports.host import Host
from callboard.protocol.logging_levels import wants
from callboard.protocol.peer import PeerRequest
from callboard.workspace.containment import WorkspaceRoots

_ID = re.compile(r"([0-9a-f]{8})[0-9a-f]{24}")

#: Maximum seconds for which a stopping server waits for its calls to answer.
_TO_HEAR = 1.0


class CallServer(Protocol):
    """The part of the dispatcher that a call needs."""

    host: Host
    capabilities: Capabilities
    on_loop: Callable[..., Any]
    activity: Changes[[]]
    platform: Callable[[Call], Any]
    resource_updated: Changes[[str]]

    def new_id(self) -> str: ...


class Call:
    """The state of a call, from its arguments to its answer. It changes only on the server's loop,
    except for ``changes_begun``, ``state`` and the undo step's records, which the tool's thread
    writes."""

    def __init__(
        self, tool: Tool, arguments: Json, request: PeerRequest, server: CallServer
    ) -> None:
        self.id = server.new_id()
        self.tool = tool
        self.arguments = arguments
        self.request = request
        self.host = server.host
        self.capabilities = server.capabilities
        #: The host's offer when the call was admitted. The tool gets its ports from this
        #: offer.
        self.offer = self.capabilities.offer
        self.on_loop = server.on_loop
        self._activity = server.activity
        self.find_platform = server.platform
        self.resource_updated = server.resource_updated
        self.result: Json | None = None
        #: Makes the call's result from the value that the tool returned.
        self.shape: Callable[[Any], Any] = lambda value: value
        #: The client's answers so far, by the question's key.
        self.answers: dict[str, Any] = {}
        self.roots: WorkspaceRoots | None = None
        #: The time limit in seconds that the arguments or the tool set, or None if neither does.
        self.time_limit: float | None = None
        self.started = perf_counter()
        self.queue_wait = 0.0
        self.main_seconds = 0.0
        #: The agent's reason for the call, when the server asks for one.
        self.intent: str | None = None
        #: ``asking`` the artist, ``waiting`` for a thread, or ``running``.
        self.state = "waiting"
        self.task: asyncio.Task[Any] | None = None
        #: The artist's action that the call is waiting for.
        self.held_by: str | None = None
        self.cancelled_by_artist = False
        #: True if the artist paused callboard before the call began.
        self.paused = False
        #: True when the call writes to a path that no root contains.
        self.leaves_roots = False
        #: done, total, message
        self.latest_progress: tuple[float | None, float | None, str | None] = (None, None, None)
        self.cancelled = False
        self.timed_out = False
        self.finished = False
        self.changes_begun = False
        #: True if a record of the call was saved before the call began.
        self.noted = False
        #: The error that replaces the answer if the call must be recorded but can't be.
        self.unrecorded: CallboardError | None = None
        self.undo: UndoStep | None = None
        self.main_coroutine: Any = None
        traced = self.trace
        self.context, self.output = capturing()
        self.context.run(caller.set, request.peer.owner)
        if traced:
            self.context.run(trace.set, traced)
        self._progress = float("-inf")
        #: True once the client has been notified that the call is waiting for the application.
        self._says_waiting = False

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
        """The roots that a tool receives as ``_workspace_roots``."""
        if self.roots is None or not self.tool.uses_files:
            return None
        return self.roots.for_writing() if self.tool.writes_files else self.roots

    @property
    def becomes(self) -> str:
        """A sentence that says what happens to the call when its time is up."""
        if self.tool.affinity == "any":
            if self.tool.has_entry and self.tool.entry.kind == "coroutine":
                return "It is ended."
            return "It keeps running in the background, and its late answer is dropped."
        return (
            "It is ended, and its changes are rolled back, as soon as its code can be "
            "interrupted; if it needs more time and accepts a limit, pass a longer one."
        )

    def send_progress(self, done: float, total: float | None, message: str | None) -> None:
        message = shown(message)
        self.latest_progress = (done, total, message)
        self._activity.tell()
        self._notify_progress(done, total, message)

    def _notify_progress(self, done: float, total: float | None, message: str | None) -> None:
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
        """Report the artist's action that the call is waiting for, or None once the wait is over.
        Call it on the main thread."""
        self.on_loop(self._wait_for, doing)

    def _wait_for(self, doing: str | None) -> None:
        self.held_by = doing
        told = (None, None, None) if doing is None else (0, None, _waiting(doing))
        self.latest_progress = told
        self._activity.tell()
        if doing is not None:
            self.say_waiting(doing)

    def say_waiting(self, doing: str) -> None:
        """Tell the client, once, what keeps the application busy while the call waits for it. Runs
        on the server's loop."""
        if self._says_waiting or self._progress >= 0:
            return
        self._says_waiting = True
        if "progressToken" in self.request.meta:
            self._notify_progress(0, None, _waiting(doing))
        else:
            self.send_log("info", _waiting(doing), {})

    def send_log(self, level: str, message: str, data: Json) -> None:
        if self.finished or not wants(self.request.peer, level):
            return
        body: Any = {"message": message, **data} if data else message
        params = {"level": level, "logger": self.tool.name, "data": body}
        self.request.notify("notifications/message", params)


def _waiting(doing: str) -> str:
    return f"waiting: busy with {shown(doing)}"


def server_of(id: str) -> str | None:
    """Return the part of a call's id that identifies its server, or None when ``id`` isn't a call's
    id."""
    match = _ID.fullmatch(id)
    return match[1] if match else None


class RunningCalls:
    """The calls that are running, waiting or asking now. Use it on the server's loop."""

    def __init__(self, where: str) -> None:
        """``where`` describes where the artist can pause and resume callboard."""
        self._where = where
        self._ids = secrets.token_hex(4)
        self.paused = False
        #: True once the server has stopped; its calls then end.
        self.closed = False
        #: The number of calls ended by the artist's Stop; reset when callboard resumes.
        self.stopped = 0
        #: The reason why the machine's policy has switched callboard off, or empty.
        self.switched_off = ""
        self.calls: dict[str, Call] = {}
        #: Called when a call whose tool was found ends, with the call and its result or error.
        self.ended: Changes[[Call, Json | None, BaseException | None]] = Changes()
        #: Called before a call's tool runs; raises CallboardError to refuse the call.
        self.begins: Callable[[Call], None] | None = None
        #: Like ``ended``, but only for calls to tools that may change the scene or files.
        self.changes_ended: Changes[[Call, Json | None, BaseException | None]] = Changes()
        #: Called when a call begins or progresses, and when callboard is paused or resumed.
        self.activity: Changes[[]] = Changes()

    def new_id(self) -> str:
        """Return an id for a call on this server."""
        return self._ids + os.urandom(12).hex()

    def made_here(self, id: str) -> bool:
        """Return whether ``id`` belongs to a call on this server, however old."""
        return server_of(id) == self._ids

    def pause(self) -> None:
        """Refuse new calls, and calls that are waiting to begin. Running calls finish."""
        self.paused = True
        for call in list(self.calls.values()):
            if call.state == "waiting" and call.task is not None:
                call.paused = True
                call.task.cancel()
        self.activity.tell()

    def stop(self) -> int:
        """Pause, and cancel every call that is running, waiting or asking. Return the number of
        cancelled calls."""
        self.pause()
        for call in list(self.calls.values()):
            if not call.paused:
                self.cancel(call.id)
        self.stopped = sum(not call.tool.internal for call in self.calls.values())
        return self.stopped

    def stop_client(self, holder: str) -> int:
        """Cancel one client's running, waiting and asking calls. The client's new calls are still
        accepted. ``holder`` is the name of the client's token. Return the number of cancelled
        calls."""
        theirs = [one for one in self.calls.values() if one.request.peer.holder.name == holder]
        for call in theirs:
            self.cancel(call.id)
        return sum(not call.tool.internal for call in theirs)

    def end_running(self) -> list[Call]:
        """Cancel every call that has begun, on the artist's behalf. Waiting calls may still begin.
        Return the cancelled calls."""
        begun = [one for one in self.calls.values() if one.state == "running"]
        ended = [one for one in begun if not one.tool.internal]
        for call in ended:
            self.cancel(call.id)
        return ended

    def resume(self) -> None:
        """Accept calls again."""
        self.paused, self.stopped = False, 0
        self.activity.tell()

    def cancel(self, id: str) -> None:
        """End a call on the artist's behalf. Its client is notified that the call was cancelled."""
        call = self.calls.get(id)
        if call is not None and call.task is not None:
            call.cancelled_by_artist = True
            call.task.cancel()

    async def switch_off(self, why: str) -> None:
        """Refuse every call for this reason, and end the calls that are under way. With an empty
        reason, accept calls again."""
        self.switched_off = why
        if why:
            await self.end_all()
        self.activity.tell()

    def require_on(self) -> None:
        """Raise HostOffline while callboard is switched off by the machine's policy."""
        if self.switched_off:
            raise HostOffline(self.switched_off)

    def require_going(self) -> None:
        """Raise Paused while callboard is paused by the artist."""
        if self.paused:
            raise Paused(
                "the artist paused callboard; ask the artist to resume it, in "
                f"{self._where}, then call again"
            )

    async def end_all(self) -> None:
        """End every call because the server is stopping, and notify their clients."""
        tasks = {call.task for call in self.calls.values() if call.task is not None}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_TO_HEAR)

    def _ended_by(self, call: Call, error: BaseException | None) -> CallboardError | None:
        """Return the error for a call that was ended by the artist or the server's shutdown, or
        None."""
        if self.closed and isinstance(error, (asyncio.CancelledError, CallCancelled)):
            return HostOffline(_closing(call))
        if not isinstance(error, asyncio.CancelledError):
            return None
        if self.switched_off:
            return HostOffline(self.switched_off)
        if call.paused:
            return Paused(
                f"the artist paused callboard before {call.tool.name} began; nothing was "
                f"changed. Ask the artist to resume it, in {self._where}, then call again"
            )
        if call.cancelled_by_artist:
            return RefusedByArtist(
                f"the artist cancelled {call.tool.name}; ask before you call it again"
            )
        return None

    def _counted(self, call: Call) -> _Counted:
        return _Counted(self, call)


def _closing(call: Call) -> str:
    """Return the message for a call that was ended because the server stopped."""
    name, again = call.tool.name, "call again once the application is open"
    if call.state != "running":
        return f"the application is closing, so {name} did not begin: nothing was changed; {again}"
    if call.tool.reads_only:
        return f"the application is closing, so {name} was ended; {again}"
    return (
        f"the application is closing, so {name} was ended; it may have changed something, so "
        "look at the scene before you call again, once the application is open"
    )


class _Counted:
    """The context manager around a running call. A generator would cost more than everything that
    this class does."""

    def __init__(self, running: RunningCalls, call: Call) -> None:
        self._running = running
        self._call = call

    def __enter__(self) -> Call:
        call = self._call
        self._running.calls[call.id] = call
        call.task = asyncio.current_task()
        return call

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        call = self._call
        call.finished = True
        del self._running.calls[call.id]
        ended_by = self._running._ended_by(call, error)
        if call.tool.mutates or call.tool.writes_files:
            self._running.changes_ended.tell(call, call.result, ended_by or error)
        self._running.ended.tell(call, call.result, ended_by or error)
        if ended_by is not None:
            raise ended_by from None
        if call.unrecorded is not None:
            raise call.unrecorded
