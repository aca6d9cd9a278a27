"""Sessions over Streamable HTTP (2025-03-26 to 2025-11-25, Transports)."""

from __future__ import annotations

import gc
import http.client
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from raw_http import RawConnection

from callboard.calls.context import ToolContext
from callboard.errors import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR
from callboard.service.pages import PAGE_SIZE
from callboard.transport.http.limits import HttpLimits
from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import DEADLINE
from serving import Served, served
from waiting import until

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


# -- opening ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2024-11-05", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ],
)
def test_the_version_is_negotiated_and_the_session_works(
    server: Served, asked: str, given: str
) -> None:
    client = server.client(revision=asked)
    result = client.initialize()["result"]
    assert result["protocolVersion"] == given
    assert result["capabilities"]["tools"] == {"listChanged": True}
    assert result["serverInfo"]["name"] == "callboard"
    assert ("title" in result["serverInfo"]) is (given != "2025-03-26")
    assert client.session
    assert client.notify("notifications/initialized").status == 202
    assert client.request("ping")["result"] == {}
    client.close()


@pytest.mark.parametrize(
    "params", [{}, {"protocolVersion": 3}, {"protocolVersion": "2025-11-25", "capabilities": 1}]
)
def test_a_wrong_initialize_opens_no_session(server: Served, params: dict[str, Any]) -> None:
    answer = server.client().post({**PING, "method": "initialize", "params": params})
    assert answer.status == 400
    assert answer.message["id"] == 1
    assert answer.message["error"]["code"] == INVALID_PARAMS
    assert "mcp-session-id" not in answer.headers
    assert len(server.app.endpoint.sessions) == 0


def test_a_full_server_says_when_to_come_back_and_delete_makes_room() -> None:
    with served(max_sessions=2) as server:
        first, second, third = (server.client() for _ in range(3))
        first.initialize()
        second.initialize()
        body = {
            **PING,
            "method": "initialize",
            "params": {"protocolVersion": "2025-11-25", "capabilities": {}},
        }
        full = third.post(body)
        assert full.status == 503
        assert int(full.headers["retry-after"]) > 0
        assert "DELETE" in full.message["error"]["message"]
        assert first.request("ping")["result"] == {}
        first.close()
        assert "result" in third.initialize()


# -- the session's headers ----------------------------------------------------------------------


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
def test_a_missing_session_is_400_an_unknown_one_404_a_wrong_version_400(
    client: FakeClient, method: str
) -> None:
    body = json.dumps(PING).encode()
    for headers, status in (
        ({"Mcp-Session-Id": None, "MCP-Protocol-Version": None}, 400),
        ({"Mcp-Session-Id": "no-such-session"}, 404),
        ({"Mcp-Session-Id": ""}, 404),
        ({"MCP-Protocol-Version": "1999-01-01"}, 400),
        ({"MCP-Protocol-Version": "2025-06-18"}, 400),
    ):
        answer = client.send(method, body, headers)
        assert answer.status == status, headers
        error = answer.message["error"]
        assert error["message"]
    assert client.request("ping")["result"] == {}


def test_without_the_version_header_the_session_speaks_what_it_negotiated(
    client: FakeClient,
) -> None:
    answer = client.post(PING, {"MCP-Protocol-Version": None})
    assert answer.message == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_delete_ends_the_session_its_stream_and_its_calls(server: Served) -> None:
    started, ended = threading.Event(), threading.Event()

    def slices(ctx: ToolContext) -> Iterator[None]:
        try:
            while True:
                started.set()
                yield
        finally:
            ended.set()

    server.tool("slices", slices)
    client = server.client()
    client.initialize()
    client.listen()
    call = client.in_thread(
        lambda: client.post({**PING, "method": "tools/call", "params": {"name": "slices"}})
    )
    assert started.wait(DEADLINE)
    session = next(iter(server.app.endpoint.sessions))
    assert client.send("DELETE").status == 200
    assert ended.wait(DEADLINE)
    assert call.result(DEADLINE).messages == []
    assert client.send("DELETE").status == 404
    assert client.post(PING).status == 404
    client.close()  # This joins the stream's thread, because the server has ended the stream.
    assert not any(thread.is_alive() for thread in client._threads)
    assert (len(session.inflight), len(session.asked), session.listening) == (0, 0, False)
    assert len(server.app.endpoint.sessions) == 0


def listening_client(server: Served) -> FakeClient | None:
    """Return a listening client, or None if its session expired before it listened, which can
    happen on a slow machine."""
    client = server.client()
    client.initialize()
    try:
        client.listen()
    except AssertionError:
        client.close()
        return None
    return client


def test_an_idle_session_expires() -> None:
    with served(limits=HttpLimits(sweep_every=0.02), session_idle_secs=0.05) as server:
        client = server.client()
        client.initialize()
        listening = until(lambda: listening_client(server), "a session that listens in time")
        assert listening is not None
        until(lambda: len(server.app.endpoint.sessions) == 1, "the end of the idle session")
        assert client.post(PING).status == 404
        assert listening.request("ping")["result"] == {}
        listening.close()


# -- messages -----------------------------------------------------------------------------------


@pytest.mark.parametrize("id", [0, -7, "", "0", 2**53 + 1, "ключ 😀"])
def test_ids_come_back_as_they_were_sent(client: FakeClient, id: Any) -> None:
    answer = client.post({"jsonrpc": "2.0", "id": id, "method": "tools/list"})
    assert answer.message["id"] == id
    assert type(answer.message["id"]) is type(id)
    assert "tools" in answer.message["result"]


@pytest.mark.parametrize(
    ("body", "code", "id"),
    [
        (b"", PARSE_ERROR, None),
        (b"{", PARSE_ERROR, None),
        (b"\xff\xfe", PARSE_ERROR, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}', PARSE_ERROR, None),
        (b"[" * 2000 + b"]" * 2000, PARSE_ERROR, None),
        (b"3", INVALID_REQUEST, None),
        (b'"ping"', INVALID_REQUEST, None),
        (b"{}", INVALID_REQUEST, None),
        (b'{"jsonrpc":"1.0","id":4,"method":"ping"}', INVALID_REQUEST, 4),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', INVALID_REQUEST, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', INVALID_REQUEST, None),
        (b'{"jsonrpc":"2.0","id":"x","method":7}', INVALID_REQUEST, "x"),
        (b'{"jsonrpc":"2.0","id":"x","method":"ping","params":[]}', INVALID_PARAMS, "x"),
        (b'{"jsonrpc":"2.0","id":9}', INVALID_REQUEST, 9),
    ],
)
def test_what_is_no_message_is_400_with_the_reason(
    client: FakeClient, body: bytes, code: int, id: Any
) -> None:
    answer = client.send("POST", body)
    assert answer.status == 400
    assert answer.message["error"]["code"] == code
    assert answer.message["error"]["message"]
    assert answer.message.get("id") == id
    assert client.request("ping")["result"] == {}


@pytest.mark.parametrize("method", ["no/such/method", "", "Ping", "tools", "notifications/x"])
def test_an_unknown_method_is_named(client: FakeClient, method: str) -> None:
    error = client.request(method)["error"]
    assert error["code"] == METHOD_NOT_FOUND
    assert repr(method) in error["message"]


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "gone"}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled"},
        {"jsonrpc": "2.0", "method": "notifications/no/such/thing", "params": {}},
        {"jsonrpc": "2.0", "id": "never-asked", "result": {}},
        {"jsonrpc": "2.0", "id": "never-asked", "error": {"code": 1, "message": "no"}},
    ],
)
def test_what_wants_no_answer_is_202_and_empty(client: FakeClient, message: Any) -> None:
    answer = client.post(message)
    assert (answer.status, answer.body) == (202, b"")


# -- batches ------------------------------------------------------------------------------------


def test_batches_are_answered_where_the_revision_has_them(server: Served) -> None:
    server.tool("double", lambda x: 2 * x)
    call = {"name": "double", "arguments": {"x": 4}}
    with server.client(revision="2025-03-26") as client:
        answer = client.post(
            [
                {"jsonrpc": "2.0", "id": 1, "method": "ping"},
                {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}},
                {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
                {"jsonrpc": "2.0", "id": 3, "method": "nothing"},
                {"jsonrpc": "2.0", "id": 2, "method": "ping"},
                5,
            ]
        )
        assert answer.status == 200
        by_id = {m.get("id"): m for m in answer.messages if m.get("id") != 2}
        assert by_id[1]["result"] == {}
        assert by_id[3]["error"]["code"] == METHOD_NOT_FOUND
        assert by_id[None]["error"]["code"] == INVALID_REQUEST
        assert len(answer.messages) == 5
        only_notifications = client.post([{"jsonrpc": "2.0", "method": "notifications/x"}])
        assert (only_notifications.status, only_notifications.body) == (202, b"")


@pytest.mark.parametrize(
    ("revision", "batch"),
    [
        ("2025-06-18", [PING]),
        ("2025-11-25", [PING]),
        ("2025-03-26", []),
        ("2025-03-26", [PING] * 500),
    ],
)
def test_other_batches_are_400(server: Served, revision: str, batch: list[Any]) -> None:
    with server.client(revision=revision) as client:
        answer = client.post(batch)
        assert answer.status == 400
        assert "batch" in answer.message["error"]["message"]


# -- JSON or a stream ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": None}, 415),
        ({"Content-Type": "application/json; charset=utf-8"}, 200),
        ({"Accept": "text/html"}, 406),
        ({"Accept": "application/json"}, 200),
        ({"Accept": "*/*"}, 200),
        ({"Accept": None}, 200),
    ],
)
def test_what_can_be_read_and_written(
    client: FakeClient, headers: dict[str, str | None], status: int
) -> None:
    assert client.post(PING, headers).status == status


def report(ctx: ToolContext) -> str:
    for done in range(3):
        ctx.progress(done + 1, 3)
    return "reported"


CALL_REPORT = {
    **PING,
    "method": "tools/call",
    "params": {"name": "report", "_meta": {"progressToken": "t"}},
}


def test_an_answer_is_streamed_where_there_is_something_to_stream(
    server: Served, client: FakeClient
) -> None:
    server.tool("report", report)
    answer = client.post(CALL_REPORT)
    assert answer.streamed
    assert answer.headers["cache-control"].startswith("no-cache")
    assert answer.message["result"]["structuredContent"] == {"result": "reported"}
    assert len(client.received) == 3
    assert not client.post(PING).streamed


def test_a_client_that_reads_no_stream_gets_json_and_its_progress_elsewhere(
    server: Served, client: FakeClient
) -> None:
    server.tool("report", report)
    client.listen()
    answer = client.post(CALL_REPORT, {"Accept": "application/json"})
    assert not answer.streamed
    assert answer.message["result"]["structuredContent"] == {"result": "reported"}
    assert len(client.wait_for("notifications/progress", 3)) == 3


def test_a_client_that_reads_only_streams_gets_one(client: FakeClient) -> None:
    answer = client.post(PING, {"Accept": "text/event-stream"})
    assert answer.streamed
    assert answer.message["result"] == {}


def test_a_slow_answer_becomes_a_stream_with_signs_of_life() -> None:
    limits = HttpLimits(sweep_every=0.02, slow_after=0.05, keep_alive_every=0.02)
    release = threading.Event()
    with served(limits=limits) as server, server.client() as client:
        server.tool("slow", lambda: str(release.wait(DEADLINE)), affinity="any")
        with RawConnection(server.app.url) as raw:
            body = json.dumps({**PING, "method": "tools/call", "params": {"name": "slow"}}).encode()
            headers = {name.replace("-", "_"): value for name, value in client.headers.items()}
            raw.send_head("POST", Content_Length=str(len(body)), **headers)
            raw.send(body)
            response = raw.answer()
            assert response.headers["Content-Type"] == "text/event-stream"
            for _ in range(3):
                assert response.readline() == b": keep-alive\n"
                assert response.readline() == b"\n"
            release.set()
            rest = response.read()
        data = rest.split(b"data: ")[1].split(b"\n")[0]
        assert json.loads(data)["result"]["structuredContent"] == {"result": "True"}


def test_the_sessions_stream_carries_what_belongs_to_no_call(
    server: Served, client: FakeClient
) -> None:
    client.listen()
    before = len(client.wait_for("notifications/tools/list_changed", 0))
    server.tool("new", lambda: None)
    client.wait_for("notifications/tools/list_changed", before + 1)
    answer = client.send("GET", headers={"Accept": "application/json"})
    assert answer.status == 406


def test_a_client_that_leaves_its_stream_keeps_its_session(server: Served) -> None:
    with server.client() as client:
        session = next(iter(server.app.endpoint.sessions))
        connection = http.client.HTTPConnection(*client.address, timeout=DEADLINE)
        connection.request("GET", client.path, headers=client.headers)
        response = connection.getresponse()
        assert session.listening
        response.close()
        connection.close()
        until(lambda: not session.listening, "the server to see that the stream is left")
        server.tool("new", lambda: None)
        client.listen()
        client.wait_for("notifications/tools/list_changed")


def test_put_is_not_allowed(client: FakeClient) -> None:
    answer = client.send("PUT", b"{}")
    assert answer.status == 405
    assert answer.headers["allow"] == "GET, POST, DELETE"


def test_several_requests_on_one_connection_are_answered_in_order(
    server: Served, client: FakeClient
) -> None:
    with RawConnection(server.app.url) as raw:
        headers = {name.replace("-", "_"): value for name, value in client.headers.items()}
        for number in range(5):
            body = json.dumps({**PING, "id": number}).encode()
            raw.send_head("POST", Content_Length=str(len(body)), **headers)
            raw.send(body)
        got = b""
        while got.count(b'"result":{}') < 5:
            more = raw.socket.recv(65536)
            assert more, "the server closed the connection"
            got += more
        assert re.findall(rb'"id":(\d)', got) == [b"0", b"1", b"2", b"3", b"4"]


# -- lists --------------------------------------------------------------------------------------


def test_the_list_is_sorted_paged_and_complete(server: Served, client: FakeClient) -> None:
    count = 2 * PAGE_SIZE + 30
    for number in (*range(count, 0, -1), 3, 3):
        server.tool(f"tool_{number:04}", lambda: None)

    def walk() -> list[str]:
        names: list[str] = []
        params: dict[str, Any] = {}
        while True:
            result = client.request("tools/list", params)["result"]
            names += [tool["name"] for tool in result["tools"]]
            if "nextCursor" not in result:
                return names
            assert len(result["tools"]) == PAGE_SIZE
            params = {"cursor": result["nextCursor"]}

    names = walk()
    assert names == sorted(names)
    assert len(names) == len(set(names))
    assert {f"tool_{number:04}" for number in range(1, count + 1)} <= set(names)
    assert walk() == names
    # If a tool is removed between two pages, no other tool is left out.
    first = client.request("tools/list", {})["result"]
    server.app.tools.replace([first["tools"][-1]["name"]], [])
    second = client.request("tools/list", {"cursor": first["nextCursor"]})["result"]
    assert second["tools"][0]["name"] == names[PAGE_SIZE]


@pytest.mark.parametrize("cursor", [5, "", "not base64!", "AAAA====", [], {}, "/w=="])
def test_a_cursor_of_another_make_is_refused(client: FakeClient, cursor: Any) -> None:
    response = client.request("tools/list", {"cursor": cursor})
    assert "result" in response or response["error"]["code"] == INVALID_PARAMS
    if cursor != "":
        assert "cursor" in response["error"]["message"]


@pytest.mark.parametrize("revision", ["2025-03-26", "2025-06-18"])
def test_an_entry_holds_only_what_the_revision_knows(server: Served, revision: str) -> None:
    server.tool(
        "full",
        lambda: None,
        title="Full",
        output_schema={"type": "object"},
        icons=({"src": "data:image/png;base64,"},),
    )
    with server.client(revision=revision) as client:
        tools = client.request("tools/list")["result"]["tools"]
    entry = next(tool for tool in tools if tool["name"] == "full")
    assert "icons" not in entry
    assert ("title" in entry) is ("outputSchema" in entry) is (revision == "2025-06-18")


# -- nothing stays behind -----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files in /proc")
def test_clients_that_come_and_go_leave_nothing(server: Served) -> None:
    server.tool("work", lambda x: x)
    server.tool("report", report)

    def visit(number: int) -> None:
        client = server.client()
        client.initialize()
        client.notify("notifications/initialized")
        client.call("work", {"x": number})
        client.post(CALL_REPORT)
        # The client disconnects in the middle of a request.
        with RawConnection(server.app.url) as raw:
            raw.send_head(
                "POST", Content_Length="100", Authorization=client.headers["Authorization"]
            )
            raw.send(b"{" * (number % 7))
        client.close()

    def settled() -> tuple[int, int, int, int]:
        endpoint, app = server.app.endpoint, server.app
        until(
            lambda: (
                not (endpoint.sessions or app._listener.incoming_requests or app.dispatcher.calls)
            ),
            "the end of sessions, requests and calls",
        )
        gc.collect()
        return (
            len(list(Path("/proc/self/fd").iterdir())),
            threading.active_count(),
            len(endpoint._tasks),
            len(app.dispatcher._coroutines._tasks),
        )

    for number in range(5):
        visit(number)
    before = settled()
    for number in range(60):
        visit(number)
    assert settled() == before
