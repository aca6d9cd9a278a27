"""TLS handshakes under way. These connections have no known client and don't count against the
listener's limit, so they have a limit of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from ssl import SSLContext

from callboard.transport.http.socket_stream import SocketStream


class Handshakes:
    """The TLS handshakes that are under way. At most ``most`` are open at once, each for at most
    ``seconds``. When one more arrives, the oldest is ended: an honest client needs a fraction of a
    second, so the oldest is unlikely to succeed. Each connection that completes its handshake gets
    a stream from ``opened``. Runs on the server's loop."""

    def __init__(
        self, tls: SSLContext, most: int, seconds: float, opened: Callable[[], SocketStream]
    ) -> None:
        self._tls = tls
        self._most = most
        self._seconds = seconds
        self._opened = opened
        #: In order of arrival, the oldest first.
        self._open: dict[asyncio.Transport, None] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def arrival(self) -> asyncio.Protocol:
        """Return the protocol of a connection that was just accepted."""
        return _Arrival(self._begin)

    async def stop(self) -> None:
        """End the handshakes that are under way."""
        for transport in self._open:
            transport.abort()
        await asyncio.gather(*self._tasks)

    def _begin(self, transport: asyncio.Transport) -> None:
        if len(self._open) >= self._most:
            oldest = next(iter(self._open))
            del self._open[oldest]
            oldest.abort()
        self._open[transport] = None
        task = asyncio.get_running_loop().create_task(self._agree(transport))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _agree(self, transport: asyncio.Transport) -> None:
        if transport.is_closing():  # A newer connection has just displaced this one.
            return
        loop, early = asyncio.get_running_loop(), _Early()
        secured = None
        # A handshake can fail in many ways, and there is nothing to report about any of them.
        with suppress(OSError):
            secured = await loop.start_tls(
                *(transport, early, self._tls),
                server_side=True,
                ssl_handshake_timeout=self._seconds,
            )
        self._open.pop(transport, None)
        if secured is not None:  # This is also None when the connection is already closed.
            early.hand_over(secured, self._opened())


class _Arrival(asyncio.Protocol):
    """The protocol of a connection until its handshake begins, which is before anything is read."""

    def __init__(self, begin: Callable[[asyncio.Transport], None]) -> None:
        self._begin = begin

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._begin(transport)


class _Early(asyncio.Protocol):
    """Keeps what a client sends along with the last bytes of its handshake. asyncio delivers that
    before the task that awaits the handshake continues."""

    def __init__(self) -> None:
        self._data = b""

    def data_received(self, data: bytes) -> None:
        self._data += data

    def hand_over(self, transport: asyncio.Transport, stream: SocketStream) -> None:
        """Give ``stream`` the data that has arrived so far. Later data reaches it directly."""
        transport.set_protocol(stream)
        stream.connection_made(transport)
        if self._data:
            stream.receive(self._data)
