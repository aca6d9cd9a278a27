"""One HTTP request to a host of this machine, and its answer as it comes, on asyncio's streams."""

from __future__ import annotations

import asyncio
import http.client
import io
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.message import Message
from urllib.parse import urlsplit

from callboard.content import Json
from callboard.errors import HostError
from callboard.transport.instances import Instance

#: Bytes of an answer that is no stream.
ANSWER_LIMIT = 256 * 1024 * 1024


class Unreachable(HostError):
    """Nobody took the request; it can safely be sent again."""


class Broken(HostError):
    """The request was sent, and its answer broke off or makes no sense."""


@dataclass(frozen=True)
class Endpoint:
    """Where a host serves MCP, and the headers that every request to it has."""

    name: str
    port: int
    path: str
    headers: Mapping[str, str]

    @staticmethod
    def of(instance: Instance) -> Endpoint:
        parts = urlsplit(instance.url)
        name, port = parts.hostname or "127.0.0.1", parts.port or 80
        headers = {"Host": f"{name}:{port}", "Connection": "close"}
        if instance.token:
            headers["Authorization"] = f"Bearer {instance.token}"
        return Endpoint(name, port, parts.path or "/mcp", headers)


class HttpAnswer:
    """A status, headers, and a body that may still be on its way."""

    def __init__(self, reader: asyncio.StreamReader, status: int, headers: Message) -> None:
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
        rest = b""
        async for chunk in self._chunks():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                # The listener writes one line of data an event; comments keep the stream alive.
                if line.startswith(b"data:"):
                    yield line[5:]

    async def _chunks(self) -> AsyncIterator[bytes]:
        reader = self._reader
        try:
            if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
                while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
                    yield await reader.readexactly(size)
                    await reader.readexactly(2)
            elif left := int(self.headers.get("Content-Length", "0")):
                while left:
                    data = await reader.read(min(left, 65_536))
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
            head = await reader.readuntil(b"\r\n\r\n")
            status_line, _, rest = head.partition(b"\r\n")
            status = int(status_line.split()[1])
            fields_read = http.client.parse_headers(io.BytesIO(rest))
        except (OSError, asyncio.IncompleteReadError) as error:
            raise Broken(f"the host closed the connection without an answer: {error}") from None
        except (asyncio.LimitOverrunError, ValueError, IndexError, http.client.HTTPException):
            raise Broken("the host's answer is not HTTP") from None
        yield HttpAnswer(reader, status, fields_read)
    finally:
        # At once: for a stateless request, closing is what cancels it.
        writer.transport.abort()


def _object(data: bytes) -> Json:
    value = json.loads(data)
    if not isinstance(value, dict):
        raise ValueError("a message must be an object")
    return value
