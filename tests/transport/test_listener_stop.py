"""A port is closed at the moment when a client connects."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress

import pytest

from callboard.transport.http.access import Access
from callboard.transport.http.listener import Listener
from callboard_testing.fake_host import DEADLINE


@pytest.mark.parametrize("turns", range(6))
def test_who_comes_in_as_it_stops_is_hung_up_on(turns: int) -> None:
    async def come_and_stop() -> socket.socket:
        listener = Listener()
        listener.bind(0)
        await listener.start(Access(listener.port, "token"))
        comer = socket.create_connection(("127.0.0.1", listener.port))
        for _ in range(turns):
            await asyncio.sleep(0)
        await listener.stop()
        return comer

    loop = asyncio.new_event_loop()
    with loop.run_until_complete(come_and_stop()) as comer:
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
        comer.settimeout(DEADLINE)
        with suppress(ConnectionResetError):
            assert comer.recv(1) == b""
