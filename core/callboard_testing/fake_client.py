"""A raw MCP client for tests, with sessions, event streams, and answers to the server's requests.

It sends whatever a test passes to it, well-formed or not, and keeps everything that it receives.
Each request has its own HTTP connection. The client uses only the standard library.
"""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from callboard.content import Json
from callboard.protocol.events import EventReader
from callboard.protocol.revisions import NEWEST_WITH_SESSIONS
from callboard_testing.fake_host import DEADLINE

#: Answers one kind of the server's requests: with a result, with a JSON-RPC error object under the
#: key ``error``, or with None for silence.
Answerer = Callable[[Json], Json | None]


@dataclass(frozen=True)
class Answer:
    """One HTTP answer, read to its end."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    #: The JSON-RPC messages in the body, in order.
    messages: list[Any] = field(default_factory=list)

    @property
    def message(self) -> Any:
        """The only message in the body. Raises AssertionError if there isn't exactly one."""
        if len(self.messages) != 1:
            raise AssertionError(f"{len(self.messages)} messages, not 1: {self.body[:500]!r}")
        return self.messages[0]

    @property
    def streamed(self) -> bool:
        return self.headers.get("content-type", "").startswith("text/event-stream")


class FakeClient:
    """One client. As a context manager it opens a session and ends it.

    ``capabilities`` are the ones that the client declares. ``answers`` maps a method of the
    server's requests to the function that answers it. Use the client from any thread, and from
    several at once.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        capabilities: Json | None = None,
        answers: Mapping[str, Answerer] | None = None,
        revision: str = NEWEST_WITH_SESSIONS.name,
    ) -> None:
        parts = urlsplit(url)
        self.path = parts.path
        self.address = (parts.hostname or "127.0.0.1", parts.port or 80)
        self.capabilities = capabilities or {}
        self.answers = dict(answers or {})
        self.revision = revision
        self.headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        if token is not None:
            self.headers["Authorization"] = f"Bearer {token}"
        #: The server's requests and notifications, in the order of their arrival.
        self.received: list[Json] = []
        self._arrived = threading.Condition()
        self._ids = itertools.count(1)
        self._streams: list[http.client.HTTPConnection] = []
        self._threads: list[threading.Thread] = []

    # -- sessions -----------------------------------------------------------------------------

    def __enter__(self) -> FakeClient:
        self.initialize()
        self.notify("notifications/initialized")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def session(self) -> str | None:
        return self.headers.get("Mcp-Session-Id")

    def initialize(self) -> Json:
        """Open a session, and return the whole response."""
        params = {
            "protocolVersion": self.revision,
            "capabilities": self.capabilities,
            "clientInfo": {"name": "fake", "version": "1"},
        }
        answer = self.post(
            {"jsonrpc": "2.0", "id": next(self._ids), "method": "initialize", "params": params}
        )
        if answer.status == 200 and "result" in answer.message:
            self.headers["Mcp-Session-Id"] = answer.headers["mcp-session-id"]
            self.headers["MCP-Protocol-Version"] = answer.message["result"]["protocolVersion"]
        response: Json = answer.message
        return response

    def close(self) -> None:
        """End the session, if there is one, and every stream."""
        if self.session is not None:
            with contextlib.suppress(OSError, http.client.HTTPException):
                self.send("DELETE")
        for connection in self._streams:
            connection.close()
        for thread in self._threads:
            thread.join(DEADLINE)

    def listen(self) -> None:
        """Open the session's own stream, and read it on a separate thread until it ends."""
        connection = self._connect()
        self._streams.append(connection)
        connection.request("GET", self.path, headers=self.headers)
        response = connection.getresponse()
        if response.status != 200:
            raise AssertionError(f"GET answered {response.status}: {response.read()!r}")

        def read() -> None:
            with contextlib.suppress(
                OSError, ValueError, AttributeError, http.client.HTTPException
            ):
                for message in events(response):
                    self._take(message)
            response.close()

        thread = threading.Thread(target=read, name="fake-client-stream", daemon=True)
        self._threads.append(thread)
        thread.start()

    # -- messages -------------------------------------------------------------------------------

    def request(self, method: str, params: Json | None = None, *, id: Any = None) -> Json:
        """Send a request, and return the whole response, a result or an error."""
        id = next(self._ids) if id is None else id
        message: Json = {"jsonrpc": "2.0", "id": id, "method": method}
        if params is not None:
            message["params"] = params
        answer = self.post(message)
        response: Json = answer.message
        if response.get("id") != id or type(response.get("id")) is not type(id):
            raise AssertionError(f"the request's id is {id!r}, but the response is {response!r}")
        return response

    def call(self, tool: str, arguments: Json | None = None, **params: Any) -> Json:
        """Send a ``tools/call``, and return its result. Raises AssertionError for an error."""
        response = self.request(
            "tools/call", {"name": tool, "arguments": arguments or {}, **params}
        )
        if "error" in response:
            raise AssertionError(f"{tool}: {response['error']}")
        result: Json = response["result"]
        return result

    def start(self, method: str, params: Json | None = None, *, id: Any = None) -> Future[Json]:
        """Send a request from a separate thread."""
        return self.in_thread(lambda: self.request(method, params, id=id))

    def in_thread(self, work: Callable[[], Any]) -> Future[Any]:
        """Run ``work`` in a thread that ``close`` waits for."""
        outcome: Future[Any] = Future()

        def run() -> None:
            try:
                outcome.set_result(work())
            except BaseException as error:
                outcome.set_exception(error)

        thread = threading.Thread(target=run, name="fake-client-request", daemon=True)
        self._threads.append(thread)
        thread.start()
        return outcome

    def notify(self, method: str, params: Json | None = None) -> Answer:
        message: Json = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        return self.post(message)

    def post(self, message: Any, headers: Mapping[str, str | None] | None = None) -> Answer:
        """Send any JSON value."""
        return self.send("POST", json.dumps(message).encode(), headers)

    def send(
        self,
        method: str,
        body: bytes = b"",
        headers: Mapping[str, str | None] | None = None,
        path: str | None = None,
    ) -> Answer:
        """Send any request. ``headers`` override the usual ones, and a value of None removes
        one."""
        merged: dict[str, str | None] = {**self.headers, **(headers or {})}
        connection = self._connect()
        try:
            given = {name: value for name, value in merged.items() if value is not None}
            connection.request(method, path or self.path, body, given)
            response = connection.getresponse()
            named = {name.lower(): value for name, value in response.headers.items()}
            if named.get("content-type", "").startswith("text/event-stream"):
                messages = [m for m in events(response) if self._take(m)]
                return Answer(response.status, named, b"", messages)
            return _read(response, named)
        finally:
            connection.close()

    def wait_for(self, method: str, count: int = 1) -> list[Json]:
        """Return the first ``count`` messages of that method, once they have arrived."""

        def matching() -> list[Json]:
            return [m for m in self.received if m.get("method") == method]

        with self._arrived:
            if not self._arrived.wait_for(lambda: len(matching()) >= count, DEADLINE):
                raise TimeoutError(f"only {len(matching())} of {count} {method} messages arrived")
            return matching()[:count]

    # -- internals ------------------------------------------------------------------------------

    def _connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(*self.address, timeout=DEADLINE)

    def _take(self, message: Json) -> bool:
        """Record a message from the server. Return whether it is a response."""
        if "method" not in message:
            return True
        if "id" in message and message["method"] in self.answers:
            answer = self.answers[message["method"]](message.get("params", {}))
            if answer is not None:
                body = answer if set(answer) == {"error"} else {"result": answer}
                self.post({"jsonrpc": "2.0", "id": message["id"], **body})
        with self._arrived:
            self.received.append(message)
            self._arrived.notify_all()
        return False


def events(response: http.client.HTTPResponse) -> Iterator[Any]:
    """Yield the messages of an event stream as they arrive. Comments are skipped."""
    reader = EventReader()
    for line in response:
        for data in reader.feed(line):
            yield json.loads(data)


def _read(response: http.client.HTTPResponse, headers: Mapping[str, str]) -> Answer:
    body = response.read()
    messages: list[Any] = []
    if body and headers.get("content-type", "").startswith("application/json"):
        value = json.loads(body)
        messages = value if isinstance(value, list) else [value]
    return Answer(response.status, headers, body, messages)
