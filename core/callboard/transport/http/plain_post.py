"""The plainest request there is, a POST whose head came in one piece, and connections of such.

Nearly every request is one, and reading it as general HTTP/1.1 costs more than a call does. What
is taken here is a small part of what Tornado takes, and means the same to both: one way to write
a line, no header twice, one Content-Length, nothing that changes how the rest is read. At the
first doubt nothing is taken, and Tornado reads the bytes as if this weren't here.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tornado.httputil import HTTPMessageDelegate, ResponseStartLine

from callboard.transport.http.access import HEADER_LIMIT
from callboard.transport.http.socket_stream import SocketStream

#: A head of at most this many bytes is kept, to be recognized.
REMEMBERED = 2048

_HEAD = re.compile(rb"POST (/[!-~]*) HTTP/1\.1\r\n((?:[A-Za-z0-9-]+:[ -~]*\r\n){1,64})\r\n")
_LENGTH = re.compile("[0-9]{1,8}")
_NOT_PLAIN = frozenset({"transfer-encoding", "expect", "upgrade", "trailer", "te"})


class PlainRequest(NamedTuple):
    """``length`` bytes of body follow the head, which is ``head`` bytes long. The names of
    ``headers`` are in lower case."""

    target: str
    headers: dict[str, str]
    head: int
    length: int


def plain_request(data: bytes) -> PlainRequest | None:
    """The request that ``data`` begins with; None where its head isn't plain, or not all there."""
    head = _HEAD.match(data)
    if head is None or head.end() > HEADER_LIMIT:
        return None
    lines = head[2].decode("ascii").split("\r\n")
    lines.pop()
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip(" ")
    length = headers.get("content-length", "")
    if (
        len(headers) != len(lines)
        or not _NOT_PLAIN.isdisjoint(headers)
        or headers.get("connection", "keep-alive").lower() != "keep-alive"
        or _LENGTH.fullmatch(length) is None
    ):
        return None
    return PlainRequest(head[1].decode("ascii"), headers, head.end(), int(length))


#: Makes what takes the request and answers it, and gives it the head.
Serve = Callable[["PlainConnection", PlainRequest], HTTPMessageDelegate]


class PlainConnection:
    """One connection while its requests are plain: the part of ``HTTP1Connection`` that an
    request uses. On the server's loop."""

    def __init__(self, stream: SocketStream, serve: Serve) -> None:
        self.stream = stream
        self.set_close_callback = stream.set_close_callback
        #: Called after each answer on a connection that stays open.
        self.on_end: Callable[[], None] = lambda: None
        self._serve = serve
        #: Who waits for the rest of a body, and how much that is.
        self._reader: HTTPMessageDelegate | None = None
        self._missing = 0
        self._known: PlainRequest | None = None
        self._head = b""
        self._chunked = False
        self._closes = False
        self._written: asyncio.Future[None]

    def begin(self, data: bytes) -> bytes | None:
        """Takes the request that ``data`` begins with. What follows it, or None where it isn't
        plain and nothing was taken."""
        # Most clients send one head again and again: the same bytes are the same request.
        request = self._known
        if request is None or not data.startswith(self._head):
            request = plain_request(data)
            if request is None:
                return None
            if request.head <= REMEMBERED:
                self._known, self._head = request, data[: request.head]
        self._missing = request.length
        self._reader = self._serve(self, request)
        return self.receive(data[request.head :])

    def receive(self, data: bytes) -> bytes:
        """Takes what belongs to the request under way; returns what doesn't."""
        reader = self._reader
        if reader is None:
            return data
        part = data[: self._missing]
        self._missing -= len(part)
        if part:
            reader.data_received(part)
        if not self._missing:
            self._reader = None
            reader.finish()
        return data[len(part) :]

    def write_headers(
        self, start_line: ResponseStartLine, headers: Mapping[str, str], chunk: bytes = b""
    ) -> asyncio.Future[None]:
        """Sends the head, and ``chunk`` with it; without a Content-Length the rest in chunks."""
        lines = [f"HTTP/1.1 {start_line.code} {start_line.reason}"]
        for name, value in headers.items():
            lines.append(f"{name}: {value}")
        self._closes = headers.get("Connection") == "close"
        self._chunked = "Content-Length" not in headers
        if self._chunked:
            lines.append("Transfer-Encoding: chunked")
        head = "\r\n".join(lines)
        if head.count("\n") != len(lines) - 1 or head.count("\r") != len(lines) - 1:
            raise ValueError("a header holds a line break")
        return self._send(head.encode("latin-1") + b"\r\n\r\n" + self._framed(chunk))

    def write(self, chunk: bytes) -> asyncio.Future[None]:
        return self._send(self._framed(chunk))

    def finish(self) -> None:
        """The answer is complete; the next request is looked at once all of it is on its way."""
        if self._chunked:
            self._send(b"0\r\n\r\n")
        if self._written.done():
            self._end()
        else:
            self._written.add_done_callback(lambda _: self._end())

    def _send(self, data: bytes) -> asyncio.Future[None]:
        self._written = self.stream.write(data)
        return self._written

    def _framed(self, chunk: bytes) -> bytes:
        if not self._chunked or not chunk:
            return chunk
        return b"%x\r\n%b\r\n" % (len(chunk), chunk)

    def _end(self) -> None:
        self.stream.set_close_callback(None)
        if self._closes:
            self.stream.close()
        if not self.stream.closed():
            self.on_end()
            self.stream.release()
