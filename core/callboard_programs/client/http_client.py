"""A client of one server over Streamable HTTP, with sessions or without. Use it on a single event
loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

from callboard.content import Json
from callboard.errors import CallboardError, HostError, MethodNotFound, ParseError
from callboard.protocol import jsonrpc
from callboard.protocol.conversation import Conversation
from callboard.protocol.handshake import Dialect, open_talk
from callboard.protocol.headers import SESSION_HEADER, VERSION_HEADER
from callboard.protocol.jsonrpc import Id, Request
from callboard.protocol.stateless import is_stateless
from callboard_programs.client.http import Broken, Endpoint, HttpAnswer, send_request
from callboard_programs.client.sent_headers import stateless_headers

log = logging.getLogger(__name__)

CANCELLED = "notifications/cancelled"
#: The headers of every POST.
POST_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
}
#: Seconds allowed for ending the session.
GOODBYE = 1.0


class RemoteError(CallboardError):
    """The server answered with a JSON-RPC error."""


class RefusedByHttp(HostError):
    """The server refused the request with an HTTP ``status`` and without a JSON-RPC error."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"the server answered {status}: {reason}")
        self.status = status


async def refuse(method: str, params: Json) -> Json:
    """Refuse a request from the server, because this client doesn't answer any."""
    raise MethodNotFound(f"Method not found: '{method[:80]}'")


def pass_over(method: str, params: Json) -> None:
    """Ignore a notification."""


class HttpClient:
    """One conversation: each message is sent as a POST, and the messages in its answer are
    received. ``talk`` is the dialect that the server speaks. If ``talk`` is None, :meth:`open`
    determines it. A caller that is waiting for an answer gets Unreachable when no server accepted
    the request, Broken when the answer broke off, RefusedByHttp when the request was refused with
    an HTTP status, and RemoteError when it was refused with a JSON-RPC error."""

    def __init__(
        self,
        endpoint: Endpoint,
        talk: Dialect | None = None,
        *,
        asked: Callable[[str, Json], Awaitable[Json]] = refuse,
        notified: Callable[[str, Json], None] = pass_over,
        session: Mapping[str, str] | None = None,
    ) -> None:
        """``session`` has the headers of a session that is already open."""
        self.talk = talk
        self._endpoint = endpoint
        self._conversation = Conversation(
            self._send, asked, notified, refused=RemoteError, lost=HostError
        )
        self._session = dict(session or {})
        self._posts: dict[object, asyncio.Task[None]] = {}

    async def open(self, client: Mapping[str, Any], capabilities: Mapping[str, Any]) -> None:
        """Open a session, or find out that the server doesn't need one."""
        opening = open_talk(self._conversation, client, capabilities)
        self.talk = await opening
        # Each POST has its own connection, and later messages must not overtake the messages that
        # open the session.
        await asyncio.gather(*self._posts.values())

    def listen(self) -> None:
        """Receive the questions and notifications on the session's own stream until the client is
        closed. Jobs use that stream after their calls have been answered."""
        if self._session:
            self._start(object(), self._listen())

    async def request(self, method: str, params: Json) -> Json:
        """Send a request and return its result."""
        assert self.talk is not None
        meta = {**self.talk.meta({}), **params.get("_meta", {})}
        return await self._conversation.request(
            method, {**params, "_meta": meta} if meta else params
        )

    async def close(self) -> None:
        """Cancel all requests and end the session. The server has GOODBYE seconds to confirm the
        end."""
        self._conversation.lose("the client was closed")
        for task in list(self._posts.values()):
            task.cancel()
        if self._session:
            try:
                await asyncio.wait_for(self._goodbye(), GOODBYE)
            except (HostError, asyncio.TimeoutError):
                return

    async def _goodbye(self) -> None:
        async with send_request(self._endpoint, "DELETE", self._session):
            pass

    # -- messages -------------------------------------------------------------------------------

    def _send(self, message: Json) -> None:
        request_id = message.get("id") if "method" in message else None
        if message.get("method") == CANCELLED and not self._session:
            # Without a session, closing the connection cancels the request (2026-07-28, Streamable
            # HTTP).
            task = self._posts.get(message["params"]["requestId"])
            if task is not None:
                task.cancel()
            return
        key: object = object() if request_id is None else request_id
        self._start(key, self._post(message, request_id))

    def _start(self, key: object, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._posts[key] = task
        task.add_done_callback(lambda _: self._posts.pop(key, None))

    async def _listen(self) -> None:
        headers = {"Accept": "text/event-stream", **self._session}
        try:
            async with send_request(self._endpoint, "GET", headers) as answer:
                await self.hear(answer)
        except HostError as error:
            log.debug("the session's own stream ended: %s", error.message)

    async def hear(self, stream: HttpAnswer) -> None:
        """Receive the messages of a session's own stream until the stream ends. Raises Broken."""
        async for received in stream.messages():
            self._conversation.received(received)

    async def _post(self, message: Json, id: Id | None) -> None:
        headers = {**POST_HEADERS, **self._headers(message)}
        try:
            body = jsonrpc.encode(message)
            async with send_request(self._endpoint, "POST", headers, body) as answer:
                await self._take(answer, message, id)
        except (CallboardError, ValueError) as error:
            if id is not None:
                self._conversation.interrupt(id, error)

    async def _take(self, answer: HttpAnswer, message: Json, id: Id | None) -> None:
        if answer.status >= 400:
            self._conversation.received(_refusal(answer.status, await answer.body(), id))
            return
        session = answer.header(SESSION_HEADER)
        async for received in answer.messages():
            if session is not None and received.get("id") == id and "result" in received:
                version = received["result"].get("protocolVersion", "")
                self._session = {SESSION_HEADER: session, VERSION_HEADER: str(version)}
                session = None
            self._conversation.received(received)
        raise Broken("the server closed the connection without an answer")

    def _headers(self, message: Json) -> Mapping[str, str]:
        if "method" in message and "id" in message:
            request = Request(message["id"], message["method"], message["params"])
            if is_stateless(request, {}):
                return stateless_headers(request, None)
        return self._session


def _refusal(status: int, body: bytes, id: Id | None) -> Json:
    """Return the JSON-RPC error in a refusal. Raises RefusedByHttp if the refusal contains no such
    error."""
    try:
        answer = jsonrpc.decode(body)
    except ParseError:
        answer = None
    if not isinstance(answer, dict):
        reason = body[:200].decode("utf-8", "replace") or "no reason given"
    elif isinstance(answer.get("error"), dict):
        if id is not None and answer.get("id") == id:
            return answer
        reason = str(answer["error"].get("message"))
    else:
        # This is a problem document (RFC 9457).
        reason = str(answer.get("detail", "no reason given"))
    raise RefusedByHttp(status, reason)
