"""One HTTP request to a server of this machine, and its answer as it comes."""

from __future__ import annotations

import asyncio
import http.client
import io
import json
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.message import Message
from typing import TypeVar
from urllib.parse import urlsplit

from callboard.content import Json
from callboard.errors import HostError
from callboard.protocol.events import EventReader

T = TypeVar("T")

#: Bytes of an answer that is no stream.
ANSWER_LIMIT = 256 * 1024 * 1024


class Unreachable(HostError):
    """Nobody took the request; it can safely be sent again."""


class Broken(HostError):
    """The request was sent, and its answer broke off or makes no sense."""


@dataclass(frozen=True)
class Endpoint:
    """Where a server is, the headers that every request to it has, and how many seconds it may be
    silent before its answer counts as broken off."""

    name: str
    port: int
    path: str
    headers: Mapping[str, str]
    patience: float | None = None

    @staticmethod
    def at(url: str, token: str | None, *, patience: float | None = None) -> Endpoint:
        parts = urlsplit(url)
        name, port = parts.hostname or "127.0.0.1", parts.port or 80
        headers = {"Host": f"{name}:{port}", "Connection": "close"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        return Endpoint(name, port, parts.path or "/mcp", headers, patience)

    async def in_time(self, reading: Awaitable[T]) -> T:
        """What is read. Raises Broken where nothing comes in time."""
        try:
            return await asyncio.wait_for(reading, self.patience)
        except asyncio.TimeoutError:
            raise Broken(f"the host was silent for {self.patience:g} s") from None


class HttpAnswer:
    """A status, headers, and a body that may still be on its way."""

    def __init__(
        self, endpoint: Endpoint, reader: asyncio.StreamReader, status: int, headers: Message
    ) -> None:
        self._endpoint = endpoint
        self._reader = reader
        self.status = status
        self.headers = headers

    async def messages(self) -> AsyncIterator[Json]:
        """The JSON objects in the body, each as soon as it is there. Raises Broken."""
        try:
            if self.headers.get_content_type() == "text/event-stream":
                async for data in self._events():
                    yield _object(data)
            else:
                body = await self.body()
                if body:
                    yield _object(body)
        except ValueError as error:
            raise Broken(f"the host's answer is not JSON: {error}") from None

    async def body(self) -> bytes:
        """All of it. Raises Broken."""
        parts = []
        size = 0
        async for chunk in self._chunks():
            parts.append(chunk)
            size += len(chunk)
            if size > ANSWER_LIMIT:
                raise Broken(f"the host's answer is over {ANSWER_LIMIT} bytes")
        return b"".join(parts)

    async def _events(self) -> AsyncIterator[bytes]:
        events = EventReader()
        async for chunk in self._chunks():
            for data in events.feed(chunk):
                yield data

    async def _chunks(self) -> AsyncIterator[bytes]:
        reader, in_time = self._reader, self._endpoint.in_time
        try:
            if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
                while size := int((await in_time(reader.readuntil(b"\r\n"))).split(b";")[0], 16):
                    yield await in_time(reader.readexactly(size))
                    await in_time(reader.readexactly(2))
            elif left := int(self.headers.get("Content-Length", "0")):
                while left:
                    data = await in_time(reader.read(min(left, 65_536)))
                    if not data:
                        raise Broken("the host's answer broke off")
                    left -= len(data)
                    yield data
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            raise Broken(f"the host's answer broke off: {error}") from None


@asynccontextmanager
async def exchange(
    endpoint: Endpoint,
    method: str,
    headers: Mapping[str, str],
    body: bytes = b"",
    sent: asyncio.Event | None = None,
) -> AsyncIterator[HttpAnswer]:
    """Sends a request and gives its answer; leaving the block closes the connection. ``sent`` is
    set once the request is on its way. Raises Unreachable, Broken."""
    try:
        reader, writer = await asyncio.open_connection(endpoint.name, endpoint.port)
    except OSError as error:
        raise Unreachable(f"the host can't be reached: {error}") from None
    try:
        fields = {**endpoint.headers, **headers, "Content-Length": str(len(body))}
        lines = [f"{method} {endpoint.path} HTTP/1.1", *(f"{k}: {v}" for k, v in fields.items())]
        writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
        try:
            await writer.drain()
            if sent is not None:
                sent.set()
            head = await endpoint.in_time(reader.readuntil(b"\r\n\r\n"))
            status_line, _, rest = head.partition(b"\r\n")
            status = int(status_line.split()[1])
            fields_read = http.client.parse_headers(io.BytesIO(rest))
        except (OSError, asyncio.IncompleteReadError) as error:
            raise Broken(f"the host closed the connection without an answer: {error}") from None
        except (asyncio.LimitOverrunError, ValueError, IndexError, http.client.HTTPException):
            raise Broken("the host's answer is not HTTP") from None
        yield HttpAnswer(endpoint, reader, status, fields_read)
    finally:
        # At once: for a stateless request, closing is what cancels it.
        writer.transport.abort()


def _object(data: bytes) -> Json:
    value = json.loads(data)
    if not isinstance(value, dict):
        raise ValueError("a message must be an object")
    return value
