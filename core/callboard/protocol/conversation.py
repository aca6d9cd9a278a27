"""A client's conversation with a server, in which both sides may send requests."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from callboard.content import Json
from callboard.errors import CallboardBug, CallboardError, HostBusy, PeerError
from callboard.protocol import jsonrpc
from callboard.protocol.jsonrpc import Id, Notification, Request, Response
from callboard.protocol.pending_answers import PendingAnswers

log = logging.getLogger(__name__)

#: Maximum number of requests from one server that are open at once.
MAX_ASKED = 64


def _busy(method: str) -> CallboardError:
    return HostBusy(f"{MAX_ASKED} requests are open; wait for an answer")


class Unanswered(Exception):
    """Raised when a request from the server gets no answer, because its call is over."""


class Conversation:
    """The messages between this client and one server, without a transport. ``send`` sends a
    message; the transport passes incoming messages to :meth:`received`. ``asked`` answers the
    server's requests, and ``notified`` receives its notifications. ``refused`` is raised when the
    server answers with an error, ``lost`` when the server is gone. While too many requests are
    open, ``busy`` returns the answer to a request, given its method. Runs on one loop."""

    def __init__(
        self,
        send: Callable[[Json], object],
        asked: Callable[[str, Json], Awaitable[Json]],
        notified: Callable[[str, Json], None],
        *,
        refused: type[CallboardError],
        lost: type[CallboardError],
        busy: Callable[[str], CallboardError] = _busy,
    ) -> None:
        self.refused = refused
        self.lost = lost
        self._busy = busy
        self._send = send
        self._asked = asked
        self._notified = notified
        self._ids = itertools.count(1)
        self._waiting = PendingAnswers("the server", refused, lost)
        self._answering: dict[Id, asyncio.Task[None]] = {}

    async def request(
        self, method: str, params: Json, *, id: int | None = None, abandon: bool = True
    ) -> Json:
        """Send a request and return its result. Raises ``refused`` for an error, or ``lost`` when
        the server is gone. If ``abandon`` is true, the server is notified when the wait for its
        answer is cancelled."""
        id = self.next_id() if id is None else id
        message = jsonrpc.request_message(id, method, params)
        try:
            return await self._waiting.wait(id, lambda: self._put(message))
        except (CallboardError, ValueError):
            raise
        except BaseException:
            if abandon:
                self.notify("notifications/cancelled", {"requestId": id})
            raise

    def next_id(self) -> int:
        return next(self._ids)

    def interrupt(self, id: Id, error: Exception) -> None:
        """End the wait for the answer to a request by raising ``error``."""
        self._waiting.fail(id, error)

    def notify(self, method: str, params: Json | None = None) -> None:
        self._put(jsonrpc.notification_message(method, params))

    def received(self, value: Any) -> None:
        """Handle one JSON value from the server. Values that aren't messages are dropped. So are
        answers that no open request is waiting for, such as a second answer to the same request."""
        message = jsonrpc.parse(value)
        if isinstance(message, Response):
            self._waiting.take(message)
        elif isinstance(message, Notification):
            if message.method == "notifications/cancelled":
                self._cancel(message.params.get("requestId"))
            else:
                self._notified(message.method, message.params)
        elif isinstance(message, Request):
            self._take(message)

    def lose(self, why: str) -> None:
        """End the conversation because the server is gone. Every open request fails with
        ``why``."""
        self._waiting.close(why)
        for task in self._answering.values():
            task.cancel()

    def _take(self, request: Request) -> None:
        if request.method == "ping":
            self._put(jsonrpc.result_message(request.id, {}))
        elif request.id in self._answering:
            error = PeerError(f"a request with the id {request.id!r} is still open; use another id")
            self._put(jsonrpc.error_message(request.id, error))
        elif len(self._answering) >= MAX_ASKED:
            self._put(jsonrpc.error_message(request.id, self._busy(request.method)))
        else:
            task = asyncio.get_running_loop().create_task(self._answer(request))
            self._answering[request.id] = task
            task.add_done_callback(lambda _: self._answering.pop(request.id))

    async def _answer(self, request: Request) -> None:
        try:
            result = await self._asked(request.method, request.params)
            self._put(jsonrpc.result_message(request.id, result))
        except Unanswered:
            pass
        except CallboardError as error:
            self._put(jsonrpc.error_message(request.id, error))
        except Exception:
            log.exception("answering %s failed", request.method[:80])
            self._put(
                jsonrpc.error_message(request.id, CallboardBug("internal error; see the log"))
            )

    def _cancel(self, id: Any) -> None:
        task = self._answering.get(id) if jsonrpc.is_id(id) else None
        if task is not None:
            task.cancel()

    def _put(self, message: Json) -> None:
        if self._waiting.closed is None:
            self._send(message)
