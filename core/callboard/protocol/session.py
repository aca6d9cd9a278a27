"""The revisions up to 2025-11-25, which have ``initialize``, sessions and requests in both
directions."""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from time import monotonic
from typing import Any, Literal, Protocol, runtime_checkable

from callboard.changes import Changes
from callboard.clients.holder import TokenHolder
from callboard.clients.shares import most_greedy
from callboard.content import Json
from callboard.errors import (
    RESOURCE_NOT_FOUND,
    CallboardError,
    InvalidParams,
    PeerError,
    ResourceNotFound,
)
from callboard.protocol import jsonrpc, peer
from callboard.protocol.jsonrpc import Id, Notification, Request, Response
from callboard.protocol.peer import Ask, AskFailed, ClientInfo, Peer, PeerRequest
from callboard.protocol.pending_answers import PendingAnswers
from callboard.protocol.revisions import Revision, negotiate

PeerEvent = Literal["ready", "roots_changed", "closed"]

#: Maximum number of messages kept for a client without an open stream. The oldest are dropped
#: first.
OUTBOX_LIMIT = 256
#: Maximum number of requests in one session that are under way at once.
INFLIGHT_LIMIT = 512
#: Seconds after which an idle session may be ended for a new one when all sessions are taken.
YIELDING_AFTER = 60.0


class Server(Protocol):
    """The parts of a server that a conversation needs."""

    def introduce(self, peer: Peer) -> Json:
        """Return ``{capabilities, serverInfo, instructions?}``."""

    async def handle(self, request: PeerRequest) -> Json:
        """Return the result. Raises CallboardError."""

    def peer_event(self, peer: Peer, event: PeerEvent) -> None: ...


class Channel(Protocol):
    """The stream that may answer one POST."""

    def send(self, message: Json) -> bool:
        """Stream a message to the client. Return False when this channel can't, or is closed."""


@runtime_checkable
class ResponseChannel(Channel, Protocol):
    """A channel that also accepts the response itself, as bytes that arrive in parts."""

    def can_pour(self, size: int | None) -> bool:
        """Return whether the channel accepts this many bytes. None means an unknown number."""

    async def pour(self, size: int | None, parts: AsyncIterator[bytes]) -> None:
        """Send the parts. Nothing else is sent after them. Raises the errors of ``parts``."""


class ResponseSent(Exception):
    """Raised when the response was already sent with ``pour``, so nothing is left to send."""


class Stream(Channel, Protocol):
    """The session's own stream."""

    def end(self) -> None:
        """Close the stream once everything is sent."""


class Session(Peer):
    """One client's session, with the requests under way in both directions and the messages to be
    sent."""

    def __init__(
        self,
        features: Revision,
        client: ClientInfo,
        capabilities: Mapping[str, Any],
        holder: TokenHolder,
        presence: Changes[[]] | None = None,
    ) -> None:
        """``presence`` is notified when the client is lost."""
        super().__init__(secrets.token_hex(16), features, client, capabilities, holder)
        self.id = self.label
        self.inflight: dict[Id, SessionRequest] = {}
        #: The server's requests that the client hasn't answered yet.
        self.asked = PendingAnswers("the client", AskFailed, AskFailed)
        #: URIs of the resources that the client watches (2025-11-25, Resources, Subscriptions).
        self.watched: set[str] = set()
        self.last_seen = monotonic()
        self.closed = False
        #: True after the client's connection broke, until the client sends again.
        self.lost = False
        self.initialized = False
        #: Messages that wait for a stream.
        self.outbox: deque[Json] = deque()
        self._listener: Stream | None = None
        self._ask_count = 0
        self._presence = presence

    @property
    def session(self) -> str:
        return self.label

    def lose(self) -> None:
        """Note that the client's connection broke. Its requests continue, because the client may
        come back for the answers (2025-11-25, Transports)."""
        self.lost = True
        if self._presence is not None:
            self._presence.tell()

    @property
    def listening(self) -> bool:
        return self._listener is not None

    def notify(self, method: str, params: Json | None = None) -> None:
        message = jsonrpc.notification_message(method, params)
        if params is None and message in self.outbox:
            return  # One waiting notification of the same change is enough.
        self.send(message)

    def send(self, message: Json) -> bool:
        """Send on the session's own stream, or keep the message until a stream is open. Return
        False once the session has ended."""
        if self.closed:
            return False
        if self._listener is not None and self._listener.send(message):
            self._sent(message)
            return True
        if len(self.outbox) >= OUTBOX_LIMIT:
            self._drop(self.outbox.popleft())
        self.outbox.append(message)
        return True

    def listen(self, stream: Stream) -> None:
        """Make ``stream`` the session's own. A newer stream replaces and ends an older one."""
        if self._listener is not None:
            self._listener.end()
        self._listener = stream
        self.lost = False
        self.flush(stream)

    def unlisten(self, channel: Channel) -> None:
        if self._listener is channel:
            self._listener = None
            self.lost = True

    def flush(self, channel: Channel) -> None:
        """Use this channel to send the messages that are waiting for a stream."""
        while self.outbox and channel.send(self.outbox[0]):
            self._sent(self.outbox.popleft())

    def _sent(self, message: Json) -> None:
        """Start the timeout of a request that has been sent."""
        if "id" in message:
            self.asked.sent(message["id"])

    def _drop(self, message: Json) -> None:
        if "id" in message:
            why = "the client has no stream open on which to ask it"
            self.asked.fail(message["id"], AskFailed(why))

    async def ask(self, ask: Ask, patience: float | None = None) -> Json:
        return await self.ask_on(None, ask, patience)

    async def ask_on(
        self, channel: Channel | None, ask: Ask, patience: float | None = None
    ) -> Json:
        """Send a request to the client and wait for the answer, on ``channel`` if it can carry the
        request. Raises AskFailed."""
        self._ask_count += 1
        id = f"callboard-{self._ask_count}"
        message = jsonrpc.request_message(id, ask.method, ask.params or None)

        def send() -> None:
            if channel is not None and channel.send(message):
                self._sent(message)
            else:
                self.send(message)

        try:
            return await self.asked.wait(id, send, patience)
        finally:
            if message in self.outbox:
                self.outbox.remove(message)

    def close(self) -> None:
        """End everything that belongs to the session."""
        self.closed = self.owner.ended = True
        self.asked.close("the session ended")
        for request in list(self.inflight.values()):
            request.cancel()
        self.outbox.clear()
        if self._listener is not None:
            self._listener.end()
            self._listener = None


class SessionRequest(PeerRequest):
    def __init__(self, session: Session, request: Request, channel: Channel) -> None:
        super().__init__(session, request.id, request.method, request.params)
        self.session = session
        self.channel = channel
        #: The task that answers the request, while there is one.
        self.task: asyncio.Task[Any] | None = None
        self.cancelled = False

    def notify(self, method: str, params: Json) -> None:
        self.send(jsonrpc.notification_message(method, params))

    def send(self, message: Json) -> bool:
        """Send a message that belongs to this request: on the request's own stream if possible, or
        else on the session's."""
        return self.channel.send(message) or self.session.send(message)

    async def ask_all(self, asks: Mapping[str, Ask]) -> dict[str, Json | AskFailed]:
        async def ask_one(name: str, ask: Ask) -> Json | AskFailed:
            if peer.lacks(self.peer.capabilities, ask.needs):
                return peer.NotDeclared(ask)
            try:
                return await self.session.ask_on(self.channel, ask.named(name))
            except AskFailed as refused:
                return refused

        answers = await asyncio.gather(*(ask_one(name, ask) for name, ask in asks.items()))
        return dict(zip(asks, answers, strict=True))

    def flush_waiting(self) -> None:
        """Send waiting messages on this request's stream if the client has no other stream for
        them."""
        if not self.session.listening:
            self.session.flush(self._stream())

    def _stream(self) -> Channel:
        """Return the request's own stream, without falling back to the session: the session would
        endlessly requeue the messages that are being flushed."""
        channel = self.channel
        return channel._stream() if isinstance(channel, SessionRequest) else channel

    def cancel(self) -> None:
        self.cancelled = True
        if self.task is not None:
            self.task.cancel()


class SessionEra:
    """Turns a session's messages into calls to the server, and the results of the calls into
    messages."""

    def __init__(self, server: Server, presence: Changes[[]] | None = None) -> None:
        """``presence`` is notified when a session's client is lost."""
        self._server = server
        self._presence = presence

    def initialize(self, request: Request, holder: TokenHolder) -> tuple[Session, Json]:
        """Open a session for ``holder`` (2025-11-25, Lifecycle). Raises InvalidParams."""
        params = request.params
        asked = params.get("protocolVersion")
        if not isinstance(asked, str):
            raise InvalidParams("protocolVersion must be a string such as '2025-11-25'")
        capabilities = params.get("capabilities", {})
        if not isinstance(capabilities, dict):
            raise InvalidParams("capabilities must be an object")
        revision = negotiate(asked)
        client = ClientInfo.read(params.get("clientInfo"))
        session = Session(revision, client, capabilities, holder, self._presence)
        result = {"protocolVersion": revision.name, **self._server.introduce(session)}
        return session, jsonrpc.result_message(request.id, result)

    def receive(self, session: Session, message: Notification | Response) -> None:
        """Handle a message that needs no answer."""
        session.last_seen = monotonic()
        session.lost = False
        if isinstance(message, Response):
            session.asked.take(message)
        elif message.method == "notifications/initialized":
            if not session.initialized:
                session.initialized = True
                self._server.peer_event(session, "ready")
        elif message.method == "notifications/roots/list_changed":
            self._server.peer_event(session, "roots_changed")
        elif message.method == "notifications/cancelled":
            cancelled_id = message.params.get("requestId")
            if jsonrpc.is_id(cancelled_id):
                under_way = session.inflight.get(cancelled_id)
                if under_way is not None:
                    under_way.cancel()

    async def answer(self, session: Session, message: Request, channel: Channel) -> Json | None:
        """Return the response to a request. Return None when the client cancelled the request or
        already has the response."""
        session.last_seen = monotonic()
        session.lost = False
        if message.method == "ping":
            return jsonrpc.result_message(message.id, {})
        if message.id in session.inflight:
            error: CallboardError = PeerError(
                f"a request with the id {message.id!r} is still under way; use another id"
            )
            return jsonrpc.error_message(message.id, error)
        if len(session.inflight) >= INFLIGHT_LIMIT:
            error = PeerError(f"{INFLIGHT_LIMIT} requests are under way; wait for an answer")
            return jsonrpc.error_message(message.id, error)
        request = SessionRequest(session, message, channel)
        session.inflight[message.id] = request
        request.task = asyncio.current_task()
        try:
            if message.method == "initialize":
                raise PeerError("this session is initialized already")
            result = await self._server.handle(request)
            return jsonrpc.result_message(message.id, result)
        except CallboardError as failed:
            if request.cancelled:
                return None
            if isinstance(failed, ResourceNotFound):
                failed.code = RESOURCE_NOT_FOUND
            return jsonrpc.error_message(message.id, failed)
        except ResponseSent:
            return None
        except asyncio.CancelledError:
            if not request.cancelled:
                raise
            return None
        finally:
            request.task = None
            del session.inflight[message.id]
            session.last_seen = monotonic()


class TooManySessions(PeerError):
    """Raised when the limit is reached; the transport answers 503."""


class Sessions:
    """The open sessions. Their number is limited, and idle ones are ended."""

    def __init__(
        self, on_close: Callable[[Session], None], *, limit: int = 256, idle_seconds: float = 3600.0
    ) -> None:
        self._on_close = on_close
        self._limit = limit
        self._idle_seconds = idle_seconds
        #: The open sessions by their ids.
        self.open: dict[str, Session] = {}

    def __len__(self) -> int:
        return len(self.open)

    def __iter__(self) -> Iterator[Session]:
        return iter(list(self.open.values()))

    def room(self, holder: TokenHolder) -> None:
        """Make room for another session of this holder. Raises TooManySessions when there is none.
        Most clients never close their sessions, and an artist who restarts a client shouldn't wait
        until the old sessions expire. So the session that has been idle longest is ended if it has
        been idle for long enough. If that session's client is still alive, it gets a 404 and
        initializes again. If a client has at least two more sessions than ``holder``, one of them
        is ended in any case."""
        if len(self.open) >= self._limit and not self._yield_one(holder):
            raise TooManySessions(
                f"{self._limit} sessions are open; end one with DELETE, or try again later"
            )

    def add(self, session: Session) -> None:
        self.open[session.id] = session

    def end(self, session: Session) -> None:
        if self.open.pop(session.id, None) is not None:
            session.close()
            self._on_close(session)

    def expire(self) -> None:
        """End sessions that have been idle too long."""
        oldest = monotonic() - self._idle_seconds
        for session in self._idle():
            if session.last_seen < oldest:
                self.end(session)

    def _yield_one(self, holder: TokenHolder) -> bool:
        """End a session of the client that has the most sessions, or the session that has been idle
        longest, but never a session of a client that has fewer than ``holder``."""
        counted = Counter(session.holder for session in self)
        if greedy := most_greedy(holder, counted):
            self.end(min((s for s in self if s.holder == greedy), key=lambda s: s.last_seen))
            return True
        idle = [s for s in self._idle() if counted[s.holder] >= counted[holder]]
        longest = min(idle, key=lambda session: session.last_seen, default=None)
        if longest is None or longest.last_seen > monotonic() - YIELDING_AFTER:
            return False
        self.end(longest)
        return True

    def _idle(self) -> list[Session]:
        """Return the sessions without an open stream or a request under way."""
        return [s for s in self.open.values() if not s.listening and not s.inflight]
