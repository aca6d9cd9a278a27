"""Has 200 clients connect, call and disconnect at random, and checks that they leave nothing
behind.

    python benchmarks/soak.py [--seconds 60] [--clients 200]

Sessions are left open on purpose, so the server runs with a short idle time. After that time,
sessions, tasks, threads and open files must be as before, and memory must be as after the warm-up.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from load_client import REVISION, Connection, Target
from server_process import ServerProcess

IDLE = 5.0
#: Seconds: the idle time plus the time until the server's sweep, with a margin.
SETTLE = IDLE + 12.0
#: MiB by which memory may grow between the end of the warm-up and the end of the run.
GROWTH = 4.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=200)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        options = ("--max-sessions", "100000", "--session-idle", str(IDLE))
        server = ServerProcess(Path(sys.executable), "callboard_server.py", Path(home), options)
        try:
            return soak(server, arguments.seconds, arguments.clients)
        finally:
            server.stop()


def soak(server: ServerProcess, seconds: float, clients: int) -> int:
    # The first storm is the warm-up: allocators and caches grow to the size that such a load needs.
    asyncio.run(storm(server.target, clients, seconds / 3))
    time.sleep(SETTLE)
    before = held(server)
    did = asyncio.run(storm(server.target, clients, seconds))
    time.sleep(SETTLE)
    after = held(server)
    print(f"{seconds:g} s, {clients} clients:", ", ".join(f"{n} {k}" for k, n in did.items()))
    print("| | after warm-up | after the storm |\n|---|---|---|")
    for name in before:
        print(f"| {name} | {before[name]:.1f} | {after[name]:.1f} |")
    leaked = [name for name in before if after[name] > before[name] + (name == "MiB") * GROWTH]
    print(f"leaked: {', '.join(leaked)}" if leaked else "nothing leaked")
    return 1 if leaked else 0


def held(server: ServerProcess) -> dict[str, float]:
    """Return the server's figures. They include this function's own session and connection."""
    asker = Connection(server.target)
    asker.open_session()
    _, result = asker.exchange("tools/call", {"name": "inside", "arguments": {}})
    counts: dict[str, float] = dict(result["structuredContent"])
    counts["open files"] = server.open_files()
    counts["MiB"] = server.status("VmRSS") / 1024
    asker.close()
    return counts


async def storm(target: Target, clients: int, seconds: float) -> Counter[str]:
    """Run the clients, and return the number of their actions of each kind."""
    did: Counter[str] = Counter()
    end = time.monotonic() + seconds
    await asyncio.gather(*(client(target, end, random.Random(n), did) for n in range(clients)))
    return did


async def client(target: Target, end: float, dice: random.Random, did: Counter[str]) -> None:
    while time.monotonic() < end:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            await one_life(Wire(target), dice, did)
        await asyncio.sleep(dice.uniform(0.0, 0.3))


async def one_life(wire: Wire, dice: random.Random, did: Counter[str]) -> None:
    await wire.open()
    try:
        if dice.random() < 0.1:
            did["dropped in the middle of a request"] += 1
            whole = wire.request("POST", {"jsonrpc": "2.0", "id": 1, "method": "ping"})
            wire.writer.write(whole[: dice.randrange(1, len(whole))])
            await wire.writer.drain()
            return
        await wire.initialize()
        for number in range(dice.randrange(1, 8)):
            call = {"name": "echo", "arguments": {"value": number}}
            body = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call}
            wire.writer.write(wire.request("POST", body))
            if dice.random() < 0.1:
                did["dropped before the answer"] += 1
                return
            answer = json.loads(await wire.answer())
            if answer["id"] != number or answer["result"]["structuredContent"]["value"] != number:
                raise RuntimeError(f"wrong answer to call {number}: {answer}")
            did["calls answered"] += 1
        ending = dice.random()
        if ending < 0.3:
            did["streams dropped"] += 1
            wire.writer.write(wire.request("GET"))
            await wire.reader.readuntil(b"\r\n\r\n")
        elif ending < 0.6:
            did["sessions ended"] += 1
            wire.writer.write(wire.request("DELETE"))
            await wire.answer()
        else:
            did["sessions left open"] += 1
    finally:
        if dice.random() < 0.5:
            wire.writer.transport.abort()
        wire.writer.close()


class Wire:
    """One connection of one client."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def __init__(self, target: Target) -> None:
        parts = urlsplit(target.url)
        self._address = (parts.hostname, parts.port)
        self._head = (
            f"{{}} {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\n"
            f"Authorization: Bearer {target.token}\r\nContent-Type: application/json\r\n"
            "Accept: application/json, text/event-stream\r\n"
        )

    async def open(self) -> None:
        self.reader, self.writer = await asyncio.open_connection(*self._address)

    async def initialize(self) -> None:
        params = {
            "protocolVersion": REVISION,
            "capabilities": {},
            "clientInfo": {"name": "soak", "version": "1"},
        }
        body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        self.writer.write(self.request("POST", body))
        await self.answer()

    def request(self, method: str, message: dict[str, Any] | None = None) -> bytes:
        body = b"" if message is None else json.dumps(message).encode()
        head = self._head.format(method) + f"Content-Length: {len(body)}\r\n\r\n"
        return head.encode() + body

    async def answer(self) -> bytes:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        if not head.startswith("HTTP/1.1 20"):
            raise RuntimeError(head)
        fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if line)
        if "Mcp-Session-Id" in fields:
            self._head += f"Mcp-Session-Id: {fields['Mcp-Session-Id']}\r\n"
        return await self.reader.readexactly(int(fields["Content-Length"]))


if __name__ == "__main__":
    raise SystemExit(main())
