"""The listener: Tornado's low-level HTTP server, access control, limits, and routes.

Handlers get an :class:`Exchange`, one request with the means to answer it, and know nothing of
Tornado. Everything runs on the server's loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, MutableMapping
from functools import partial
from http import HTTPStatus
from time import monotonic
from typing import Any, cast

from tornado.http1connection import (
    HTTP1Connection,
    HTTP1ConnectionParameters,
    HTTP1ServerConnection,
)
from tornado.httputil import (
    HTTPConnection,
    HTTPHeaders,
    HTTPMessageDelegate,
    HTTPServerConnectionDelegate,
    RequestStartLine,
    ResponseStartLine,
)
from tornado.iostream import IOStream

from callboard.changes import Changes
from callboard.clients.holder import NOBODY, TokenHolder
from callboard.content import Json
from callboard.protocol.jsonrpc import encode
from callboard.transport.http.access import (
    BODY_LIMIT,
    HEADER_LIMIT,
    PREFLIGHT,
    TOO_LARGE,
    Access,
    Refusal,
    check_length,
)
from callboard.transport.http.bound_socket import bound
from callboard.transport.http.limits import HttpLimits
from callboard.transport.http.plain import PlainConnection, PlainRequest
from callboard.transport.http.socket_stream import SocketStream
from callboard.transport.http.stream import EventStream

log = logging.getLogger(__name__)

#: Connections that may wait to be accepted.
BACKLOG = 128

ExchangeHandler = Callable[["Exchange"], None]

# A timer per request costs more than parsing it, so there is no header_timeout; the sweep closes
# what idles instead.
# The limit of bodies is ours, which answers 413; past Tornado's the connection just closes.
_PARAMETERS = HTTP1ConnectionParameters(max_header_size=HEADER_LIMIT, max_body_size=2**40)
_NO_HEADERS: Mapping[str, str] = {}


class Exchange(HTTPMessageDelegate):
    """One request and its answer."""

    def __init__(
        self,
        listener: Listener,
        connection: HTTP1Connection | PlainConnection,
        sender: object,
    ) -> None:
        """``sender`` is the connection under it, which lasts for many requests."""
        self._listener = listener
        self._sender = sender
        self._connection: Any = connection
        plain = isinstance(connection, PlainConnection)
        self._new_headers: Callable[[], MutableMapping[str, str]] = dict if plain else HTTPHeaders
        self._chunks: list[bytes] = []
        self._size = 0
        self.method = ""
        self.path = ""
        self.query = ""
        self.headers = _NO_HEADERS
        self.holder = NOBODY
        self.began = monotonic()
        self.state = "waiting"
        self.stream: EventStream | None = None
        #: Called once if the client goes away before it has its answer.
        self.on_gone: Callable[[], None] | None = None
        #: Called once if the answer takes longer than is usual.
        self.on_slow: Callable[[], None] | None = None

    @property
    def body(self) -> bytes:
        return self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)

    def wait_again(self) -> None:
        """Waits for the next request; one that came before it on this connection has ended."""
        self.began = monotonic()
        self._listener.waits(self._sender, self)

    # -- called by Tornado, or for it -------------------------------------------------------

    def headers_received(
        self, start_line: RequestStartLine | ResponseStartLine, headers: Mapping[str, str]
    ) -> None:
        assert isinstance(start_line, RequestStartLine)
        self.began = monotonic()
        self.state = "reading"
        self.method = start_line.method
        self.path, _, self.query = start_line.path.partition("?")
        self.headers = headers
        if self.method == "OPTIONS" and "Origin" in headers:
            refusal = self._listener.access.check_origin(headers)
            if refusal is None:
                return
        else:
            who = self._listener.access.check(headers)
            refusal = who if isinstance(who, Refusal) else None
            self.holder = who if isinstance(who, TokenHolder) else NOBODY
        if refusal is None:
            self._listener.strangers.pop(self._sender, None)
            refusal = check_length(headers.get("Content-Length", "0"))
        if refusal is not None:
            self.refuse(refusal, close=True)

    def data_received(self, chunk: bytes) -> None:
        if self.state == "reading":
            self._chunks.append(chunk)
            self._size += len(chunk)
            if self._size > BODY_LIMIT:  # a chunked body doesn't say so before
                self._chunks.clear()
                self.refuse(TOO_LARGE, close=True)

    def finish(self) -> None:
        if self.state != "reading":
            return
        self.state = "working"
        # While a request is worked on, Tornado tells the connection, not its delegate.
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
    def gone(self) -> bool:
        """Whether the connection is closed."""
        stream = self._connection.stream
        return stream is None or stream.closed()

    @property
    def open(self) -> bool:
        """Whether an answer can still be given."""
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
        """Sends the whole answer; at most once."""
        if self.state not in ("reading", "working") or self.stream is not None:
            return
        self.state = "writing"
        self.began = monotonic()
        self.on_slow = None  # it knows this exchange: a cycle for the garbage collector
        answer = self._headers(headers)
        if body:
            answer["Content-Type"] = content_type
        answer["Content-Length"] = str(len(body))
        if close:
            answer["Connection"] = "close"
        start = ResponseStartLine("HTTP/1.1", status, _REASONS[status])
        # Tornado starts the next request once this is written, and tells if the client has left.
        # An answer to HEAD has the headers of the one to GET.
        self._connection.write_headers(start, answer, b"" if self.method == "HEAD" else body)
        self._connection.finish()

    def respond_json(
        self, status: int, value: Json | list[Json], headers: Mapping[str, str] | None = None
    ) -> None:
        self.respond(status, encode(value), headers=headers)

    def refuse(self, refusal: Refusal, *, close: bool = False) -> None:
        """Sends a problem (RFC 9457)."""
        if close and self._connection.stream is not None:
            self._connection.stream.linger(self._listener.lingering)
        status = refusal.status
        headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
        body = encode(
            {
                "type": "about:blank",
                "title": _REASONS[status],
                "status": status,
                "detail": refusal.message,
            }
        )
        self.respond(status, body, "application/problem+json", headers, close=close)

    def open_stream(self, headers: Mapping[str, str] | None = None) -> EventStream:
        """Makes the answer a stream of events."""
        assert self.stream is None
        self.stream = EventStream(
            self._connection, self._headers(headers), self._ended, self._listener.limits
        )
        return self.stream

    def _headers(self, headers: Mapping[str, str] | None) -> MutableMapping[str, str]:
        answer = self._new_headers()
        if headers:
            answer.update(headers)
        origin = self.headers.get("Origin")
        if origin is not None:
            answer["Access-Control-Allow-Origin"] = origin
            answer["Access-Control-Expose-Headers"] = "Mcp-Session-Id"
            answer["Vary"] = "Origin"
        return answer

    def _ended(self) -> None:
        self._chunks.clear()
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
        """Closes the connection now."""
        if self.stream is not None:
            self.stream.abort()
        elif self._connection.stream is not None:
            self._connection.stream.close()


class Listener(HTTPServerConnectionDelegate):
    """One listening port and its routes, by path; a route ending in ``/`` takes what is below."""

    def __init__(self, address: str = "127.0.0.1") -> None:
        self._address = address
        #: Replaced before it starts, if at all.
        self.limits = HttpLimits()
        self._routes: dict[str, ExchangeHandler] = {}
        self._prefixes: list[tuple[str, ExchangeHandler]] = []
        #: What each open connection is at.
        self._exchanges: dict[object, Exchange] = {}
        self._connections: set[HTTP1ServerConnection] = set()
        #: When each connection was opened that has sent nothing it may, the oldest first.
        self.strangers: dict[object, float] = {}
        #: Connections that are over but for what their clients still send.
        self.lingering: set[SocketStream] = set()
        self._server: asyncio.Server | None = None
        self._sweeper: asyncio.Task[None] | None = None
        self.access: Access
        self.port = 0
        #: Told every few seconds, on the loop.
        self.sweeps: Changes[[]] = Changes()

    def route(self, path: str, handler: ExchangeHandler) -> None:
        if path.endswith("/"):
            self._prefixes.append((path, handler))
        else:
            self._routes[path] = handler

    def bind(self, port: int) -> None:
        """Takes a port, 0 for any; ``port`` says which. Raises OSError."""
        self._socket = bound(self._address, port, BACKLOG)
        self.port = self._socket.getsockname()[1]

    async def start(self, access: Access) -> None:
        self.access = access
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: SocketStream(self._connected), sock=self._socket, backlog=BACKLOG
        )
        self._sweeper = loop.create_task(self._sweep())

    def end(self, holder: TokenHolder) -> None:
        """Closes the connections on which this client asked last."""
        for exchange in list(self._exchanges.values()):
            if exchange.holder == holder:
                exchange.abort()

    async def stop(self) -> None:
        """Closes the port and every connection."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        if self._server is not None:
            self._server.close()
            for exchange in list(self._exchanges.values()):
                exchange.abort()
            for connection in list(self._connections):
                await connection.close()
            for stream in list(self.lingering):
                stream.abort()
        else:
            self._socket.close()

    def _connected(self, stream: SocketStream) -> None:
        connection = HTTP1ServerConnection(cast(IOStream, stream), _PARAMETERS)
        self._connections.add(connection)
        self.strangers[connection] = monotonic()
        stream.taker = PlainConnection(stream, partial(self._take, connection))
        connection.start_serving(self)

    def _take(self, server_conn: object, plain: PlainConnection, request: PlainRequest) -> Exchange:
        """Begins a plain request while Tornado still waits for the next one it is to read."""
        plain.on_end = self._exchanges[server_conn].wait_again
        exchange = self._exchanges[server_conn] = Exchange(self, plain, server_conn)
        start_line = RequestStartLine("POST", request.target, "HTTP/1.1")
        exchange.headers_received(start_line, request.headers)
        return exchange

    def waits(self, server_conn: object, exchange: Exchange) -> None:
        """``exchange`` is what the connection does now."""
        self._exchanges[server_conn] = exchange

    def start_request(self, server_conn: object, request_conn: HTTPConnection) -> Exchange:
        assert isinstance(request_conn, HTTP1Connection)
        exchange = self._exchanges[server_conn] = Exchange(self, request_conn, server_conn)
        if len(self._exchanges) > self.limits.connections:
            oldest = next(iter(self.strangers), server_conn)
            self.strangers.pop(oldest, None)
            shed = self._exchanges.get(oldest, exchange)
            asyncio.get_running_loop().call_soon(shed.abort)
        return exchange

    def on_close(self, server_conn: object) -> None:
        assert isinstance(server_conn, HTTP1ServerConnection)
        self._exchanges.pop(server_conn, None)
        self._connections.discard(server_conn)
        self.strangers.pop(server_conn, None)

    def serve(self, exchange: Exchange) -> None:
        """Finds the route and calls it; a handler that fails answers 500, never a traceback."""
        if exchange.method == "OPTIONS":
            exchange.respond(204, headers=PREFLIGHT)
            return
        handler = self._routes.get(exchange.path)
        if handler is None:
            for prefix, candidate in self._prefixes:
                if exchange.path.startswith(prefix):
                    handler = candidate
                    break
        try:
            if handler is None:
                exchange.refuse(Refusal(404, "nothing is served here; MCP is at /mcp"))
            else:
                handler(exchange)
        except Exception:
            log.exception("%s %s failed", exchange.method, exchange.path)
            exchange.refuse(Refusal(500, "internal error; the log has the details"))

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(self.limits.sweep_every)
            now = monotonic()
            for exchange in list(self._exchanges.values()):
                exchange.sweep(now)
            # Whatever they send: an answer to who may not ask is no reason to wait longer.
            for sender, opened in list(self.strangers.items()):
                if now - opened > self.limits.header_time and sender in self._exchanges:
                    self._exchanges[sender].abort()
            self.sweeps.tell()


_REASONS = {status.value: status.phrase for status in HTTPStatus}
