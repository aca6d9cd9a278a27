"""The ``/mcp`` endpoint, which speaks Streamable HTTP with sessions (2025-03-26 to 2025-11-25) and
without (2026-07-28)."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import TYPE_CHECKING, Any

from callboard.changes import Changes
from callboard.clients.holder import TokenHolder
from callboard.content import Json
from callboard.errors import CallboardBug, CallboardError, ParseError, PeerError
from callboard.protocol import jsonrpc
from callboard.protocol.headers import SESSION_HEADER, TRACE, VERSION_HEADER, add_trace
from callboard.protocol.jsonrpc import Invalid, Message, Notification, Request, Response
from callboard.protocol.logging_levels import wants
from callboard.protocol.revisions import REVISIONS
from callboard.protocol.session import Server, Session, SessionEra, Sessions, TooManySessions
from callboard.protocol.stateless import SchemaOf, StatelessEra, is_stateless, status_of
from callboard.protocol.subscriptions import Subscriptions, Topic
from callboard.transport.http.access import Refusal
from callboard.transport.http.incoming_request import IncomingRequest

if TYPE_CHECKING:
    from callboard.transport.http.stream import EventStream

log = logging.getLogger(__name__)

_SESSION, _VERSION = SESSION_HEADER.lower(), VERSION_HEADER.lower()
#: Maximum number of messages in one batch.
BATCH_LIMIT = 100
CLOSING = "the application is closing; connect again once it is open"
SESSION_ENDED = "this session is no longer open; initialize again"
#: Seconds after which a client may try again when all sessions are taken.
RETRY_AFTER = 30


class Reply:
    """The answer to one POST: JSON, unless something must be streamed first."""

    def __init__(self, incoming: IncomingRequest, accept: str) -> None:
        anything = "*/*" in accept
        self.takes_json = anything or "application/json" in accept
        self.takes_stream = anything or "text/event-stream" in accept
        self._exchange = incoming
        self._stream: EventStream | None = None
        self._headers: dict[str, str] = {}
        #: True when other responses are sent along with this one.
        self.in_batch = False
        if self.takes_stream:
            incoming.on_slow = self._open

    def _open(self) -> None:
        if self._stream is None and self._exchange.open:
            self._stream = self._exchange.open_stream(self._headers)

    def send(self, message: Json) -> bool:
        if not self.takes_stream:
            return False
        self._open()
        return self._stream is not None and self._stream.send(message)

    def can_pour(self, size: int | None) -> bool:
        if self.in_batch or self._exchange.gone:
            return False
        return self.takes_stream if size is None or self._stream is not None else self.takes_json

    async def pour(self, size: int | None, parts: AsyncIterator[bytes]) -> None:
        try:
            if size is not None and self._stream is None:
                await self._exchange.pour(size, parts, self._headers)
                return
            self._open()
            if self._stream is not None:
                await self._stream.pour(parts)
        except BaseException:
            self._exchange.abort()  # A client must not mistake half an answer for a whole one.
            raise

    def finish(self, messages: list[Json], *, batch: bool = False, status: int = 200) -> None:
        """Send the responses and end the answer."""
        incoming = self._exchange
        if self._stream is None and (self.takes_json or not messages):
            if not messages:
                incoming.respond(202)
                return
            try:
                body = jsonrpc.encode(messages if batch else messages[0])
            except ValueError:
                messages = [_sendable(message) for message in messages]
                body = jsonrpc.encode(messages if batch else messages[0])
            incoming.respond(status, body, headers=self._headers)
            return
        for message in messages:
            self.send(_sendable(message))
        if self._stream is not None:
            self._stream.end()

    def introduce(self, session: Session) -> None:
        self._headers[SESSION_HEADER] = session.id


class StreamableHttp(ABC):
    """POST, GET and DELETE on one path. Subclasses answer them. Runs on the server's loop."""

    def __init__(
        self,
        closed: Callable[[Session], None],
        *,
        limit: int = 256,
        idle_seconds: float = 3600.0,
    ) -> None:
        """``closed`` is called with each session that ends. At most ``limit`` sessions are open,
        and a session that is silent for ``idle_seconds`` ends."""
        #: Notified when a session's client is lost or comes back.
        self.presence: Changes[[]] = Changes()
        self.sessions = Sessions(closed, limit=limit, idle_seconds=idle_seconds)
        self._tasks: set[asyncio.Task[Any]] = set()

    @abstractmethod
    def initialize(self, incoming: IncomingRequest, reply: Reply, message: Request) -> None:
        """Answer the request that opens a session."""

    @abstractmethod
    def answer(
        self, session: Session, message: Request, reply: Reply
    ) -> Coroutine[Any, Any, Json | None]:
        """Return the response to a session's request, or None when the client cancelled the
        request."""

    @abstractmethod
    def receive(self, session: Session, message: Notification | Response) -> None:
        """Handle a message from a session that needs no answer."""

    @abstractmethod
    def answer_stateless(self, incoming: IncomingRequest, reply: Reply, message: Request) -> None:
        """Answer a request made under protocol version 2026-07-28."""

    def __call__(self, incoming: IncomingRequest) -> None:
        if incoming.method == "POST":
            self._post(incoming)
        elif incoming.method == "GET":
            self._get(incoming)
        elif incoming.method == "DELETE":
            self._delete(incoming)
        else:
            incoming.respond(405, headers={"Allow": "GET, POST, DELETE"})

    def end(self, holder: TokenHolder) -> None:
        """End a client's sessions."""
        for session in self.sessions:
            if session.holder == holder:
                self.sessions.end(session)

    def close(self) -> None:
        """End the sessions."""
        for session in self.sessions:
            self.sessions.end(session)

    # -- POST -------------------------------------------------------------------------------

    def _post(self, incoming: IncomingRequest) -> None:
        headers = incoming.headers
        content_type, accept = headers.get("content-type", ""), headers.get("accept", "*/*")
        if content_type.partition(";")[0].strip().lower() != "application/json":
            incoming.refuse(Refusal(415, "Content-Type must be application/json"))
            return
        reply = Reply(incoming, accept)
        if not (reply.takes_json or reply.takes_stream):
            incoming.refuse(Refusal(406, "Accept must list application/json and text/event-stream"))
            return
        try:
            value = jsonrpc.decode(incoming.body)
        except ParseError as error:
            fail(incoming, 400, error)
            return
        if isinstance(value, list):
            self._post_batch(incoming, reply, value)
            return
        message = jsonrpc.parse(value)
        if isinstance(message, Invalid):
            fail(incoming, 400, message.error, message.id)
        elif (
            isinstance(message, Request)
            # A request in a session has the session's header, and its _meta, if any, names no
            # revision.
            and (_SESSION not in headers or "_meta" in message.params)
            and is_stateless(message, headers)
        ):
            if TRACE in headers:
                add_trace(message.params, headers)
            self.answer_stateless(incoming, reply, message)
        elif isinstance(message, Request) and message.method == "initialize":
            self.initialize(incoming, reply, message)
        else:
            session = self.session_of(incoming)
            if session is None:
                return
            if isinstance(message, Request):
                if TRACE in headers:
                    add_trace(message.params, headers)
                incoming.on_gone = session.lose
                self.start(self._answer(incoming, session, message, reply))
            else:
                self.receive(session, message)
                incoming.respond(202)

    def _post_batch(self, incoming: IncomingRequest, reply: Reply, values: list[Any]) -> None:
        session = self.session_of(incoming)
        if session is None:
            return
        if not session.features.batches:
            fail(incoming, 400, PeerError("this revision has no batches; send single messages"))
        elif not 0 < len(values) <= BATCH_LIMIT:
            fail(incoming, 400, PeerError(f"a batch has 1 to {BATCH_LIMIT} messages; split it"))
        else:
            reply.in_batch = True
            self.start(self._answer_batch(session, [jsonrpc.parse(v) for v in values], reply))

    async def _answer(
        self, incoming: IncomingRequest, session: Session, message: Request, reply: Reply
    ) -> None:
        response = await self.answer(session, message, reply)
        incoming.on_gone = None
        reply.finish([] if response is None else [response])

    async def _answer_batch(self, session: Session, messages: list[Message], reply: Reply) -> None:
        answers = []
        invalid = []
        for message in messages:
            if isinstance(message, Request):
                answers.append(self.start(self.answer(session, message, reply)))
            elif isinstance(message, Invalid):
                invalid.append(jsonrpc.error_message(message.id, message.error))
            else:
                self.receive(session, message)
        responses = await asyncio.gather(*answers)
        reply.finish([*invalid, *(r for r in responses if r is not None)], batch=True)

    def start(self, work: Any) -> asyncio.Task[Any]:
        # The loop keeps only weak references, so a task without another reference may be
        # garbage-collected.
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # -- GET and DELETE ---------------------------------------------------------------------

    def _get(self, incoming: IncomingRequest) -> None:
        if "text/event-stream" not in incoming.headers.get("accept", ""):
            incoming.refuse(Refusal(406, "Accept must list text/event-stream"))
            return
        session = self.session_of(incoming)
        if session is None:
            return
        channel = incoming.open_stream()

        def gone() -> None:
            session.unlisten(channel)
            self.presence.tell()

        incoming.on_gone = gone
        session.listen(channel)
        self.presence.tell()

    def _delete(self, incoming: IncomingRequest) -> None:
        session = self.session_of(incoming)
        if session is not None:
            self.sessions.end(session)
            incoming.respond(200)

    def session_of(self, incoming: IncomingRequest) -> Session | None:
        """Return the request's session. If there is a problem, answer with an error and return None
        (2025-11-25, Transports, Session Management and Protocol Version Header)."""
        id, version = incoming.headers.get(_SESSION), incoming.headers.get(_VERSION)
        if id is None:
            fail(incoming, 400, PeerError(f"{SESSION_HEADER} is missing; initialize first"))
            return None
        session = self.sessions.open.get(id)
        # Other clients must not learn that the session exists.
        if session is None or session.holder != incoming.holder:
            fail(incoming, 404, PeerError(SESSION_ENDED))
            return None
        if version is not None and version != session.features.name:
            known = "is another revision" if version in REVISIONS else "is unknown"
            error = PeerError(
                f"{VERSION_HEADER} {known}; this session speaks {session.features.name}"
            )
            fail(incoming, 400, error)
            return None
        return session


class McpEndpoint(StreamableHttp):
    """The endpoint ``/mcp`` of one server."""

    def __init__(
        self,
        server: Server,
        topics: set[Topic],
        schema_of: SchemaOf,
        *,
        limit: int = 256,
        idle_seconds: float = 3600.0,
    ) -> None:
        super().__init__(
            lambda session: server.peer_event(session, "closed"),
            limit=limit,
            idle_seconds=idle_seconds,
        )
        self._topics = topics
        self.era = SessionEra(server, self.presence)
        self.stateless = StatelessEra(server, schema_of)
        self.subscriptions = Subscriptions(lambda: self.sessions)

    def close(self) -> None:
        """End the streams and the sessions, and tell their clients why."""
        self.subscriptions.close(CLOSING)
        for session in self.sessions:
            if session.listening and wants(session, "notice"):
                params = {"level": "notice", "logger": "callboard", "data": CLOSING}
                session.notify("notifications/message", params)
        super().close()

    def initialize(self, incoming: IncomingRequest, reply: Reply, message: Request) -> None:
        try:
            self.sessions.room(incoming.holder)
            session, response = self.era.initialize(message, incoming.holder)
        except CallboardError as error:
            refuse_session(incoming, message, error)
            return
        self.sessions.add(session)
        reply.introduce(session)
        reply.finish([response])

    def answer(
        self, session: Session, message: Request, reply: Reply
    ) -> Coroutine[Any, Any, Json | None]:
        return self.era.answer(session, message, reply)

    def receive(self, session: Session, message: Notification | Response) -> None:
        self.era.receive(session, message)

    def answer_stateless(self, incoming: IncomingRequest, reply: Reply, message: Request) -> None:
        if message.method == "subscriptions/listen":
            self._listen(incoming, message)
            return
        task = self.start(self._answer_stateless(incoming, message, reply))
        # Closing the response stream cancels the request (2026-07-28, Streamable HTTP).
        incoming.on_gone = task.cancel

    async def _answer_stateless(
        self, incoming: IncomingRequest, message: Request, reply: Reply
    ) -> None:
        status, response = await self.stateless.answer(
            message, incoming.headers, reply, incoming.holder
        )
        incoming.on_gone = None
        reply.finish([response], status=status)

    def _listen(self, incoming: IncomingRequest, message: Request) -> None:
        try:
            self.stateless.check(message, incoming.headers, incoming.holder)
            self.subscriptions.check(message, incoming.holder)
        except CallboardError as error:
            fail(incoming, status_of(error), error, message.id)
            return
        stream = incoming.open_stream()
        listener = self.subscriptions.listen(message, stream, self._topics, incoming.holder)
        incoming.on_gone = lambda: self.subscriptions.leave(listener)


def refuse_session(incoming: IncomingRequest, message: Request, error: CallboardError) -> None:
    """Answer an ``initialize`` that didn't open a session."""
    if isinstance(error, TooManySessions):
        body = jsonrpc.encode(jsonrpc.error_message(message.id, error))
        incoming.respond(503, body, headers={"Retry-After": str(RETRY_AFTER)})
    else:
        fail(incoming, 400, error, message.id)


def _sendable(message: Json) -> Json:
    """Return the message, or an error in its place when JSON can't express it. The client must not
    be left waiting."""
    try:
        jsonrpc.encode(message)
    except ValueError as error:
        log.error("an answer can't be sent: %s", error)
        return jsonrpc.error_message(
            message["id"], CallboardBug(f"the answer can't be sent: {error}")
        )
    return message


def fail(
    incoming: IncomingRequest, status: int, error: CallboardError, id: jsonrpc.Id | None = None
) -> None:
    incoming.respond(status, jsonrpc.encode(jsonrpc.error_message(id, error)))
