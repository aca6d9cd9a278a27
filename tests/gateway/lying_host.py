"""A server that announces itself as an instance and answers calls with false data."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import time
from typing import Any

from callboard.transport import instance_proof, instances
from callboard.transport.instances import Instance
from callboard_testing.fake_host import DEADLINE
from double_server import DoubleServer

JSON = "application/json"
READS = {
    "name": "reads",
    "inputSchema": {"type": "object"},
    "annotations": {"readOnlyHint": True},
}


class LyingHost:
    """Introduces itself as a host does. ``lie`` is the whole body of the answer to calls and to the
    page's request for events, and ``kind`` is its type. ``result`` answers everything else."""

    def __init__(self) -> None:
        self.id = instances.new_id()
        self.port = 0
        self.lie = b""
        self.kind = JSON
        #: The whole answer to calls, including its headers. Replaces ``lie``.
        self.raw = b""
        #: True if no answer ever ends, not even the one to a health check.
        self.drips = False
        #: The number of bytes by which an answer is shorter than it claims.
        self.missing = 0
        #: Methods that get no answer at all.
        self.silent_about: set[str] = set()
        self.result: Any = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "tools": [READS],
            "prompts": [],
            "resources": [],
        }

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                while self.drips:
                    writer.write(b"H")
                    await asyncio.sleep(0.05)
                if head.startswith(f"GET {instance_proof.PATH}"):
                    self._write(writer, json.dumps({"proof": self._proof(head)}).encode())
                    continue
                if head.startswith("GET /v1/healthz"):
                    self._write(writer, json.dumps({"instance": self.id}).encode())
                    continue
                if head.startswith("GET /v1/artist/events"):
                    self._write(writer, self.lie, self.kind)
                    continue
                length = head.lower().partition("content-length:")[2].split("\r\n")[0] or "0"
                await self._answer(writer, json.loads(await reader.readexactly(int(length))))
        except (asyncio.IncompleteReadError, ConnectionError, ValueError):
            return  # The caller has disconnected.
        finally:
            writer.transport.abort()

    def _proof(self, head: str) -> str | None:
        challenge = head.partition(f"{instance_proof.HEADER}: ")[2].split("\r\n")[0]
        return instance_proof.proof("token", self.port, challenge)

    async def _answer(self, writer: asyncio.StreamWriter, message: Any) -> None:
        method = message["method"]
        if method == "subscriptions/listen":
            known = "notifications/subscriptions/acknowledged"
            told = json.dumps({"jsonrpc": "2.0", "method": known, "params": {}})
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n")
            data = f"data: {told}\n\n".encode()
            writer.write(b"Transfer-Encoding: chunked\r\n\r\n")
            writer.write(b"%x\r\n%b\r\n" % (len(data), data))
        elif method in self.silent_about:
            return
        elif method == "tools/call" and self.raw:
            writer.write(self.raw)
        elif method == "tools/call":
            self._write(writer, self.lie, self.kind, self.missing)
        else:
            answer = {"jsonrpc": "2.0", "id": message.get("id"), "result": self.result}
            self._write(writer, json.dumps(answer).encode())

    def _write(
        self, writer: asyncio.StreamWriter, body: bytes, kind: str = JSON, missing: int = 0
    ) -> None:
        fields = f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(f"HTTP/1.1 200 OK\r\n{fields}".encode() + body[: len(body) - missing])
        if missing:
            writer.close()


@contextmanager
def lying_host(kind: str = "liar", scene: str | None = None) -> Iterator[LyingHost]:
    """Run a lying host in a separate thread, and announce it."""
    host = LyingHost()
    loop = asyncio.new_event_loop()
    server = DoubleServer(host.answer)
    host.port = loop.run_until_complete(server.start())
    url = f"http://127.0.0.1:{host.port}/mcp"
    thread = threading.Thread(target=loop.run_forever, name="lying-host", daemon=True)
    thread.start()
    path = instances.announce(
        Instance(host.id, kind, "Liar", url, "token", os.getpid(), time(), scene)
    )
    try:
        yield host
    finally:
        instances.withdraw(path)
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(DEADLINE)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(DEADLINE)
        loop.close()
