"""Has Tornado read every request that isn't plain. This module is loaded on the first such
request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

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
    ResponseStartLine,
)

from callboard.transport.http.access import HEADER_LIMIT
from callboard.transport.http.plain_post import REASONS

if TYPE_CHECKING:
    from tornado.iostream import IOStream

    from callboard.transport.http.socket_stream import SocketStream

# header_timeout isn't set, because a timer costs more than parsing a request, and the sweep closes
# idle connections. Bodies are limited elsewhere, where the answer to a larger one is 413. Beyond
# Tornado's own limit, the connection would just close.
_PARAMETERS = HTTP1ConnectionParameters(max_header_size=HEADER_LIMIT, max_body_size=2**40)


class GeneralConnection:
    """Tornado's connection, with the methods of a :class:`PlainConnection`. Runs on the server's
    loop."""

    def __init__(self, connection: HTTP1Connection) -> None:
        self._connection = connection
        self.set_close_callback = connection.set_close_callback
        self.write = connection.write
        self.finish = connection.finish

    @property
    def stream(self) -> Any:
        return self._connection.stream

    def write_headers(
        self, status: int, headers: Mapping[str, str], chunk: bytes = b""
    ) -> asyncio.Future[None]:
        start = ResponseStartLine("HTTP/1.1", status, REASONS[status])
        return self._connection.write_headers(start, HTTPHeaders(headers), chunk)


class GeneralServer(HTTPServerConnectionDelegate):
    """Reads the connections of one listener. Runs on the server's loop."""

    def __init__(
        self,
        begin: Callable[[SocketStream, GeneralConnection], object],
        end: Callable[[SocketStream], None],
    ) -> None:
        """``begin`` returns the delegate for a connection's next request. ``end`` is called when
        there is no further request."""
        self._begin = begin
        self._end = end
        self._connections: set[HTTP1ServerConnection] = set()

    def serve(self, stream: SocketStream) -> None:
        """Read this connection until it ends."""
        connection = HTTP1ServerConnection(cast("IOStream", stream), _PARAMETERS)
        self._connections.add(connection)
        connection.start_serving(self)

    async def stop(self) -> None:
        """Close the connections."""
        for connection in list(self._connections):
            await connection.close()

    # -- called by Tornado ------------------------------------------------------------------

    def start_request(
        self, server_conn: object, request_conn: HTTPConnection
    ) -> HTTPMessageDelegate:
        assert isinstance(server_conn, HTTP1ServerConnection)
        assert isinstance(request_conn, HTTP1Connection)
        stream = cast("SocketStream", server_conn.stream)
        return cast(HTTPMessageDelegate, self._begin(stream, GeneralConnection(request_conn)))

    def on_close(self, server_conn: object) -> None:
        assert isinstance(server_conn, HTTP1ServerConnection)
        self._connections.discard(server_conn)
        self._end(cast("SocketStream", server_conn.stream))
