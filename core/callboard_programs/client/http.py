"""One HTTP request to a server, and its answer as it arrives."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from callboard.content import Json
from callboard.errors import HostError
from callboard.protocol.events import EventReader
from callboard.protocol.jsonrpc import refuse_constant
from callboard.transport.instance_proof import HEADER, MOST_BYTES, NOT_PROVED, PATH, Challenge

if TYPE_CHECKING:
    from callboard_programs.client.pinned_tls import Pinned

T = TypeVar("T")
Connected = tuple[asyncio.StreamReader, asyncio.StreamWriter]

#: Maximum number of bytes in an answer that isn't a stream.
ANSWER_LIMIT = 256 * 1024 * 1024
#: Messages of this many bytes or more are passed on in parts, if the receiver supports that.
LARGE = 1024 * 1024
#: Maximum number of bytes that are read at once.
_PART = 65_536
#: Seconds for which an unused connection is kept, and the maximum number of such connections. None
#: of our servers closes a connection sooner.
KEPT_FOR, MOST_KEPT = 60.0, 16


class Unreachable(HostError):
    """No server accepted the request, so it can safely be sent again."""


class NotLetIn(Unreachable):
    """This client isn't admitted, or the server's certificate is the wrong one. Retrying doesn't
    help until a person has fixed that."""


class Broken(HostError):
    """The request was sent, but its answer broke off or is malformed."""


@dataclass(frozen=True)
class Endpoint:
    """A server's address, and the settings of every request to it. ``patience`` is the maximum
    number of seconds between two parts of an answer; beyond that, the answer is considered broken
    off. ``most`` is the maximum number of bytes of one event, or of an answer that isn't a stream.
    A server on another machine is identified by its certificate, ``tls``. An instance is identified
    by its token, ``key``, and must prove that it has the token before anything is sent."""

    name: str
    port: int
    path: str
    headers: Mapping[str, str]
    patience: float | None = None
    most: int = ANSWER_LIMIT
    tls: Pinned | None = None
    key: str | None = None

    @staticmethod
    def at(
        url: str, token: str | None, *, patience: float | None = None, key: str | None = None
    ) -> Endpoint:
        parts = urlsplit(url)
        name, port = parts.hostname or "127.0.0.1", parts.port or 80
        headers = {"Host": f"[{name}]:{port}" if ":" in name else f"{name}:{port}"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        tls = None
        if parts.scheme == "https":
            from callboard_programs.client.pinned_tls import Pinned  # Few clients ever need this.

            tls = Pinned.by(parts.fragment)
        return Endpoint(name, port, parts.path or "/mcp", headers, patience, tls=tls, key=key)

    async def in_time(self, reading: Awaitable[T]) -> T:
        """Return the result of ``reading``. Raises Broken if it takes longer than ``patience``
        allows."""
        try:
            return await asyncio.wait_for(reading, self.patience)
        except asyncio.TimeoutError:
            raise Broken(f"the host was silent for {self.patience:g} s") from None


class IdleConnections:
    """Open connections to one server. A connection whose answer is complete is kept for a later
    request. Use it on a single event loop."""

    def __init__(self) -> None:
        self._idle: list[tuple[Connected, float]] = []
        self._closed = False

    def take(self) -> Connected | None:
        """Return a connection that is still open, or None. A server closes its connections when it
        ends."""
        while self._idle:
            connection, since = self._idle.pop()
            reader, writer = connection
            fresh = monotonic() - since < KEPT_FOR and not reader.at_eof()
            if fresh and not writer.transport.is_closing():
                return connection
            writer.transport.abort()
        return None

    def give(self, connection: Connected) -> None:
        if self._closed or len(self._idle) >= MOST_KEPT:
            connection[1].transport.abort()
        else:
            self._idle.append((connection, monotonic()))

    def close(self) -> None:
        self._closed = True
        for (_, writer), _ in self._idle:
            writer.transport.abort()
        self._idle.clear()


@dataclass(frozen=True)
class LargeMessage:
    """A message that hasn't been read yet. ``size`` is its number of bytes, or None if the server
    doesn't report it. ``parts`` yields the bytes, and may raise Broken."""

    size: int | None
    parts: AsyncIterator[bytes]


class HttpAnswer:
    """The status, the headers, and a body that may still be arriving."""

    def __init__(
        self, endpoint: Endpoint, reader: asyncio.StreamReader, status: int, headers: dict[str, str]
    ) -> None:
        """The keys of ``headers`` are in lower case."""
        self._endpoint = endpoint
        self._reader = reader
        self.status = status
        self._headers = headers
        #: True once the whole body has been read.
        self.complete = False

    def header(self, name: str) -> str | None:
        return self._headers.get(name.lower())

    async def messages(self) -> AsyncGenerator[Json, None]:
        """Yield the JSON objects in the body, each as soon as it arrives. Raises Broken."""
        async for message in self.passing(lambda size, beginning: False):
            assert isinstance(message, dict)
            yield message

    async def passing(
        self, passes: Callable[[int | None, bytes], bool]
    ) -> AsyncGenerator[Json | LargeMessage, None]:
        """Do the same as :meth:`messages`, but yield a large message unread if ``passes`` accepts
        it. ``passes`` is called with the message's size, or None if the size isn't known, and with
        the beginning of the message. An accepted message is the last one that is yielded, and must
        be read before anything else. Raises Broken."""
        try:
            kind = (self.header("Content-Type") or "").partition(";")[0].strip().lower()
            events = kind == "text/event-stream"
            async for data in self._events(passes) if events else self._whole(passes):
                if isinstance(data, LargeMessage):
                    yield data
                    return
                yield _object(data)
        except ValueError as error:
            raise Broken(f"the host's answer is not JSON: {error}") from None

    async def body(self) -> bytes:
        """Return the whole body. Raises Broken."""
        parts = []
        size = 0
        async for chunk in self._chunks():
            parts.append(chunk)
            size += len(chunk)
            if size > self._endpoint.most:
                raise Broken(f"the host's answer is over {self._endpoint.most} bytes")
        return b"".join(parts)

    async def _whole(
        self, passes: Callable[[int | None, bytes], bool]
    ) -> AsyncIterator[bytes | LargeMessage]:
        length = self.header("Content-Length")
        size = None if length is None else _size(length, 10, self._endpoint.most)
        chunks = self._chunks()
        if size is not None and size >= LARGE:
            first = await anext(chunks)
            if passes(size, first):
                yield LargeMessage(size, _all(first, chunks))
                return
            body = b"".join([first, *[chunk async for chunk in chunks]])
        else:
            body = await self.body()
        if body:
            yield body

    async def _events(
        self, passes: Callable[[int | None, bytes], bool]
    ) -> AsyncIterator[bytes | LargeMessage]:
        events = EventReader(self._endpoint.most)
        chunks = self._chunks()
        async for chunk in chunks:
            for data in events.feed(chunk):
                yield data
            beginning = events.beginning(LARGE)
            if beginning is not None and passes(None, beginning):
                yield LargeMessage(None, _line(beginning, chunks))
                return

    async def _chunks(self) -> AsyncIterator[bytes]:
        reader, in_time, most = self._reader, self._endpoint.in_time, self._endpoint.most
        try:
            if (self.header("Transfer-Encoding") or "").lower() == "chunked":
                while size := _size(
                    (await in_time(reader.readuntil(b"\r\n"))).split(b";")[0], 16, most
                ):
                    while size:
                        data = await in_time(reader.readexactly(min(size, _PART)))
                        size -= len(data)
                        yield data
                    await in_time(reader.readexactly(2))
                await in_time(reader.readexactly(2))
            elif left := _size(self.header("Content-Length") or "0", 10, most):
                while left:
                    data = await in_time(reader.read(min(left, _PART)))
                    if not data:
                        raise Broken("the host's answer broke off")
                    left -= len(data)
                    yield data
            self.complete = True
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            raise Broken(f"the host's answer broke off: {error}") from None


@asynccontextmanager
async def send_request(
    endpoint: Endpoint,
    method: str,
    headers: Mapping[str, str],
    body: bytes = b"",
    idle: IdleConnections | None = None,
) -> AsyncIterator[HttpAnswer]:
    """Send a request and yield its answer. The connection is closed after the block, unless the
    answer was read to its end and ``idle`` keeps the connection. Raises Unreachable or Broken."""
    connection = None if idle is None else idle.take()
    if connection is None:
        connection = await _connected(endpoint)
    reader, writer = connection
    answer = None
    try:
        fields = {**endpoint.headers, **headers, "Content-Length": str(len(body))}
        if idle is None:
            fields["Connection"] = "close"
        lines = [f"{method} {endpoint.path} HTTP/1.1", *(f"{k}: {v}" for k, v in fields.items())]
        writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
        try:
            await writer.drain()
            head = await endpoint.in_time(reader.readuntil(b"\r\n\r\n"))
            answer = HttpAnswer(endpoint, reader, *_read_head(head))
        except (OSError, asyncio.IncompleteReadError) as error:
            raise Broken(f"the host closed the connection without answering: {error}") from None
        except (asyncio.LimitOverrunError, ValueError, IndexError):
            raise Broken("the host's answer is not HTTP") from None
        yield answer
    finally:
        closes = answer is None or (answer.header("Connection") or "").lower() == "close"
        if idle is not None and answer is not None and answer.complete and not closes:
            idle.give(connection)
        else:
            # Abort, because closing the connection at once is what cancels a stateless request.
            writer.transport.abort()


async def _connected(endpoint: Endpoint) -> Connected:
    """Return an open connection. Raises Unreachable."""
    tls = endpoint.tls
    context = None if tls is None else tls.context
    try:
        reader, writer = await asyncio.open_connection(endpoint.name, endpoint.port, ssl=context)
    except ssl.SSLCertVerificationError as error:
        raise NotLetIn(
            f"this machine doesn't trust the gateway's certificate ({error.verify_message}); use "
            "the whole address that `callboard gateway --listen` prints, including its # part"
        ) from None
    except OSError as error:
        raise Unreachable(f"the host can't be reached: {error}") from None
    if tls is not None and not tls.accepts(writer):
        writer.transport.abort()
        raise NotLetIn(
            "the gateway presents a different certificate from the one in its address; ask for its "
            "address again, in a way that you trust"
        )
    if tls is None and endpoint.key is not None:
        try:
            await _proved(endpoint, endpoint.key, reader, writer)
        except BaseException:
            writer.transport.abort()
            raise
    return reader, writer


async def _proved(
    endpoint: Endpoint, key: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Raise Unreachable unless the program at this address proves that it has the token ``key``."""
    challenge = Challenge.new(key, endpoint.port)
    host = endpoint.headers["Host"]
    asked = f"GET {PATH} HTTP/1.1\r\nHost: {host}\r\n{HEADER}: {challenge.header}\r\n\r\n"
    writer.write(asked.encode("latin-1"))
    try:
        head = await endpoint.in_time(reader.readuntil(b"\r\n\r\n"))
        status, headers = _read_head(head)
        answer = HttpAnswer(replace(endpoint, most=MOST_BYTES), reader, status, headers)
        proved = challenge.is_proof(status, await answer.body())
    except (OSError, asyncio.IncompleteReadError, Broken) as error:
        raise Unreachable(f"the host can't be reached: {error}") from None
    except (asyncio.LimitOverrunError, ValueError, IndexError):
        proved = False
    if not proved:
        raise Unreachable(NOT_PROVED)


def _read_head(head: bytes) -> tuple[int, dict[str, str]]:
    """Return the status and the headers. Raises ValueError or IndexError."""
    status_line, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise ValueError("a header has no colon")
        headers[name.strip().lower()] = value.strip()
    return int(status_line.split()[1]), headers


def _size(text: str | bytes, base: int, most: int) -> int:
    """Return the number of bytes that the host announces. Raises Broken."""
    try:
        size = int(text, base)
    except ValueError:
        raise Broken("the host's answer is not HTTP") from None
    if not 0 <= size <= most:
        raise Broken(f"the host's answer is over {most} bytes")
    return size


async def _all(first: bytes, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for chunk in chunks:
        yield chunk


async def _line(beginning: bytes, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield an event's data, which is one line: ``beginning``, then the rest from ``chunks``."""
    yield beginning
    async for chunk in chunks:
        part, end, _ = chunk.partition(b"\n")
        yield part
        if end:
            return
    raise Broken("the host's answer broke off")


def _object(data: bytes) -> Json:
    try:
        value = json.loads(data, parse_constant=refuse_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("a message must be an object")
    return value
