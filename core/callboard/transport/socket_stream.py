"""The stream that Tornado's HTTP connections read and write, on an asyncio transport.

Tornado's own ``IOStream`` takes its socket out of the selector and puts it back for every request
and clears a buffer for every read, which is a fifth of a call's time. This is the part of its
interface that ``HTTP1Connection`` uses.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

from tornado.ioloop import IOLoop
from tornado.iostream import StreamClosedError, UnsatisfiableReadError

#: Bytes received ahead of a reader; past them the socket isn't read until somebody wants more.
READ_AHEAD = 64 * 1024

Find = Callable[[bytearray], int]


class SocketStream(asyncio.Protocol):
    """One connection. On the server's loop; one read at a time, as with IOStream."""

    def __init__(self, opened: Callable[[SocketStream], None]) -> None:
        self._opened = opened
        self._transport: asyncio.Transport
        self._buffer = bytearray()
        #: How many bytes answer the read in progress; 0 while they aren't all there.
        self._find: Find | None = None
        self._reader: asyncio.Future[bytes] | None = None
        self._writers: list[asyncio.Future[None]] = []
        self._full = False
        self._paused = False
        self._closed = False
        self._close_callback: Callable[[], None] | None = None
        self._loop = asyncio.get_running_loop()
        self.io_loop = IOLoop.current()
        self.max_buffer_size = READ_AHEAD

    # -- called by the transport ---------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(0)  # a write is done when the system has all of it
        self._opened(self)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._find is not None:
            self._answer()
        if len(self._buffer) >= READ_AHEAD and self._find is None and not self._closed:
            self._transport.pause_reading()
            self._paused = True

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False
        writers, self._writers = self._writers, []
        for written in writers:
            if not written.done():
                written.set_result(None)

    def connection_lost(self, error: Exception | None) -> None:
        self._closed = True
        waiting: list[asyncio.Future[None] | asyncio.Future[bytes]] = [*self._writers]
        if self._reader is not None:
            waiting.append(self._reader)
        self._writers, self._reader, self._find = [], None, None
        for future in waiting:
            if not future.done():
                future.set_exception(StreamClosedError(error))
                future.exception()  # seen, even if nobody waits any more
        self._tell_closed()

    # -- called by Tornado ---------------------------------------------------------------------

    def read_until_regex(self, regex: bytes, max_bytes: int) -> asyncio.Future[bytes]:
        pattern = re.compile(regex)
        searched = 0

        def find(buffer: bytearray) -> int:
            nonlocal searched
            found = pattern.search(buffer, searched)
            end = len(buffer) + 1 if found is None else found.end()
            if end > max_bytes:
                raise UnsatisfiableReadError(f"no {regex!r} in the first {max_bytes} bytes")
            # The delimiter may have come in part; those of HTTP are at most four bytes.
            searched = max(0, len(buffer) - 4)
            return 0 if found is None else end

        return self._read(find)

    def read_until(self, delimiter: bytes, max_bytes: int) -> asyncio.Future[bytes]:
        return self.read_until_regex(re.escape(delimiter), max_bytes)

    def read_bytes(self, count: int, partial: bool = False) -> asyncio.Future[bytes]:
        def find(buffer: bytearray) -> int:
            there = len(buffer)
            return count if there >= count else there if partial else 0

        return self._read(find)

    def write(self, data: bytes) -> asyncio.Future[None]:
        written: asyncio.Future[None] = self._loop.create_future()
        if self._closed:
            written.set_exception(StreamClosedError())
            written.exception()
            return written
        self._transport.write(data)
        if self._full:
            self._writers.append(written)
        else:
            written.set_result(None)
        return written

    def close(self) -> None:
        """Closes at once; what the system hasn't taken yet is lost."""
        if not self._closed:
            self._closed = True
            self._transport.abort()

    def closed(self) -> bool:
        return self._closed

    def set_close_callback(self, callback: Callable[[], None] | None) -> None:
        self._close_callback = callback
        if self._closed and callback is not None:
            self._loop.call_soon(self._tell_closed)

    def set_nodelay(self, value: bool) -> None:
        """asyncio never delays."""

    def _tell_closed(self) -> None:
        callback, self._close_callback = self._close_callback, None
        if callback is not None:
            callback()

    def _read(self, find: Find) -> asyncio.Future[bytes]:
        assert self._find is None
        self._reader = future = self._loop.create_future()
        if self._closed:
            self._reader = None
            future.set_exception(StreamClosedError())
            future.exception()
            return future
        self._find = find
        self._answer()
        if self._paused and len(self._buffer) < READ_AHEAD:
            self._paused = False
            self._transport.resume_reading()
        return future

    def _answer(self) -> None:
        """Gives the reader what it waits for, if it is there."""
        assert self._find is not None
        try:
            count = self._find(self._buffer)
        except UnsatisfiableReadError as error:
            reader, self._reader, self._find = self._reader, None, None
            if reader is not None and not reader.done():
                reader.set_exception(error)
            self.close()
            return
        if count:
            data = bytes(self._buffer[:count])
            del self._buffer[:count]
            reader, self._reader, self._find = self._reader, None, None
            if reader is not None and not reader.done():
                reader.set_result(data)
