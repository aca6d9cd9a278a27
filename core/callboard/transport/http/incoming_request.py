"""One HTTP request with the means to answer it. Request handlers don't depend on Tornado."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from callboard.clients.holder import NOBODY, TokenHolder
from callboard.content import Json
from callboard.protocol.jsonrpc import encode
from callboard.transport.http.access import (
    BODY_LIMIT,
    NO_TOKEN,
    NOTHING_HERE,
    TOO_LARGE,
    Access,
    Refusal,
    check_length,
)
from callboard.transport.http.body_limit import LIGHT, MOST_LARGE
from callboard.transport.http.limits import HttpLimits
from callboard.transport.http.plain_post import REASONS
from callboard.transport.http.socket_stream import SocketStream

if TYPE_CHECKING:
    from tornado.httputil import RequestStartLine

    from callboard.transport.http.stream import EventStream

TOO_MANY_LARGE = Refusal(
    503, f"{MOST_LARGE} large bodies of this client are under way; wait for one to end"
)
_NO_HEADERS: Mapping[str, str] = {}


class RequestListener(Protocol):
    """The parts of the listener that a request needs."""

    access: Access
    limits: HttpLimits
    strangers: dict[SocketStream, float]
    lingering: set[SocketStream]
    incoming_requests: dict[SocketStream, IncomingRequest]

    def serve(self, incoming: IncomingRequest) -> None: ...

    def handler(self, path: str) -> object | None: ...

    def turned_away(self, incoming: IncomingRequest) -> None: ...


class IncomingRequest:
    """One request and its answer."""

    def __init__(
        self,
        listener: RequestListener,
        connection: Any,
        sender: SocketStream,
    ) -> None:
        """``connection`` is either plain or general. ``sender`` is the connection's underlying
        stream, and it outlives the request."""
        self._listener = listener
        self._sender = sender
        self._connection = connection
        self._chunks: list[bytes] = []
        self._size = 0
        #: The whole body, once it has arrived.
        self.body = b""
        self.method = ""
        self.path = ""
        self.query = ""
        #: The request's headers; look them up in lower case.
        self.headers = _NO_HEADERS
        self.holder = NOBODY
        self.began = monotonic()
        self.state = "waiting"
        self.stream: EventStream | None = None
        #: Called once if the client disconnects before it has its answer.
        self.on_gone: Callable[[], object] | None = None
        #: Called once if the answer takes longer than usual.
        self.on_slow: Callable[[], None] | None = None

    def wait_again(self) -> None:
        """Wait for the next request on this connection, once the previous one has ended."""
        self.began = monotonic()
        self._listener.incoming_requests[self._sender] = self

    def begin(self, method: str, target: str, headers: Mapping[str, str]) -> None:
        """Handle the request's head, and refuse the request if it isn't allowed."""
        self.began = monotonic()
        self.state = "reading"
        self.method = method
        self.path, _, self.query = target.partition("?")
        self.headers = headers
        if self.method == "OPTIONS" and "origin" in headers:
            refusal = self._listener.access.check_origin(headers)
            if refusal is None:
                return
        else:
            who = self._listener.access.check(headers, self.path, self.query)
            refusal = who if isinstance(who, Refusal) else None
            if refusal is not None:
                self._listener.turned_away(self)
            if refusal is NO_TOKEN and self._listener.handler(self.path) is None:
                refusal = NOTHING_HERE  # A 401 makes clients look for a place to sign in.
            self.holder = who if isinstance(who, TokenHolder) else NOBODY
        if refusal is None:
            self._listener.strangers.pop(self._sender, None)
            refusal = check_length(headers.get("content-length", "0"))
        if refusal is not None:
            self.refuse(refusal, close=True)

    # -- called by Tornado, or for it -------------------------------------------------------

    def headers_received(self, start_line: RequestStartLine, headers: Mapping[str, str]) -> None:
        self.begin(start_line.method, start_line.path, headers)

    def data_received(self, chunk: bytes) -> None:
        if self.state == "reading":
            was_light = not self._is_large
            self._chunks.append(chunk)
            self._size += len(chunk)
            if self._size > BODY_LIMIT:  # A chunked body doesn't state its size in advance.
                self._give_up(TOO_LARGE)
            elif was_light and self._is_large and self._large_ones() > MOST_LARGE:
                self._give_up(TOO_MANY_LARGE)

    @property
    def _is_large(self) -> bool:
        """True while this request holds a large body, or part of one."""
        return self._size > LIGHT and self.state in ("reading", "working")

    def _large_ones(self) -> int:
        """Return how many large bodies of this client are held, including this one."""
        requests = self._listener.incoming_requests.values()
        return sum(one._is_large and one.holder == self.holder for one in requests)

    def _give_up(self, refusal: Refusal) -> None:
        self._chunks.clear()
        self.refuse(refusal, close=True)

    def finish(self) -> None:
        if self.state != "reading":
            return
        self.state = "working"
        self.body = b"".join(self._chunks)
        self._chunks.clear()
        # While a request is handled, Tornado notifies the connection and not its delegate.
        self._connection.set_close_callback(self.on_connection_close)
        self._listener.serve(self)

    def on_connection_close(self) -> None:
        self.state = "closed"
        if self.stream is not None:
            self.stream.abort()
        gone, self.on_gone = self.on_gone, None
        if gone is not None:
            gone()

    # -- answering --------------------------------------------------------------------------

    @property
    def address(self) -> str:
        """Return the client's address, or an empty string when it is no longer known."""
        return str(self._connection.stream.address)

    @property
    def gone(self) -> bool:
        """True when the connection is closed."""
        stream = self._connection.stream
        return stream is None or stream.closed()

    @property
    def open(self) -> bool:
        """True while an answer can still be given."""
        return self.state == "working" and self.stream is None

    def respond(
        self,
        status: int,
        body: bytes = b"",
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
        *,
        close: bool = False,
    ) -> None:
        """Send the whole answer. Only the first call has an effect."""
        if self.state not in ("reading", "working") or self.stream is not None:
            return
        self.state = "writing"
        self.began = monotonic()
        self.on_slow = None  # The callback refers to this request. This avoids a reference cycle.
        answer = self._headers(headers)
        if body:
            answer["Content-Type"] = content_type
        answer["Content-Length"] = str(len(body))
        if close:
            answer["Connection"] = "close"
        # Tornado starts the next request once the answer is written, and reports a client that has
        # left. An answer to HEAD has the same headers as one to GET.
        self._connection.write_headers(status, answer, b"" if self.method == "HEAD" else body)
        self._connection.finish()

    async def pour(
        self, size: int, parts: AsyncIterator[bytes], headers: Mapping[str, str] | None = None
    ) -> None:
        """Send a JSON answer in parts as they arrive, as fast as the client reads. Raises whatever
        ``parts`` raises; part of the answer has been sent by then."""
        # This import is needed only for answers in parts.
        from tornado.iostream import StreamClosedError

        self.state = "writing"
        self.on_slow = None
        answer = self._headers(headers)
        answer["Content-Type"] = "application/json"
        answer["Content-Length"] = str(size)
        written = self._connection.write_headers(200, answer)
        try:
            async for part in parts:
                self.began = monotonic()
                await written
                written = self._connection.write(part)
            await written
        except StreamClosedError:
            return  # The client has disconnected.
        self._connection.finish()

    def respond_json(
        self, status: int, value: Json | list[Json], headers: Mapping[str, str] | None = None
    ) -> None:
        self.respond(status, encode(value), headers=headers)

    def refuse(self, refusal: Refusal, *, close: bool = False) -> None:
        """Send a problem (RFC 9457)."""
        if close and self._connection.stream is not None:
            self._connection.stream.linger(self._listener.lingering)
        status = refusal.status
        headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
        body = encode(
            {
                "type": "about:blank",
                "title": REASONS[status],
                "status": status,
                "detail": refusal.message,
            }
        )
        self.respond(status, body, "application/problem+json", headers, close=close)

    def open_stream(self, headers: Mapping[str, str] | None = None) -> EventStream:
        """Turn the answer into a stream of events."""
        # This import is needed only for streams.
        from callboard.transport.http.stream import EventStream

        assert self.stream is None
        self.stream = EventStream(
            self._connection, self._headers(headers), self._ended, self._listener.limits
        )
        return self.stream

    def _headers(self, headers: Mapping[str, str] | None) -> dict[str, str]:
        answer = dict(headers or {})
        origin = self.headers.get("origin")
        if origin is not None:
            answer["Access-Control-Allow-Origin"] = origin
            answer["Access-Control-Expose-Headers"] = "Mcp-Session-Id"
            answer["Vary"] = "Origin"
        return answer

    def _ended(self) -> None:
        self.body = b""
        if self.state != "closed":
            self.state = "done"
            if self.stream is not None and self.on_gone is not None:
                gone, self.on_gone = self.on_gone, None
                gone()

    # -- called by the sweep ----------------------------------------------------------------

    def sweep(self, now: float) -> None:
        age = now - self.began
        limits = self._listener.limits
        times = {
            "waiting": limits.idle_time,
            "reading": limits.body_time,
            "writing": limits.write_time,
        }
        if self.stream is None and age > times.get(self.state, age):
            self.abort()
        elif self.state == "working" and age > limits.slow_after and self.on_slow is not None:
            slow, self.on_slow = self.on_slow, None
            slow()

    def abort(self) -> None:
        """Close the connection now."""
        if self.stream is not None:
            self.stream.abort()
        elif self._connection.stream is not None:
            self._connection.stream.close()
