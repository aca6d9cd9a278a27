"""Malicious requests. Each is answered, whatever it contains. Other input closes only its own
connection."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from callboard_testing.fake_client import FakeClient
from hostile.making import spoiled, spoiled_bytes, value
from serving import Served, served

DEADLINE = 30.0
#: Requests that are sent at once on one connection.
BATCH = 64
SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string", "format": "workspace-path"}, "n": {"type": "number"}},
}
ENDLESS = b"subscriptions/listen"


def check(random: Random, folder: Path) -> Iterator[str]:
    root = folder / "root"
    root.mkdir()
    with served(roots=[str(root)], roots_policy="strict") as server, server.client() as client:
        server.tool("echo", lambda **given: given, SCHEMA)
        server.tool("there", lambda **given: given, SCHEMA, affinity="any",
                    required_capabilities=("filesystem.read",))  # fmt: skip
        line = Line(server, str(client.session))
        try:
            yield from _exchanges(random, line, client)
        finally:
            line.close()


def _exchanges(random: Random, line: Line, client: FakeClient) -> Iterator[str]:
    while True:
        bodies = [_body(random) for _ in range(BATCH)]
        if random.random() < 0.1:
            noise = spoiled_bytes(random, line.framed(bodies[0]))
            yield repr(noise)
            line.shout(noise)
        for body in bodies:
            yield repr(body)
        line.exchange(bodies)
        assert client.request("ping")["result"] == {}


def _body(random: Random) -> bytes:
    good = random.choice(MESSAGES)
    while True:
        kind = random.random()
        if kind < 0.6:
            body = _written(spoiled(random, good))
        elif kind < 0.9:
            body = spoiled_bytes(random, _written(good))
        else:
            body = _written(value(random))
        if ENDLESS not in body:
            return body


def _written(message: Any) -> bytes:
    return json.dumps(message).encode()


class Line:
    """One connection, which is reopened when the server closes it."""

    def __init__(self, server: Served, session: str) -> None:
        port = server.app.url.rsplit(":", 1)[1].split("/")[0]
        self._address = ("127.0.0.1", int(port))
        self._head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            f"Authorization: Bearer {server.app.token}\r\nContent-Type: application/json\r\n"
            f"Accept: application/json, text/event-stream\r\nMcp-Session-Id: {session}\r\n"
        ).encode()
        self._socket: socket.socket | None = None
        self._data = b""

    def framed(self, body: bytes) -> bytes:
        return self._head + b"Content-Length: %d\r\n\r\n" % len(body) + body

    def exchange(self, bodies: list[bytes]) -> None:
        """Send all bodies, and read as many answers. If an answer closes the connection, send the
        rest again."""
        waiting = bodies
        for _ in range(len(bodies) + 1):
            connection = self._connected()
            connection.sendall(b"".join(map(self.framed, waiting)))
            answered = 0
            while answered < len(waiting):
                if not self._answer(connection):
                    self.close()
                    break
                answered += 1
            assert answered, f"no answer to {waiting[0]!r}"
            waiting = waiting[answered:]
            if not waiting:
                return
        raise AssertionError(f"no answer to {waiting[0]!r}")

    def shout(self, noise: bytes) -> None:
        """Send noise on a new connection. The server answers, closes the connection, or keeps it
        open for more."""
        with socket.create_connection(self._address, DEADLINE) as connection:
            connection.sendall(noise)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass

    def _connected(self) -> socket.socket:
        if self._socket is None:
            self._socket = socket.create_connection(self._address, DEADLINE)
        return self._socket

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket, self._data = None, b""

    def _answer(self, connection: socket.socket) -> bool:
        """Read one whole answer. Return False if the connection ended before it."""
        while (end := self._data.find(b"\r\n\r\n")) < 0:
            if not self._more(connection):
                return False
        head, self._data = self._data[:end].lower(), self._data[end + 4 :]
        assert head.startswith(b"http/1.1 "), head
        status = int(head[9:12])
        assert status != 500, head
        if b"transfer-encoding: chunked" in head:
            while not re.search(rb"(?:^|\r\n)0\r\n\r\n", self._data):
                if not self._more(connection):
                    return False
            self._data = self._data.partition(b"0\r\n\r\n")[2]
            return True
        length = re.search(rb"content-length: (\d+)", head)
        size = int(length[1]) if length else 0
        while len(self._data) < size:
            if not self._more(connection):
                return False
        self._data = self._data[size:]
        return True

    def _more(self, connection: socket.socket) -> bool:
        data = connection.recv(2**16)
        self._data += data
        return bool(data)


_INFO = {"name": "x", "version": "1"}
_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": _INFO,
    "io.modelcontextprotocol/clientCapabilities": {},
    "progressToken": 7,
}


def _request(method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}


MESSAGES = [
    _request("ping"),
    _request("tools/list"),
    _request("tools/call", {"name": "echo", "arguments": {"path": "a", "n": 1}, "_meta": _META}),
    _request("tools/call", {"name": "there", "arguments": {"path": "workspace://a/b"}}),
    _request("resources/list"),
    _request("resources/read", {"uri": "callboard://log"}),
    _request("resources/templates/list", {"cursor": "x"}),
    _request("prompts/list"),
    _request("prompts/get", {"name": "x", "arguments": {"a": "b"}}),
    _request("completion/complete", {"ref": {"type": "ref/prompt", "name": "x"},
             "argument": {"name": "a", "value": "b"}}),
    _request("logging/setLevel", {"level": "info"}),
    _request("resources/subscribe", {"uri": "scene://current"}),
    _request("tasks/get", {"taskId": "x"}),
    _request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}}),
    _request("server/discover", {"_meta": _META}),
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
    {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
    {"jsonrpc": "2.0", "id": 5, "result": {"roots": [{"uri": "file:///x"}]}},
    {"jsonrpc": "2.0", "id": 5, "error": {"code": -32601, "message": "no"}},
]  # fmt: skip
