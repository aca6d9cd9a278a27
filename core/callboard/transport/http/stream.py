"""One HTTP answer that carries messages as server-sent events, with a bounded queue."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, MutableMapping
from typing import Any

from tornado.iostream import StreamClosedError

from callboard.content import Json
from callboard.protocol.events import event
from callboard.transport.http.limits import HttpLimits

#: Maximum number of bytes of an event sent by ``pour`` that may wait for a slow client.
POURED_AHEAD = 1024 * 1024
_COMMENT = b": keep-alive\n\n"


class EventStream:
    """Writes events in order. Runs on the server's loop.

    ``send`` never blocks: it queues what the client hasn't read. A client whose queue grows too
    long loses its connection, so that the server doesn't run out of memory.
    """

    def __init__(
        self,
        connection: Any,
        headers: MutableMapping[str, str],
        on_close: Callable[[], None],
        limits: HttpLimits,
    ) -> None:
        # A plain connection, or a general one.
        self._connection = connection
        self._limits = limits
        self._queue: deque[bytes] = deque()
        self._waiting = 0
        self._ending = False
        self._pouring = False
        self._written = asyncio.Event()
        self._on_close = on_close
        self.closed = False
        self._wake = asyncio.Event()
        headers["Content-Type"] = "text/event-stream"
        headers["Cache-Control"] = "no-cache, no-transform"
        headers["X-Accel-Buffering"] = "no"
        self._headers = headers
        self._task = asyncio.get_running_loop().create_task(self._write())

    def send(self, message: Json) -> bool:
        if self.closed or self._ending or self._pouring:
            return False
        try:
            data = event(message)
        except ValueError:
            return True  # The message could never be sent.
        if (
            self._waiting > self._limits.queue_bytes
        ):  # This message isn't counted, because it may be large.
            self.abort()
            return True
        self._queue.append(data)
        self._waiting += len(data)
        self._wake.set()
        return True

    async def pour(self, parts: AsyncIterator[bytes]) -> None:
        """Send one event whose data arrives in parts, as fast as the client reads. Nothing else is
        sent in the meantime. Raises whatever ``parts`` raises; part of the event has been sent by
        then."""
        self._pouring = True
        await self._put(b"event: message\ndata: ")
        async for part in parts:
            await self._put(part)
        await self._put(b"\n\n")

    async def _put(self, data: bytes) -> None:
        self._queue.append(data)
        self._waiting += len(data)
        self._wake.set()
        while self._waiting > POURED_AHEAD and not self.closed:
            self._written.clear()
            await self._written.wait()

    def end(self) -> None:
        """Close the stream once everything is written."""
        self._ending = True
        self._wake.set()

    def abort(self) -> None:
        """Close the connection now."""
        if not self.closed:
            self.closed = True
            self._task.cancel()
            stream = self._connection.stream
            if stream is not None:
                stream.close()
            self._queue.clear()
            self._written.set()
            self._on_close()

    async def _write(self) -> None:
        try:
            await self._timed(self._connection.write_headers(200, self._headers))
            while True:
                if not self._queue:
                    if self._ending:
                        break
                    self._wake.clear()
                    try:
                        await asyncio.wait_for(self._wake.wait(), self._limits.keep_alive_every)
                    except asyncio.TimeoutError:
                        if not self._pouring:
                            await self._timed(self._connection.write(_COMMENT))
                    continue
                data = b"".join(self._queue)
                self._queue.clear()
                await self._timed(self._connection.write(data))
                self._waiting -= len(data)
                self._written.set()
            self._connection.finish()
        except (StreamClosedError, asyncio.TimeoutError):
            self.abort()
            return
        if not self.closed:
            self.closed = True
            self._on_close()

    async def _timed(self, written: asyncio.Future[None]) -> None:
        await asyncio.wait_for(written, self._limits.write_time)
