"""A small blocking MCP client for the command line: one session, the standard library only."""

from __future__ import annotations

import http.client
import itertools
import json
from collections.abc import Callable, Iterator
from types import TracebackType
from urllib.parse import urlsplit

from callboard import __version__
from callboard.content import Json
from callboard.errors import CallboardError, HostError
from callboard.protocol.revisions import NEWEST_WITH_SESSIONS


class RemoteError(CallboardError):
    """The server answered with a JSON-RPC error."""


class Client:
    """A session with one server; a context manager. Raises HostError when the server can't be
    reached, RemoteError for its errors."""

    def __init__(self, url: str, token: str | None, timeout: float = 600.0) -> None:
        parts = urlsplit(url)
        self._path = parts.path or "/mcp"
        self._connection = http.client.HTTPConnection(
            parts.hostname or "127.0.0.1", parts.port or 80, timeout=timeout
        )
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._ids = itertools.count(1)

    def __enter__(self) -> Client:
        self.request(
            "initialize",
            {
                "protocolVersion": NEWEST_WITH_SESSIONS.name,
                "capabilities": {},
                "clientInfo": {"name": "callboard-cli", "version": __version__},
            },
        )
        self._post({"jsonrpc": "2.0", "method": "notifications/initialized"}).read()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if "Mcp-Session-Id" in self._headers:
                self._connection.close()  # an interrupted answer may still be in the pipe
                self._connection.request("DELETE", self._path, headers=self._headers)
                self._connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            pass  # the server is gone, and the session with it
        finally:
            self._connection.close()

    def request(
        self,
        method: str,
        params: Json,
        on_notification: Callable[[str, Json], None] = lambda method, params: None,
    ) -> Json:
        """Sends a request and waits for its result; notifications on the way are passed on."""
        id = next(self._ids)
        response = self._post({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        session = response.headers.get("Mcp-Session-Id")
        if session:
            self._headers["Mcp-Session-Id"] = session
        for message in _messages(response):
            if message.get("id") == id and "method" not in message:
                response.read()
                return _result(message)
            if "method" in message and "id" not in message:
                on_notification(message["method"], message.get("params", {}))
        raise HostError("the server closed the connection without an answer")

    def _post(self, message: Json) -> http.client.HTTPResponse:
        try:
            self._connection.request(
                "POST", self._path, json.dumps(message).encode(), self._headers
            )
            response = self._connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            raise HostError(
                f"the server can't be reached: {error}; see `callboard doctor`"
            ) from None
        if response.status >= 400:
            body = response.read(65_536).decode("utf-8", "replace")
            raise HostError(f"the server answered {response.status}: {_reason(body)}")
        return response


def _messages(response: http.client.HTTPResponse) -> Iterator[Json]:
    try:
        if "text/event-stream" not in response.headers.get("Content-Type", ""):
            yield json.loads(response.read())
            return
        for line in response:
            if line.startswith(b"data:"):
                yield json.loads(line[5:])
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise HostError(f"the server's answer broke off: {error}") from None


def _result(message: Json) -> Json:
    if "error" in message:
        error = message["error"]
        raise RemoteError(error["message"], code=error["code"], data=error.get("data"))
    result: Json = message["result"]
    return result


def _reason(body: str) -> str:
    try:
        answer = json.loads(body)
        # JSON-RPC's error, or a problem (RFC 9457).
        return str(answer["error"]["message"] if "error" in answer else answer["detail"])
    except (ValueError, KeyError, TypeError):
        return body[:200] or "no reason given"
