"""A raw HTTP/1.1 load client: one epoll loop, keep-alive, no asyncio, so that the client itself
costs little.

Every connection opens its own MCP session, then sends its next request as soon as it has the answer
to the last one (a closed loop). Answers may be JSON or server-sent events. Linux only.
"""

from __future__ import annotations

import json
import select
import socket
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

REVISION = "2025-06-18"
#: After this many seconds without any answer, a measurement is given up.
PATIENCE = 60.0


class BadAnswer(Exception):
    """The server answered with something other than a result."""


@dataclass(frozen=True)
class Target:
    """The address for requests, and the client's token."""

    url: str
    token: str | None = None


@dataclass
class Measured:
    """Latencies in seconds, in order of arrival, and the total duration."""

    latencies: list[float] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Answers per second."""
        return len(self.latencies) / self.seconds

    def percentile(self, share: float) -> float:
        """Return the milliseconds within which the given share (0 to 1) of the answers arrived."""
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000


class Connection:
    """One socket with one MCP session on it."""

    def __init__(self, target: Target) -> None:
        parts = urlsplit(target.url)
        self._address = (parts.hostname, parts.port)
        self._connect()
        self._common = (
            f"POST {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\n"
            "Content-Type: application/json\r\n"
            "Accept: application/json, text/event-stream\r\n"
        )
        if target.token is not None:
            self._common += f"Authorization: Bearer {target.token}\r\n"
        self._buffer = b""
        self._ids = 0
        self.sent_at = 0.0

    def _connect(self) -> None:
        self.socket = socket.create_connection(self._address, timeout=PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def revive(self) -> None:
        """Connect again if the server has closed the connection: uvicorn does so after 5 s without
        a request."""
        try:
            readable, _, _ = select.select([self.socket], [], [], 0)
            if not readable or self.socket.recv(1, socket.MSG_PEEK):
                return
        except ConnectionError:
            pass
        self.socket.close()
        self._connect()

    def open_session(self) -> None:
        """Send ``initialize`` and ``notifications/initialized``, blocking."""
        client = {"name": "benchmark", "version": "1"}
        params = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": client}
        head, _ = self.exchange("initialize", params)
        for line in head.split("\r\n"):
            name, _, value = line.partition(":")
            if name.lower() == "mcp-session-id":
                self._common += f"Mcp-Session-Id: {value.strip()}\r\n"
        self._common += f"MCP-Protocol-Version: {REVISION}\r\n"
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        while self.receive() is None:
            pass

    def end_session(self) -> None:
        """End the session, blocking."""
        head = self._common.replace("POST", "DELETE", 1)
        self.socket.sendall(f"{head}Content-Length: 0\r\n\r\n".encode())
        while self.receive() is None:
            pass

    def exchange(self, method: str, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Send one request, wait for its answer, and return the answer's head and result."""
        self.send(method, params)
        while (answer := self.receive()) is None:
            pass
        return answer[0], self.result(answer[1])

    def send(self, method: str, params: dict[str, Any]) -> None:
        self._ids += 1
        message = {"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params}
        self._write(message)

    def _write(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        head = f"{self._common}Content-Length: {len(body)}\r\n\r\n".encode()
        self.sent_at = perf_counter()
        self.socket.sendall(head + body)

    def receive(self) -> tuple[str, bytes] | None:
        """Read once. Return the head and the body of the answer if it is complete."""
        data = self.socket.recv(262_144)
        if not data:
            raise BadAnswer("the server closed the connection")
        self._buffer += data
        return self._take()

    def _take(self) -> tuple[str, bytes] | None:
        buffer = self._buffer
        end = buffer.find(b"\r\n\r\n")
        if end < 0:
            return None
        head = buffer[:end].decode("latin-1")
        lower = head.lower()
        if not head.startswith("HTTP/1.1 20"):
            raise BadAnswer(buffer.decode("utf-8", "replace")[:500])
        if "transfer-encoding: chunked" in lower:
            return self._take_chunks(head, end + 4)
        at = lower.find("content-length:")
        length = int(lower[at + 15 :].split("\r\n", 1)[0]) if at >= 0 else 0
        if len(buffer) < end + 4 + length:
            return None
        self._buffer = buffer[end + 4 + length :]
        return head, buffer[end + 4 : end + 4 + length]

    def _take_chunks(self, head: str, at: int) -> tuple[str, bytes] | None:
        buffer, parts = self._buffer, []
        while True:
            line = buffer.find(b"\r\n", at)
            if line < 0:
                return None
            size = int(buffer[at:line], 16)
            at = line + 2 + size + 2
            if len(buffer) < at:
                return None
            if size == 0:
                self._buffer = buffer[at:]
                return head, b"".join(parts)
            parts.append(buffer[line + 2 : line + 2 + size])

    def result(self, body: bytes) -> dict[str, Any]:
        """Return the result in an answer to this connection's last request. Raises BadAnswer."""
        if not body.startswith(b"{"):
            lines = body.splitlines()
            body = next((line[5:] for line in lines if line.startswith(b"data:")), b"{}")
        message = json.loads(body)
        result = message.get("result")
        if message.get("id") != self._ids or result is None or result.get("isError"):
            raise BadAnswer(body.decode("utf-8", "replace")[:500])
        checked: dict[str, Any] = result
        return checked

    def close(self) -> None:
        self.socket.close()


def measure(
    connections: list[Connection], method: str, params: dict[str, Any], total: int
) -> Measured:
    """Send ``total`` requests over the connections, each in its own closed loop."""
    measured = Measured()
    for connection in connections:
        connection.revive()
    by_fd = {connection.socket.fileno(): connection for connection in connections}
    with select.epoll() as poll:
        for fd in by_fd:
            poll.register(fd, select.EPOLLIN)
        left = total - len(connections)
        began = perf_counter()
        for connection in connections:
            connection.send(method, params)
        while len(measured.latencies) < total:
            ready = poll.poll(PATIENCE)
            if not ready:
                raise BadAnswer(f"no answer for {PATIENCE:g} s")
            for fd, _ in ready:
                connection = by_fd[fd]
                answer = connection.receive()
                if answer is None:
                    continue
                measured.latencies.append(perf_counter() - connection.sent_at)
                connection.result(answer[1])
                if left > 0:
                    left -= 1
                    connection.send(method, params)
        measured.seconds = perf_counter() - began
    return measured
