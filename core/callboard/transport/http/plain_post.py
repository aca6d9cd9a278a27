"""Plain requests, and connections that carry them.

A plain request is a POST whose head came in one piece. Nearly every request is one, and reading it
as general HTTP/1.1 costs more than a call does. This module accepts a small part of what Tornado
accepts, and both read that part in the same way. It accepts only one way to write a line, one
Content-Length, no repeated header, and nothing that changes how the rest is read. If there is any
doubt, it accepts nothing, and Tornado reads the bytes as usual.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import NamedTuple, Protocol

from callboard.transport.http.access import HEADER_LIMIT
from callboard.transport.http.socket_stream import SocketStream

REASONS = {status.value: status.phrase for status in HTTPStatus}

#: A head of at most this many bytes is kept, so that it is recognized when it comes again.
REMEMBERED = 2048

_HEAD = re.compile(rb"POST (/[!-~]*) HTTP/1\.1\r\n((?:[A-Za-z0-9-]+:[ -~]*\r\n){1,64})\r\n")
_LENGTH = re.compile("[0-9]{1,8}")
_NOT_PLAIN = frozenset({"transfer-encoding", "expect", "upgrade", "trailer", "te"})


class PlainRequest(NamedTuple):
    """A plain request without its body. ``head`` is the length of the head in bytes, and ``length``
    the length of the body that follows. The names in ``headers`` are in lower case."""

    target: str
    headers: dict[str, str]
    head: int
    length: int


def plain_request(data: bytes) -> PlainRequest | None:
    """Return the request that ``data`` begins with, or None if its head isn't plain or complete."""
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


class BodyReader(Protocol):
    """The reader of one request's body."""

    def data_received(self, chunk: bytes) -> None: ...

    def finish(self) -> None: ...


#: Passes the head to a reader, which receives the body and answers the request. Returns the reader.
Serve = Callable[["PlainConnection", PlainRequest], BodyReader]


class PlainConnection:
    """One connection while its requests are plain: the part of ``HTTP1Connection`` that a request
    uses. Runs on the server's loop."""

    def __init__(self, stream: SocketStream, serve: Serve) -> None:
        self.stream = stream
        self.set_close_callback = stream.set_close_callback
        #: Called after each answer if the connection stays open.
        self.on_end: Callable[[], None] = lambda: None
        self._serve = serve
        #: The reader that waits for the rest of a body, and the number of bytes still missing.
        self._reader: BodyReader | None = None
        self._missing = 0
        self._known: PlainRequest | None = None
        self._head = b""
        self._chunked = False
        self._closes = False
        self._written: asyncio.Future[None]

    def begin(self, data: bytes) -> bytes | None:
        """Take the request that ``data`` begins with. Return the data after the request, or None if
        the request isn't plain, in which case nothing is taken."""
        # Most clients send the same head again and again, so its bytes identify the request.
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
        """Take the data that belongs to the request under way, and return the rest."""
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
        self, status: int, headers: Mapping[str, str], chunk: bytes = b""
    ) -> asyncio.Future[None]:
        """Send the head and ``chunk``. Without a Content-Length the body is sent in chunks."""
        lines = [f"HTTP/1.1 {status} {REASONS[status]}"]
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
        """Complete the answer. The next request begins once the whole answer is on its way."""
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
