"""No input to the port stops the server. Either the server answers with a JSON-RPC message, or it
closes the connection.

CI sends about ten thousand messages. A long run sends many times that:

    CALLBOARD_HOSTILE_FACTOR=100 pytest tests/protocol/test_hostile_wire.py
"""

from __future__ import annotations

import copy
import http.client
import json
import logging
import os
import socket
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from callboard.errors import INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR
from callboard.protocol.jsonrpc import DEPTH_LIMIT
from callboard.service.resources import ServedResource
from callboard.skills.prompts.prompt import Argument
from callboard.transport.http.access import BODY_LIMIT
from callboard_testing.fake_client import Answer, events
from callboard_testing.fake_host import DEADLINE
from serving import Served, served

FACTOR = int(os.environ.get("CALLBOARD_HOSTILE_FACTOR", "1"))
pytestmark = [pytest.mark.slow, *([pytest.mark.timeout(0)] if FACTOR > 1 else [])]

Path = tuple[Any, ...]


def cases(count: int) -> settings:
    return settings(
        max_examples=count * FACTOR,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )


# -- a server, and a client that sends anything ---------------------------------------------


class Complaints(logging.Handler):
    """Keeps everything that is logged as an error: one of our own mistakes, or an answer that
    reached no client."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.heard.append(self.format(record))


class Wire:
    """A connection that is reopened whenever the server has closed it."""

    def __init__(self, app: Served) -> None:
        self.app = app.app
        self.complaints = Complaints()
        self._connection: http.client.HTTPConnection | None = None
        self._sessions: dict[str, str] = {}

    def post(self, body: bytes, headers: dict[str, str]) -> Answer | None:
        """Return the answer, or None if the server closed the connection instead."""
        for fresh in (False, True):
            if self._connection is None:
                self._connection = self.connect()
                fresh = True
            try:
                self._connection.request("POST", "/mcp", body, headers)
                return self._read(self._connection)
            except (ConnectionError, http.client.BadStatusLine):
                self.hang_up()
                # The server may have closed an idle connection before this request arrived.
                if fresh:
                    return None
        raise AssertionError("unreachable")

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE)

    @property
    def port(self) -> int:
        return int(self.app.url.rsplit(":", 1)[1].split("/")[0])

    def hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _read(self, connection: http.client.HTTPConnection) -> Answer:
        response = connection.getresponse()
        headers = {name.lower(): value for name, value in response.headers.items()}
        if headers.get("content-type", "").startswith("text/event-stream"):
            messages = []
            for message in events(response):
                messages.append(message)
                if message.get("method") == "notifications/subscriptions/acknowledged":
                    break  # This stream stays open.
            self.hang_up()
            return Answer(response.status, headers, b"", messages)
        body = response.read()
        messages = []
        if headers.get("content-type") == "application/json":
            value = json.loads(body)
            messages = value if isinstance(value, list) else [value]
        return Answer(response.status, headers, body, messages)

    def headers(self, era: str, message: Any) -> dict[str, str]:
        """Return the headers of a well-formed message of that era."""
        if era == "stateless":
            return {**HEADERS, **mirrored(message)}
        return {**HEADERS, "Mcp-Session-Id": self.session("2025-11-25")}

    def session(self, revision: str) -> str:
        """Return a session that speaks the revision: the last one opened, or a new one if that has
        ended."""
        if self._sessions.get(revision) not in {s.id for s in self.app.endpoint.sessions}:
            params = {"protocolVersion": revision, "capabilities": {}}
            answer = self.post(encoded(request("initialize", params)), HEADERS)
            assert answer is not None
            self._sessions[revision] = answer.headers["mcp-session-id"]
        return self._sessions[revision]

    def assert_alive(self) -> None:
        """Check that both eras still answer, and that nothing was logged that an author would have
        to fix."""
        self.hang_up()
        ping = self.post(encoded(request("ping")), self.headers("session", None))
        assert ping is not None
        assert ping.message["result"] == {}
        discover = stateless("server/discover", {})
        answer = self.post(encoded(discover), self.headers("stateless", discover))
        assert answer is not None
        assert "result" in answer.message
        assert self.complaints.heard == []


HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "hostile", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "roots": {}},
    "io.modelcontextprotocol/logLevel": "debug",
    "progressToken": "token",
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
}


def request(method: str, params: Any = None, id: Any = 1) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": id, "method": method}
    return message if params is None else {**message, "params": params}


def stateless(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return request(method, {**params, "_meta": META})


def mirrored(message: Any) -> dict[str, str]:
    """Return the headers that repeat values of the body, if a header can hold them."""
    message = message if isinstance(message, dict) else {}
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    meta = params.get("_meta")
    meta = meta if isinstance(meta, dict) else {}
    name = params.get("name", params.get("uri", params.get("taskId")))
    names = {
        "MCP-Protocol-Version": meta.get("io.modelcontextprotocol/protocolVersion", "2026-07-28"),
        "Mcp-Method": message.get("method"),
        "Mcp-Name": name,
    }
    return {
        k: v for k, v in names.items() if isinstance(v, str) and v.isascii() and v.isprintable()
    }


def encoded(message: Any) -> bytes:
    return json.dumps(message).encode()


@pytest.fixture(scope="module")
def wire() -> Iterator[Wire]:
    with served(auth="none", max_sessions=1_000_000) as app:
        offer_everything(app)
        wire = Wire(app)
        loggers = [logging.getLogger(name) for name in ("callboard", "asyncio", "tornado")]
        for logger in loggers:
            logger.addHandler(wire.complaints)
        # Client and server share this process. At each switch between their threads, one of them
        # waits this long.
        patience = sys.getswitchinterval()
        sys.setswitchinterval(patience / 10)
        try:
            yield wire
        finally:
            sys.setswitchinterval(patience)
            for logger in loggers:
                logger.removeHandler(wire.complaints)
            wire.hang_up()


def offer_everything(app: Served) -> None:
    """Offer one tool of each kind: on the main thread, on a worker and on the loop, and tools that
    talk, ask and keep running."""

    def echo(**arguments: Any) -> Any:
        return arguments

    async def ask(ctx: Any, **arguments: Any) -> Any:
        answer = await ctx.elicit("Your name?", {"type": "object", "properties": {}}, key="name")
        return {"action": answer.action}

    def talk(ctx: Any, **arguments: Any) -> str:
        ctx.progress(1, 2, "half")
        ctx.log("warning", "so far, so good", arguments=arguments)
        return "done"

    def roots(ctx: Any, **arguments: Any) -> str:
        return str(ctx.roots)

    app.tool("echo", echo)
    app.tool("strict", echo, {"type": "object", "properties": {"n": {"type": "integer"}}})
    app.tool("worker", echo, affinity="any")
    app.tool("ask", ask)
    app.tool("talk", talk)
    app.tool("roots", roots)
    app.tool("job", echo, execution="async")
    app.app.resources.add(
        ServedResource("test://text", "text", lambda: "text"),
        ServedResource(
            "test://{id}/data", "data", lambda id: id, complete=lambda name, typed: [typed]
        ),
    )
    app.app.prompts.register_prompt("template", "A template.", [{"name": "a"}], "Say {{a}}.")
    app.app.prompts.register_function("function", lambda a: a, "A function.", [Argument("a")])


def check(answer: Answer | None, sent: Any = None) -> None:
    """Check that the answer is a JSON-RPC message or an HTTP refusal, without a traceback."""
    if answer is None:
        return
    assert answer.status in (200, 202, 400, 403, 404, 405, 406, 413, 415, 421), answer
    assert b"Traceback" not in answer.body
    for message in answer.messages:
        assert "Traceback" not in json.dumps(message)
        assert message["jsonrpc"] == "2.0"
        if "method" in message:
            assert "id" not in message or message["method"].partition("/")[0] in ASKED
            continue
        assert ("result" in message) != ("error" in message)
        assert isinstance(message.get("id", ""), (str, int))
        if "error" in message:
            assert isinstance(message["error"]["code"], int)
            assert message["error"]["code"] != INTERNAL_ERROR, message
            assert isinstance(message["error"]["message"], str)
    id = sent.get("id") if isinstance(sent, dict) else None
    if isinstance(id, (str, int)) and not isinstance(id, bool) and answer.messages:
        last = answer.messages[-1]
        assert last.get("id", id) == id


#: The requests that the server may send to a client in a session.
ASKED = ("elicitation", "sampling", "roots", "ping")


# -- the messages that are sent --------------------------------------------------------------

ELICITED = {"name": {"action": "accept", "content": {}}}
CALLS: dict[str, list[dict[str, Any]]] = {
    "tools/call": [
        {"name": name, "arguments": {"n": 1, "list": [1, {"deep": None}]}}
        for name in ("echo", "strict", "worker", "talk", "roots", "job", "ask")
    ]
    + [{"name": "ask", "arguments": {}, "inputResponses": ELICITED, "requestState": "a.b"}],
    "tools/list": [{}, {"cursor": "x"}],
    "resources/list": [{}],
    "resources/templates/list": [{}],
    "resources/read": [{"uri": "test://text"}, {"uri": "test://a%20b/data"}],
    "prompts/list": [{}],
    "prompts/get": [
        {"name": "template", "arguments": {"a": "b"}},
        {"name": "function", "arguments": {"a": "b"}},
    ],
    "completion/complete": [
        {
            "ref": {"type": "ref/resource", "uri": "test://{id}/data"},
            "argument": {"name": "id", "value": "x"},
            "context": {"arguments": {"a": "b"}},
        }
    ],
}
IN_SESSIONS = {
    "ping": [{}],
    "logging/setLevel": [{"level": "info"}],
    "resources/subscribe": [{"uri": "test://text"}],
    "resources/unsubscribe": [{"uri": "test://text"}],
    "notifications/cancelled": [{"requestId": 1, "reason": "because"}],
    "notifications/initialized": [{}],
    "notifications/roots/list_changed": [{}],
    "initialize": [
        {
            "protocolVersion": "2025-11-25",
            "capabilities": {"roots": {}},
            "clientInfo": {"name": "hostile", "version": "1", "title": "Hostile"},
        }
    ],
}
WITHOUT = {
    "server/discover": [{}],
    "subscriptions/listen": [
        {"notifications": {"toolsListChanged": True, "resourceSubscriptions": ["test://text"]}}
    ],
    "tasks/get": [{"taskId": "x"}],
    "tasks/update": [{"taskId": "x", "inputResponses": {}}],
    "tasks/cancel": [{"taskId": "x"}],
}

in_sessions = [request(m, p) for m, ps in {**CALLS, **IN_SESSIONS}.items() for p in ps]
without = [stateless(m, p) for m, ps in {**CALLS, **WITHOUT}.items() for p in ps]
well_formed = st.one_of(
    st.tuples(st.just("session"), st.sampled_from(in_sessions)),
    st.tuples(st.just("stateless"), st.sampled_from(without)),
)
scalars = (
    st.sampled_from([None, True, False, 0, -1, 2**70, 1.5, 1e300, "", "x" * 5000, "../.."])
    | st.sampled_from(["__proto__", "\x00", "\ud800", "1", "2026-07-28", [], {}, [[{}]]])
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)
names = st.sampled_from(["", "name", "uri", "_meta", "type", "x" * 300, "\U0001f4a5"])
anything = (
    scalars
    | st.lists(scalars, max_size=3)
    | st.dictionaries(names, scalars | st.lists(scalars, max_size=2), max_size=3)
)


def paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of each part of ``value`` that can be replaced."""
    yield path
    children = value.items() if isinstance(value, dict) else ()
    for key, child in children:
        yield from paths(child, (*path, key))


def replaced(message: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    whole = copy.deepcopy(message)
    holder = whole
    for key in path[:-1]:
        holder = holder[key]
    if value is GONE:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return whole


GONE = object()


@st.composite
def wrongly_typed(draw: Any) -> tuple[str, Any]:
    """Return a well-formed message with one to three of its fields replaced or removed."""
    era, message = draw(well_formed)
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(list(paths(message))))
        value = draw(st.just(GONE) | anything) if path else draw(anything)
        message = replaced(message, path, value)
    return era, message


HEADER_NAMES = [
    "MCP-Protocol-Version",
    "Mcp-Method",
    "Mcp-Name",
    "Mcp-Session-Id",
    "Mcp-Param-N",
    "Accept",
    "Content-Type",
    "Last-Event-ID",
    "Authorization",
]


# -- the tests ------------------------------------------------------------------------------


@cases(1500)
@given(st.binary(max_size=200), st.sampled_from(["session", "stateless"]))
def test_random_bytes(wire: Wire, body: bytes, era: str) -> None:
    check(wire.post(body, wire.headers(era, None)))


@cases(1500)
@given(well_formed, st.data())
def test_truncated_and_damaged_messages(wire: Wire, whole: Any, data: st.DataObject) -> None:
    era, message = whole
    body = encoded(message)
    start = data.draw(st.integers(0, len(body)))
    end = data.draw(st.integers(start, len(body)))
    damaged = body[:start] + data.draw(st.binary(max_size=3)) + body[end:]
    check(wire.post(damaged, wire.headers(era, message)))


@cases(2500)
@given(wrongly_typed())
def test_wrong_types_in_every_field(wire: Wire, wrong: tuple[str, Any]) -> None:
    era, message = wrong
    check(wire.post(encoded(message), wire.headers(era, message)), message)


@cases(800)
@given(
    well_formed,
    st.dictionaries(
        st.sampled_from(HEADER_NAMES),
        st.text(st.characters(max_codepoint=255, exclude_characters="\r\n\0"), max_size=30)
        | st.sampled_from(["2025-11-25", "2026-07-28", "=?base64?!?=", "=?base64?/w==?=", "*/*"]),
        min_size=1,
    ),
)
def test_headers_that_say_something_else(wire: Wire, whole: Any, headers: dict[str, str]) -> None:
    era, message = whole
    check(wire.post(encoded(message), {**wire.headers(era, message), **headers}), message)


@cases(400)
@given(st.lists(wrongly_typed(), max_size=8))
def test_batches_of_anything(wire: Wire, wrong: list[tuple[str, Any]]) -> None:
    headers = {**HEADERS, "Mcp-Session-Id": wire.session("2025-03-26")}
    check(wire.post(encoded([message for _, message in wrong]), headers))


@cases(300)
@given(st.binary(min_size=1, max_size=300), st.booleans())
def test_what_is_no_http(wire: Wire, data: bytes, begins_well: bool) -> None:
    with socket.create_connection(("127.0.0.1", wire.port), DEADLINE) as connection:
        if begins_well:
            connection.sendall(f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{wire.port}\r\n".encode())
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        received = b""
        try:
            while chunk := connection.recv(65536):
                received += chunk
        except ConnectionError:
            pass
    assert received == b"" or received.startswith(b"HTTP/1.1 4"), received
    assert b"Traceback" not in received


@pytest.mark.parametrize("era", ["session", "stateless"])
@pytest.mark.parametrize("depth", [DEPTH_LIMIT, 1000, 200_000])
@pytest.mark.parametrize("brackets", [(b"[", b"]"), (b'{"a":', b"}")])
def test_deep_nesting(wire: Wire, era: str, depth: int, brackets: tuple[bytes, bytes]) -> None:
    opening, closing = brackets
    deep = opening * depth + b"1" + closing * depth
    message = stateless("tools/call", {"name": "echo", "arguments": {"deep": "HERE"}})
    body = encoded(message).replace(b'"HERE"', deep)
    answer = wire.post(body, wire.headers(era, message))
    assert answer is not None
    assert answer.status == 400
    assert answer.message["error"]["code"] == PARSE_ERROR


@pytest.mark.parametrize(
    "number", [b"1" * 5000, b"1e999999", b"-1e999", b"0." + b"1" * 100_000, b"1e-999999"]
)
def test_numbers_that_no_machine_has(wire: Wire, number: bytes) -> None:
    for place in ("arguments", "id"):
        message = stateless("tools/call", {"name": "echo", "arguments": {"n": "HERE"}})
        if place == "id":
            message["id"] = "HERE"
        body = encoded(message).replace(b'"HERE"', number)
        check(wire.post(body, wire.headers("stateless", message)))


@pytest.mark.parametrize("era", ["session", "stateless"])
def test_a_number_that_json_cannot_hold_comes_back_as_an_error(wire: Wire, era: str) -> None:
    message = stateless("tools/call", {"name": "echo", "arguments": {"n": "HERE"}})
    if era == "session":
        del message["params"]["_meta"]
    answer = wire.post(encoded(message).replace(b'"HERE"', b"1e999"), wire.headers(era, message))
    assert answer is not None
    assert answer.message["result"]["isError"] is True


def test_a_body_over_the_limit_is_refused_before_it_is_read(wire: Wire) -> None:
    with socket.create_connection(("127.0.0.1", wire.port), DEADLINE) as connection:
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{wire.port}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {BODY_LIMIT + 1}\r\n\r\n"
        )
        connection.sendall(head.encode())
        assert connection.recv(65536).startswith(b"HTTP/1.1 413")


def test_a_chunked_body_over_the_limit_ends_the_connection(wire: Wire) -> None:
    chunk = b"x" * (1024 * 1024)
    framed = f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n"
    with socket.create_connection(("127.0.0.1", wire.port), DEADLINE) as connection:
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{wire.port}\r\n"
            "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        connection.sendall(head.encode())
        sent, received = 0, b""
        try:
            while sent <= 4 * BODY_LIMIT:
                connection.sendall(framed)
                sent += len(chunk)
            received = connection.recv(65536)
        except ConnectionError:
            pass
    assert sent <= 4 * BODY_LIMIT
    assert received == b"" or received.startswith(b"HTTP/1.1 4")


def test_an_id_that_is_still_in_use_is_refused_in_a_session(wire: Wire) -> None:
    call = request("tools/call", {"name": "echo", "arguments": {}}, id=7)
    # All requests in a batch run at the same time.
    headers = {**HEADERS, "Mcp-Session-Id": wire.session("2025-03-26")}
    answer = wire.post(encoded([call, call, call]), headers)
    assert answer is not None
    answers = answer.messages
    assert [m["id"] for m in answers] == [7, 7, 7]
    assert sorted("result" in m for m in answers) == [False, False, True]
    assert {m["error"]["code"] for m in answers if "error" in m} == {INVALID_REQUEST}


@cases(100)
@given(st.sampled_from(without), st.text(max_size=5))
def test_the_last_of_two_equal_keys_counts(wire: Wire, message: Any, key: str) -> None:
    body = encoded(message)
    doubled = body[:-1] + b"," + encoded({"id": 1, "method": message["method"], key: 1})[1:]
    assume(key not in ("jsonrpc", "params", "id", "method"))
    check(wire.post(doubled, wire.headers("stateless", message)), message)


@pytest.fixture(autouse=True)
def _alive_after_each_test(wire: Wire) -> Iterator[None]:
    yield
    wire.assert_alive()
