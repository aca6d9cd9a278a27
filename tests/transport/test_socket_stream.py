"""The stream under Tornado's HTTP connections, over a real socket."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

import pytest
from tornado.iostream import StreamClosedError, UnsatisfiableReadError

from callboard.transport.http.socket_stream import READ_AHEAD, SocketStream

HEAD_END = rb"\r?\n\r?\n"
PATIENCE = 10.0

Client = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[SocketStream, Client]]:
    """Return both ends of one connection."""
    opened: asyncio.Future[SocketStream] = asyncio.get_running_loop().create_future()
    loop = asyncio.get_running_loop()
    room = memoryview(bytearray(READ_AHEAD))
    stream_of = partial(SocketStream, opened.set_result, room)
    server = await loop.create_server(stream_of, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
    stream = await opened
    try:
        yield stream, (reader, writer)
    finally:
        stream.close()
        writer.transport.abort()
        server.close()
        await server.wait_closed()


def over_a_socket(check: Callable[[SocketStream, Client], Awaitable[None]]) -> None:
    async def run() -> None:
        async with connected() as (stream, client):
            await asyncio.wait_for(check(stream, client), PATIENCE)

    # Every server uses this kind of loop. On Windows it isn't asyncio's default.
    loop = asyncio.SelectorEventLoop()
    try:
        loop.run_until_complete(run())
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


def test_a_delimiter_that_arrives_byte_by_byte_is_found() -> None:
    async def check(stream: SocketStream, client: Client) -> None:
        head = stream.read_until_regex(HEAD_END, max_bytes=100)
        for byte in b"GET / HTTP/1.1\r\nHost: x\r\n\r\n":
            client[1].write(bytes([byte]))
            await client[1].drain()
        assert await head == b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"

    over_a_socket(check)


def test_what_follows_a_read_is_there_for_the_next_one() -> None:
    async def check(stream: SocketStream, client: Client) -> None:
        client[1].write(b"one\r\n\r\ntwo, three")
        assert await stream.read_until_regex(HEAD_END, max_bytes=100) == b"one\r\n\r\n"
        assert await stream.read_bytes(3) == b"two"
        assert await stream.read_bytes(100, partial=True) == b", three"

    over_a_socket(check)


def test_a_head_without_an_end_closes_the_connection() -> None:
    async def check(stream: SocketStream, client: Client) -> None:
        head = stream.read_until_regex(HEAD_END, max_bytes=1000)
        client[1].write(b"x" * 1001)
        with pytest.raises(UnsatisfiableReadError):
            await head
        assert stream.closed()

    over_a_socket(check)


def test_a_reader_and_the_close_callback_hear_of_a_client_that_leaves() -> None:
    async def check(stream: SocketStream, client: Client) -> None:
        told = asyncio.Event()
        stream.set_close_callback(told.set)
        more = stream.read_bytes(1)
        client[1].close()
        with pytest.raises(StreamClosedError):
            await more
        await told.wait()
        with pytest.raises(StreamClosedError):
            await stream.write(b"too late")
        with pytest.raises(StreamClosedError):
            await stream.read_bytes(1)

    over_a_socket(check)


def test_a_write_is_done_when_the_client_has_made_room_for_it() -> None:
    async def check(stream: SocketStream, client: Client) -> None:
        large = b"x" * (32 * 1024 * 1024)
        written = stream.write(large)
        await asyncio.sleep(0)
        assert not written.done()
        assert len(await client[0].readexactly(len(large))) == len(large)
        await written

    over_a_socket(check)


def test_a_write_that_nobody_reads_ends_with_the_connection() -> None:
    async def check(stream: SocketStream, client: Client) -> None:
        written = stream.write(b"x" * (32 * 1024 * 1024))
        while written.done():  # Windows accepts a single write of any size.
            written = stream.write(b"x" * (32 * 1024 * 1024))
        client[1].transport.abort()
        with pytest.raises(StreamClosedError):
            await written

    over_a_socket(check)


def test_a_client_that_sends_more_than_is_read_has_to_wait() -> None:
    async def check(stream: SocketStream, client: Client) -> None:
        total = 32 * 1024 * 1024
        client[1].write(b"x" * total)
        drained = asyncio.create_task(client[1].drain())
        got = len(await stream.read_bytes(1000))
        assert not drained.done()
        while got < total:
            got += len(await stream.read_bytes(1024 * 1024, partial=True))
        await drained

    over_a_socket(check)


def test_a_client_that_resets_before_it_is_hung_up_on_does_no_harm() -> None:
    async def check() -> None:
        loop = asyncio.get_running_loop()
        opened: asyncio.Future[SocketStream] = loop.create_future()
        room = memoryview(bytearray(READ_AHEAD))
        stream_of = partial(SocketStream, opened.set_result, room)
        server = await loop.create_server(stream_of, "127.0.0.1", 0)
        client = socket.create_connection(server.sockets[0].getsockname()[:2])
        stream = await opened
        left = loop.create_future()
        stream.set_close_callback(lambda: left.set_result(None))
        among: set[SocketStream] = set()
        stream.linger(among)
        # A socket that is closed this way resets its connection at once.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
        stream.close()
        await asyncio.wait_for(left, PATIENCE)
        assert stream.closed()
        assert not among
        server.close()
        await server.wait_closed()

    asyncio.run(check())
