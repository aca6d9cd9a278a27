"""Connections that begin TLS and never complete the handshake."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable

from callboard.transport.http.handshakes import Handshakes
from callboard.transport.http.socket_stream import READ_AHEAD, SocketStream
from callboard_programs.gateway.certificate import own_certificate
from callboard_testing.fake_host import DEADLINE
from needed import needs

pytestmark = needs("openssl")
MOST = 3
AN_HOUR = 3600.0


class Echo(SocketStream):
    """Sends back whatever arrives."""

    def __init__(self) -> None:
        super().__init__(lambda stream: None, memoryview(bytearray(READ_AHEAD)))

    def receive(self, data: bytes) -> None:
        self.write(data)


class Server:
    def __init__(self, port: int, handshakes: Handshakes) -> None:
        self._port = port
        self._silent: list[asyncio.StreamWriter] = []
        self.handshakes = handshakes

    async def silent(self, sent: bytes = b"") -> asyncio.StreamReader:
        """Open a connection that begins no handshake. Return its reader."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(sent)
        self._silent.append(writer)
        return reader

    def leave(self) -> None:
        for writer in self._silent:
            writer.transport.abort()

    async def echo(self, sent: bytes) -> bytes:
        """Return the bytes that come back over a complete TLS connection."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, ssl=context)
        writer.write(sent)
        heard = await reader.readexactly(len(sent))
        writer.close()
        return heard


@contextlib.asynccontextmanager
async def serving() -> AsyncIterator[Server]:
    tls = own_certificate("127.0.0.1").context()
    handshakes = Handshakes(tls, MOST, AN_HOUR, Echo)
    server = await asyncio.get_running_loop().create_server(handshakes.arrival, "127.0.0.1", 0)
    served = Server(server.sockets[0].getsockname()[1], handshakes)
    try:
        yield served
    finally:
        served.leave()
        server.close()
        await handshakes.stop()


def in_time(test: Callable[[Server], Awaitable[None]]) -> None:
    async def run() -> None:
        async with serving() as server:
            await test(server)

    asyncio.run(asyncio.wait_for(run(), DEADLINE))


async def ended(reader: asyncio.StreamReader) -> bool:
    try:
        return await reader.read() == b""
    except ConnectionError:
        return True


def test_the_oldest_makes_room_and_who_means_it_gets_in() -> None:
    async def test(server: Server) -> None:
        held = [await server.silent() for _ in range(3 * MOST)]
        assert await server.echo(b"hello") == b"hello"
        for oldest in held[: 2 * MOST]:
            assert await ended(oldest)
        assert not held[-1].at_eof()

    in_time(test)


def test_those_who_agreed_count_no_more() -> None:
    async def test(server: Server) -> None:
        waiting = await server.silent()
        for number in range(2 * MOST):
            assert await server.echo(b"%d" % number) == b"%d" % number
        assert not waiting.at_eof()

    in_time(test)


def test_what_is_no_tls_is_ended() -> None:
    async def test(server: Server) -> None:
        plain = await server.silent(b"GET / HTTP/1.1\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            assert not (await plain.read()).startswith(b"GET")
        assert await server.echo(b"hello") == b"hello"

    in_time(test)


def test_nobody_is_left_when_it_stops() -> None:
    async def test(server: Server) -> None:
        held = [await server.silent() for _ in range(MOST)]
        assert await server.echo(b"hello") == b"hello"  # The bytes have arrived now.
        await server.handshakes.stop()
        for reader in held:
            assert await ended(reader)

    in_time(test)
