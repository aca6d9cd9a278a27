"""The stream that Tornado's HTTP connections read and write, on an asyncio transport.

Tornado's own ``IOStream`` takes its socket out of the selector and puts it back for every request,
and clears a buffer for every read. That takes a fifth of a call's time. This class has the part of
``IOStream``'s interface that ``HTTP1Connection`` uses. Plain requests are taken before they reach
that interface.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from tornado.ioloop import IOLoop

#: Maximum number of bytes received ahead of a reader. Beyond that, the socket isn't read until a
#: reader needs more.
READ_AHEAD = 64 * 1024
#: Limits for reading and discarding late data: seconds, bytes, and clients at the same time.
LINGER, LINGER_BYTES, LINGERERS = 2.0, 16 * 1024 * 1024, 64

Find = Callable[[bytearray], int]


class RequestReader(Protocol):
    """Reads some requests itself. It calls the stream's ``release`` when a request is answered."""

    def begin(self, data: bytes) -> bytes | None:
        """Take the request that ``data`` begins with, and return the data after the request, or
        None if nothing was taken."""

    def receive(self, data: bytes) -> bytes:
        """Take more of the request under way, and return the data after it."""


class _TooLong(Exception):
    """Raised when a reader has reached its byte limit without finding what it's waiting for."""


class SocketStream(asyncio.BufferedProtocol):
    """One connection. Runs on the server's loop. As with IOStream, only one read can be under way.

    ``room`` is the buffer that the loop's connections share. asyncio fills it and hands it over
    without a pause, so no other connection writes into it in the meantime. Without it, asyncio
    would allocate and free 256 KiB for each read."""

    def __init__(self, opened: Callable[[SocketStream], None], room: memoryview) -> None:
        self._opened = opened
        self._room = room
        #: Takes requests before Tornado sees them.
        self._taker: RequestReader | None = None
        #: Called once, when data arrives that neither the taker nor a reader takes.
        self._unread: Callable[[SocketStream], None] | None = None
        #: Called once, when no further data is read.
        self._ended: Callable[[SocketStream], None] | None = None
        #: True while the taker has a request that isn't answered yet.
        self._taken = False
        #: True while a reader waits for a head and none of it has arrived.
        self._expecting = False
        self._transport: asyncio.Transport
        self._buffer = bytearray()
        #: Returns the number of bytes that complete the read in progress, or 0 while some are
        #: missing.
        self._find: Find | None = None
        self._reader: asyncio.Future[bytes] | None = None
        self._writers: list[asyncio.Future[None]] = []
        self._full = False
        self._paused = False
        self._closed = False
        self._lingering: set[SocketStream] | None = None
        self._linger_bytes = 0
        self._linger_timer: asyncio.TimerHandle | None = None
        self._close_callback: Callable[[], None] | None = None
        self._loop = asyncio.get_running_loop()
        self.max_buffer_size = READ_AHEAD

    def serve(
        self,
        taker: RequestReader,
        unread: Callable[[SocketStream], None],
        ended: Callable[[SocketStream], None],
    ) -> None:
        """Hand requests to ``taker``. At the first request that ``taker`` doesn't take, ``unread``
        is called, and must read from the stream from then on. ``ended`` is called when no further
        data is read."""
        self._taker, self._unread, self._ended = taker, unread, ended
        self._expecting = True

    @property
    def io_loop(self) -> IOLoop:
        """Tornado's name for the loop."""
        from tornado.ioloop import IOLoop  # A plain connection doesn't need Tornado.

        return IOLoop.current()

    @property
    def address(self) -> str:
        """The other end's address, without its port. Empty if the connection ended at once."""
        peer = self._transport.get_extra_info("peername")
        return str(peer[0]) if isinstance(peer, tuple) and peer else ""

    # -- called by the transport ---------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        # A write is done when the system has all of it. With a limit of zero, asyncio's TLS treats
        # an empty buffer as full, and reports that for every other write.
        transport.set_write_buffer_limits(high=1, low=0)
        self._opened(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._room

    def buffer_updated(self, nbytes: int) -> None:
        self.receive(bytes(self._room[:nbytes]))

    def receive(self, data: bytes) -> None:
        """Take the next data from the client."""
        if self._closed:
            self._linger_bytes += len(data)
            if self._linger_bytes > LINGER_BYTES:
                self.abort()
            return
        if self._taker is not None:
            if self._taken:
                data = self._taker.receive(data)
                if not data:
                    return
            elif self._expecting and not self._buffer:
                self._taken = True
                rest = self._taker.begin(data)
                if rest is None:
                    self._taken = False
                else:
                    if rest:
                        self._keep(rest)
                    return
        self._buffer += data
        if not self._taken:
            self._expecting = False
            if self._find is not None:
                self._answer()
            elif self._unread is not None:
                unread, self._unread = self._unread, None
                unread(self)
        if len(self._buffer) >= READ_AHEAD and (self._taken or self._find is None):
            self._pause()

    def release(self) -> None:
        """Continue with the next request, because the request that was taken has been answered."""
        self._taken = False
        if self._buffer:
            self._keep(b"")
        if self._paused:
            self._resume()

    def _keep(self, rest: bytes) -> None:
        """Keep data for the next request, which waits until this one is answered."""
        self._buffer += rest
        if self._buffer and not self._taken:
            self._loop.call_soon(self._read_on)

    def _read_on(self) -> None:
        if self._buffer and not self._taken and not self._closed:
            data = bytes(self._buffer)
            self._buffer.clear()
            self._resume()
            self.receive(data)

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
        self._transport.close()  # Python 3.10's TLS warns when only the other end has closed.
        if self._linger_timer is not None:
            self._linger_timer.cancel()
        if self._lingering is not None:
            self._lingering.discard(self)
        waiting: list[asyncio.Future[None] | asyncio.Future[bytes]] = [*self._writers]
        if self._reader is not None:
            waiting.append(self._reader)
        self._writers, self._reader, self._find = [], None, None
        for future in waiting:
            if not future.done():
                future.set_exception(_closed_error(error))
                future.exception()  # This marks the error as seen, even if no task waits for it.
        self._tell_closed()
        self._tell_ended()

    # -- called by Tornado ---------------------------------------------------------------------

    def read_until_regex(self, regex: bytes, max_bytes: int) -> asyncio.Future[bytes]:
        """Read until the end of a head. Tornado calls this for nothing else."""
        future = self._read_until(regex, max_bytes)
        self._expecting = self._find is not None and not self._buffer
        return future

    def _read_until(self, regex: bytes, max_bytes: int) -> asyncio.Future[bytes]:
        pattern = re.compile(regex)
        searched = 0

        def find(buffer: bytearray) -> int:
            nonlocal searched
            match = pattern.search(buffer, searched)
            end = len(buffer) + 1 if match is None else match.end()
            if end > max_bytes:
                raise _TooLong(f"no {regex!r} in the first {max_bytes} bytes")
            # The delimiter may have arrived in part. HTTP's delimiters are at most four bytes long.
            searched = max(0, len(buffer) - 4)
            return 0 if match is None else end

        return self._read(find)

    def read_until(self, delimiter: bytes, max_bytes: int) -> asyncio.Future[bytes]:
        return self._read_until(re.escape(delimiter), max_bytes)

    def read_bytes(self, count: int, partial: bool = False) -> asyncio.Future[bytes]:
        def find(buffer: bytearray) -> int:
            there = len(buffer)
            return count if there >= count else there if partial else 0

        return self._read(find)

    def write(self, data: bytes) -> asyncio.Future[None]:
        written: asyncio.Future[None] = self._loop.create_future()
        if self._closed:
            written.set_exception(_closed_error())
            written.exception()
            return written
        self._transport.write(data)
        if self._full:
            self._writers.append(written)
        else:
            written.set_result(None)
        return written

    def linger(self, among: set[SocketStream]) -> None:
        """Make ``close`` wait a while for the client to send everything. During that time, the
        stream is in ``among``. A connection that closes with unread bytes is reset, and a client
        that is still sending would never see the answer."""
        if len(among) < LINGERERS:
            self._lingering = among

    def close(self) -> None:
        """Close at once, unless the stream lingers. Data that the system hasn't taken yet is
        lost."""
        if self._closed:
            return
        if self._lingering is None:
            self.abort()
            return
        self._closed = True
        self._lingering.add(self)
        self._buffer.clear()
        if not self._transport.can_write_eof():  # TLS can't close only one direction.
            self.abort()
            return
        try:
            self._transport.write_eof()
        except OSError:  # The client has reset the connection, and asyncio hasn't reported it yet.
            self.abort()
            return
        self._resume()
        self._linger_timer = self._loop.call_later(LINGER, self.abort)
        self._tell_ended()

    def abort(self) -> None:
        """Close at once."""
        self._closed = True
        self._transport.abort()

    def closed(self) -> bool:
        return self._closed

    def set_close_callback(self, callback: Callable[[], None] | None) -> None:
        self._close_callback = callback
        if self._closed and callback is not None:
            self._loop.call_soon(self._tell_closed)

    def set_nodelay(self, value: bool) -> None:
        """Do nothing, because asyncio never delays."""

    def _tell_closed(self) -> None:
        callback, self._close_callback = self._close_callback, None
        if callback is not None:
            callback()

    def _tell_ended(self) -> None:
        ended, self._ended, self._unread = self._ended, None, None
        if ended is not None:
            ended(self)

    def _read(self, find: Find) -> asyncio.Future[bytes]:
        assert self._find is None
        self._reader = future = self._loop.create_future()
        if self._closed:
            self._reader = None
            future.set_exception(_closed_error())
            future.exception()
            return future
        self._find = find
        self._answer()
        self._resume()
        return future

    def _pause(self) -> None:
        if not self._closed:
            self._transport.pause_reading()
            self._paused = True

    def _resume(self) -> None:
        if self._paused and len(self._buffer) < READ_AHEAD:
            self._paused = False
            self._transport.resume_reading()

    def _answer(self) -> None:
        """Give the reader what it is waiting for, if that has arrived."""
        assert self._find is not None
        try:
            count = self._find(self._buffer)
        except _TooLong as error:
            # Tornado has loaded this module already.
            from tornado.iostream import UnsatisfiableReadError

            reader, self._reader, self._find = self._reader, None, None
            if reader is not None and not reader.done():
                reader.set_exception(UnsatisfiableReadError(str(error)))
            self.close()
            return
        if count:
            data = bytes(self._buffer[:count])
            del self._buffer[:count]
            reader, self._reader, self._find = self._reader, None, None
            if reader is not None and not reader.done():
                reader.set_result(data)


def _closed_error(error: Exception | None = None) -> OSError:
    """Return the error that Tornado and its users expect from a closed connection."""
    from tornado.iostream import StreamClosedError  # A plain connection doesn't need Tornado.

    return StreamClosedError(error)
