"""The bridge's connection to the current host."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from time import time

import pytest

from callboard.protocol.jsonrpc import Request
from callboard.transport import instances
from callboard.transport.instances import Instance
from callboard_programs.relay import reconnect as keeping
from callboard_programs.relay.finder import HostFinder
from callboard_programs.relay.link import Link
from callboard_programs.relay.reconnect import Reconnector
from callboard_testing.fake_host import DEADLINE
from double_server import DoubleServer


class RefusingHost:
    """A host that claims to be serving but refuses every client. ``refused`` counts the
    refusals."""

    def __init__(self, id: str) -> None:
        self.refused = 0
        self.asked = asyncio.Event()
        self._health = json.dumps({"instance": id}).encode()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        status, body = "200 OK", self._health
        if head.startswith(b"POST /mcp"):
            status, body = "401 Unauthorized", b""
            self.refused += 1
            self.asked.set()
        size = f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer.write(f"HTTP/1.1 {status}\r\n{size}".encode() + body)
        await writer.drain()
        writer.close()


def test_a_host_that_refuses_is_not_asked_again_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    monkeypatch.setattr(keeping, "LOOK_EVERY", 10 * DEADLINE)

    async def ready(link: Link) -> None:
        raise AssertionError("the keeper connected")

    async def drive() -> int:
        id = instances.new_id()
        host = RefusingHost(id)
        server = DoubleServer(host.answer)
        url = f"http://127.0.0.1:{await server.start()}/mcp"
        instances.announce(Instance(id, "maya", "Maya", url, None, os.getpid(), time()))
        keeper = Reconnector(HostFinder(None), ready, lambda: None)
        running = asyncio.create_task(keeper.run())
        keeper.hear(Request(1, "tools/list"))
        await asyncio.wait_for(host.asked.wait(), DEADLINE)
        # Each of these look-ups takes as long as a further attempt to connect would.
        for _ in range(5):
            assert len(await asyncio.to_thread(instances.listed)) == 1
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await server.stop()
        return host.refused

    assert asyncio.run(drive()) == 1
