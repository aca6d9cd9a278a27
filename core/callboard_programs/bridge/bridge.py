"""Answers a bridge's client through a host, or on its own if no host is running."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from callboard.clients.kept_tokens import read_token
from callboard.content import Json
from callboard.errors import CallboardError, HostOffline, PeerError
from callboard.ground.machine_policy import SettingsError
from callboard.protocol import jsonrpc
from callboard.protocol.jsonrpc import Id, Invalid, Notification, Request, Response
from callboard.protocol.session import INFLIGHT_LIMIT
from callboard.protocol.stateless import is_stateless
from callboard.settings import why_off
from callboard.transport.http.mcp import BATCH_LIMIT
from callboard.transport.instances import Instance
from callboard_programs.bridge.stdio_lines import LINE_LIMIT
from callboard_programs.client.http_client import CANCELLED
from callboard_programs.relay.finder import Finder
from callboard_programs.relay.host_side import HostSide
from callboard_programs.relay.offline import CALLS
from callboard_programs.relay.reconnect import own_token

#: Seconds allowed for finishing requests once the client's input has ended.
_LAST_ANSWERS = 1.0

LISTEN = "subscriptions/listen"

#: Input lines: bytes for a line, None for a line that was too long, EOFError at the end.
Lines = asyncio.Queue[bytes | EOFError | None]


@dataclass(eq=False)
class RequestInProgress:
    """A request that hasn't been answered yet."""

    request: Request
    task: asyncio.Task[Json | None]


class Bridge:
    """Answers one client. Use it on one loop. ``write`` takes a message, or a batch of responses.
    ``client`` names the client whose token is presented. If it is None, the host's own token is
    presented."""

    def __init__(
        self,
        finder: Finder,
        write: Callable[[Json | list[Json]], object],
        client: str | None = None,
    ) -> None:
        self._write = write

        def present(instance: Instance) -> str | None:
            return own_token(instance) if client is None else read_token(client)

        self._side = HostSide(finder, self, present)
        self._under_way: dict[Id, RequestInProgress] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    async def run(self, lines: Lines) -> None:
        """Serve until the lines end."""
        self._start(self._side.run())
        while not isinstance(line := await lines.get(), EOFError):
            if line is None:
                self._refuse(None, PeerError(f"a line must have at most {LINE_LIMIT} bytes"))
            elif line.strip():
                await self._take(line)
        last = [u.task for u in self._under_way.values() if u.request.method != LISTEN]
        if last:
            await asyncio.wait(last, timeout=_LAST_ANSWERS)
        await self._side.end()
        for task in list(self._tasks):
            task.cancel()

    def send(self, message: Json) -> bool:
        """Write a message to the client."""
        self._write(message)
        return True

    # -- messages from the client ---------------------------------------------------------------

    async def _take(self, line: bytes) -> None:
        try:
            value = jsonrpc.decode(line)
        except CallboardError as error:
            self._refuse(None, error)
            return
        if isinstance(value, list):
            self._take_batch(value)
            return
        message = jsonrpc.parse(value)
        if isinstance(message, Request):
            task = self._begin(message)
            task.add_done_callback(self._answer_with)
            if message.method == "initialize":
                # Later messages belong to the session that this one opens.
                await asyncio.wait([task])
        elif isinstance(message, Invalid):
            self._refuse(message.id, message.error)
        else:
            await self._receive(message)

    def _take_batch(self, values: list[Any]) -> None:
        client = self._side.client
        if client is None or not client.session.features.batches:
            self._refuse(
                None,
                PeerError("this protocol revision has no batches; send each message on its own"),
            )
        elif not 0 < len(values) <= BATCH_LIMIT:
            self._refuse(None, PeerError(f"a batch must have 1 to {BATCH_LIMIT} messages"))
        else:
            self._start(self._answer_batch(values))

    async def _answer_batch(self, values: list[Any]) -> None:
        answers = []
        responses = []
        for value in values:
            message = jsonrpc.parse(value)
            if isinstance(message, Request):
                answers.append(self._begin(message))
            elif isinstance(message, Invalid):
                responses.append(_error(message.id, message.error))
            else:
                await self._receive(message)
        for answer in await asyncio.gather(*answers, return_exceptions=True):
            if isinstance(answer, dict):
                responses.append(answer)
        if responses:
            self._write(responses)

    def _begin(self, request: Request) -> asyncio.Task[Json | None]:
        if request.id in self._under_way:
            busy = PeerError(
                f"a request with the id {request.id!r} is still under way; use another id"
            )
            return self._start(_refused(request, busy))
        if len(self._under_way) >= INFLIGHT_LIMIT:
            busy = PeerError(f"{INFLIGHT_LIMIT} requests are under way; wait for an answer")
            return self._start(_refused(request, busy))
        task = self._start(self._answer(request))
        self._under_way[request.id] = RequestInProgress(request, task)
        task.add_done_callback(lambda done: self._under_way.pop(request.id, None))
        return task

    def _answer_with(self, task: asyncio.Task[Json | None]) -> None:
        if not task.cancelled() and (response := task.result()) is not None:
            self.send(response)

    def _refuse(self, id: Id | None, error: CallboardError) -> None:
        self.send(_error(id, error))

    async def _receive(self, message: Notification | Response) -> None:
        if isinstance(message, Notification) and message.method == CANCELLED:
            id = message.params.get("requestId")
            under_way = self._under_way.get(id) if jsonrpc.is_id(id) else None
            if under_way is not None and _is_stateless(under_way.request):
                under_way.task.cancel()
                return
        await self._side.receive(message)

    async def _answer(self, request: Request) -> Json | None:
        if request.method in CALLS and (why := _why_off()):
            return _error(request.id, HostOffline(why))
        if _is_stateless(request):
            return (await self._side.answer_stateless(request, self))[1]
        if request.method == "initialize":
            return await self._side.initialize(request)
        return await self._side.answer(request, self)

    def _start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _is_stateless(request: Request) -> bool:
    return request.method == "server/discover" or is_stateless(request, {})


def _why_off() -> str | None:
    try:
        return why_off()
    except SettingsError as error:
        return error.message


async def _refused(request: Request, error: CallboardError) -> Json:
    return _error(request.id, error)


def _error(id: Id | None, error: CallboardError) -> Json:
    message = jsonrpc.error_message(id, error)
    if id is None:
        message.pop("id", None)  # In MCP, an error's id is never null.
    return message
