"""False answers from a host, an instance's file or a client, and the traces that they leave."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from callboard.transport.instances import Instance
from callboard_programs.bridge.bridge import Bridge
from callboard_programs.client.http import Broken, Endpoint, HttpAnswer
from callboard_programs.relay.finder import HostFinder
from callboard_programs.relay.link import Link
from callboard_programs.relay.reconnect import Reconnector
from callboard_testing.fake_host import DEADLINE
from double_server import DoubleServer


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("header", "value", "body"),
    [
        ("content-length", "many", b""),
        ("content-length", "-1", b""),
        ("content-length", "999999999999", b""),
        ("transfer-encoding", "chunked", b"many\r\n"),
        ("transfer-encoding", "chunked", b"-1\r\n"),
        ("transfer-encoding", "chunked", b"FFFFFFFFFF\r\n"),
    ],
)
def test_an_answer_of_an_impossible_size_is_broken_at_once(
    header: str, value: str, body: bytes
) -> None:
    async def drive() -> None:
        reader = asyncio.StreamReader()
        reader.feed_data(body)
        answer = HttpAnswer(Endpoint.at("http://127.0.0.1/mcp", None), reader, 200, {header: value})
        with pytest.raises(Broken):
            await asyncio.wait_for(answer.body(), DEADLINE)

    asyncio.run(drive())


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_an_answer_with_what_is_no_number_of_jsons_is_broken(number: str) -> None:
    async def drive() -> None:
        reader = asyncio.StreamReader()
        body = f'{{"result": {number}}}'.encode()
        reader.feed_data(body)
        size = {"content-length": str(len(body))}
        answer = HttpAnswer(Endpoint.at("http://127.0.0.1/mcp", None), reader, 200, size)
        with pytest.raises(Broken, match=f"{number} is not a JSON number"):
            await anext(answer.messages())

    asyncio.run(drive())


class OnlyHost(HostFinder):
    """A finder that always returns the same host, which was never announced."""

    def __init__(self, url: str) -> None:
        super().__init__(None)
        self._instance = Instance("a" * 16, "liar", "Liar", url, None, 1, 0.0)

    def find(self) -> Instance | None:
        return self._instance


async def nothing(link: Link) -> None:
    """Do nothing, because this connection needs no session."""


def test_who_stops_waiting_for_a_host_leaves_no_connection_behind() -> None:
    async def drive() -> None:
        asked, left = asyncio.Event(), asyncio.Event()

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            asked.set()
            await reader.read()  # Read until the other end is closed.
            left.set()

        server = DoubleServer(answer)
        url = f"http://127.0.0.1:{await server.start()}/mcp"
        keeper = Reconnector(OnlyHost(url), nothing, lambda: None)
        keeper.begin()
        running = asyncio.create_task(keeper.run())
        await asyncio.wait_for(asked.wait(), DEADLINE)
        running.cancel()
        await asyncio.wait_for(left.wait(), DEADLINE)
        await asyncio.gather(running, return_exceptions=True)
        await server.stop()

    asyncio.run(drive())


@pytest.mark.parametrize(
    "id", [[], {}, None, 1.5], ids=["a list", "an object", "nothing", "a fraction"]
)
def test_a_bridge_serves_on_after_a_cancellation_of_what_has_no_id(id: Any) -> None:
    answers: list[Any] = []
    opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t"}}

    async def drive() -> None:
        lines: asyncio.Queue[bytes | EOFError | None] = asyncio.Queue()
        for message in (
            {"id": 1, "method": "initialize", "params": opening},
            {"method": "notifications/cancelled", "params": {"requestId": id}},
            {"id": 2, "method": "ping"},
        ):
            lines.put_nowait(json.dumps({"jsonrpc": "2.0", **message}).encode())
        lines.put_nowait(EOFError())
        await asyncio.wait_for(Bridge(HostFinder(None), answers.append).run(lines), DEADLINE)

    asyncio.run(drive())
    assert [message["id"] for message in answers] == [1, 2]
