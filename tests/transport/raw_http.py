"""Sends raw bytes to a listener and reads its answer, for requests that no HTTP library would
send."""

from __future__ import annotations

import contextlib
import http.client
import socket
from urllib.parse import urlsplit

from callboard_testing.fake_host import DEADLINE


class RawConnection:
    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.host = f"{parts.hostname}:{parts.port}"
        self.socket = socket.create_connection((parts.hostname, parts.port), DEADLINE)

    def __enter__(self) -> RawConnection:
        return self

    def __exit__(self, *reason: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def send_head(self, method: str, path: str = "/mcp", **headers: str) -> None:
        """Send a request's head. ``Content_Length`` becomes ``Content-Length``."""
        lines = [f"{method} {path} HTTP/1.1"]
        fields = {"Host": self.host, **headers}
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
        self.send("\r\n".join([*lines, "", ""]).encode("latin-1"))

    def answer(self, method: str = "POST") -> http.client.HTTPResponse:
        """Return the next answer. Its body is still to be read."""
        response = http.client.HTTPResponse(self.socket, method=method)
        response.begin()
        return response

    def status(self) -> int:
        response = self.answer()
        response.read()
        return response.status

    def closed_by_the_server(self) -> bool:
        """Wait until the server closes the connection, and return True. Return False if the time
        limit is reached first."""
        with contextlib.suppress(ConnectionError):
            try:
                while self.socket.recv(65536):
                    pass
            except TimeoutError:
                return False
        return True
