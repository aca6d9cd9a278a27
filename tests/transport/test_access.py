"""Access to the listener, and its limits (2025-11-25, Transports, Security Warning)."""

from __future__ import annotations

import contextlib
import http.client
import json
import selectors
import socket
import sys
from urllib.parse import urlsplit

import pytest
from raw_http import RawConnection

from callboard.clients.holder import LOCAL
from callboard.transport.http.access import BODY_LIMIT, HEADER_LIMIT, Access, Refusal
from callboard.transport.http.limits import HttpLimits, most_connections
from callboard.transport.http.socket_stream import LINGER_BYTES
from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import DEADLINE
from serving import Served, served
from waiting import until

PATHS = ["/mcp", "/v1/healthz", "/v1/no/such/thing"]
#: The paths that clients request before they sign in. Nothing is served there.
NOWHERE = [
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-authorization-server/mcp",
    *("/register", "/", "/mcp/../mcp", "/favicon.ico", "/mcpx"),
]
#: A listener that often checks for expired connections. A test shortens the time limits only after
#: its client has done its part, because the client may be slow.
OFTEN = HttpLimits(sweep_every=0.02)
#: A listener that gives a request's head little time.
SHORT = HttpLimits(sweep_every=0.02, header_time=0.05)
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


# -- the token ----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_without_the_token_nothing_is_told_on_any_path(server: Served, path: str) -> None:
    client = server.client()
    token = server.app.token
    for wrong in (None, "", "Bearer", "Bearer wrong", f"Basic {token}", token, f"Bearer {token}x"):
        for method in ("GET", "POST", "DELETE", "OPTIONS", "PUT", "HEAD"):
            answer = client.send(method, PING, {"Authorization": wrong}, path)
            assert answer.status == 401, (method, wrong)
            assert answer.headers["www-authenticate"] == "Bearer"
            assert method == "HEAD" or "bearer token" in json.loads(answer.body)["detail"]


@pytest.mark.parametrize("path", NOWHERE)
def test_where_no_token_would_help_none_is_asked_for(server: Served, path: str) -> None:
    client = server.client()
    for token in (None, "Bearer wrong", f"Bearer {server.app.token}"):
        for method in ("GET", "POST", "DELETE", "PUT", "HEAD"):
            answer = client.send(method, PING, {"Authorization": token}, path)
            assert answer.status == 404, (method, token)
            assert "www-authenticate" not in answer.headers
    # A client from a forbidden host or origin doesn't even learn that this path doesn't exist.
    assert client.send("GET", b"", {"Host": "evil.example:80"}, path).status == 421
    assert client.send("GET", b"", {"Origin": "http://evil.example"}, path).status == 403


def test_the_token_passes_however_its_scheme_is_spelled(server: Served) -> None:
    client = server.client()
    for scheme in ("Bearer", "bearer", "BEARER"):
        headers = {"Authorization": f"{scheme} {server.app.token}"}
        assert client.send("GET", b"", headers, "/v1/healthz").status == 200


def test_a_token_in_the_query_is_no_token(server: Served) -> None:
    client = server.client()
    path = f"/v1/healthz?token={server.app.token}"
    assert client.send("GET", b"", {"Authorization": None}, path).status == 401


def test_without_auth_no_token_is_needed() -> None:
    with served(auth="none") as server:
        assert server.app.token is None
        assert server.client().send("GET", path="/v1/healthz").status == 200


def test_every_server_makes_up_its_own_long_token(server: Served) -> None:
    with served() as other:
        assert server.app.token != other.app.token
        assert len(server.app.token or "") >= 32


# -- Host and Origin ----------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/mcp", "/v1/healthz"])
@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}", "", "[::1]"],
)
def test_another_host_is_turned_away_even_with_the_token(
    server: Served, path: str, host: str
) -> None:
    port = server.app.url.rsplit(":", 1)[1].partition("/")[0]
    answer = server.client().send("GET", b"", {"Host": host.format(port=port)}, path)
    assert answer.status == 421


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_this_machines_names_pass(server: Served, name: str) -> None:
    port = server.app.url.rsplit(":", 1)[1].partition("/")[0]
    headers = {"Host": f"{name}:{port}"}
    assert server.client().send("GET", b"", headers, "/v1/healthz").status == 200


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "http://localhost",
        "https://127.0.0.1:{port}",
        "http://[",
        "",
    ],
)
def test_a_foreign_origin_is_turned_away(server: Served, origin: str) -> None:
    port = server.app.url.rsplit(":", 1)[1].partition("/")[0]
    for method in ("GET", "POST", "OPTIONS"):
        answer = server.client().send(method, PING, {"Origin": origin.format(port=port)})
        assert answer.status == 403
        assert "Origin" in json.loads(answer.body)["detail"]


def test_an_allowed_origin_passes_and_may_read_the_session_header() -> None:
    with served(allowed_origins=["https://studio.example/"]) as server:
        client = server.client()
        client.headers["Origin"] = "https://studio.example"
        preflight = client.send("OPTIONS", b"", {"Authorization": None})
        assert preflight.status == 204
        assert "Mcp-Session-Id" in preflight.headers["access-control-allow-headers"]
        answer = client.send("GET", path="/v1/healthz")
        assert answer.status == 200
        assert answer.headers["access-control-allow-origin"] == "https://studio.example"
        assert "Mcp-Session-Id" in answer.headers["access-control-expose-headers"]


def test_a_preflight_does_not_open_the_door_to_what_follows() -> None:
    with served(allowed_origins=["https://studio.example"]) as server:
        client = server.client()
        headers = {"Origin": "https://studio.example", "Authorization": None}
        assert client.send("OPTIONS", b"", headers).status == 204
        assert client.send("POST", PING, headers).status == 401


def test_the_rules_of_one_listener() -> None:
    access = Access(80, "t", hosts=["render.studio:80"])
    ok = {"authorization": "Bearer t"}
    assert access.check({"host": "localhost", **ok}) == LOCAL
    assert access.check({"host": "render.studio:80", **ok}) == LOCAL
    refusal = access.check({"host": "render.studio:81", **ok})
    assert isinstance(refusal, Refusal)
    assert refusal.status == 421
    refusal = access.check({"host": "localhost", "authorization": "Bearer \udcff"})
    assert isinstance(refusal, Refusal)
    assert refusal.status == 401


def test_only_this_machine_is_listened_on(server: Served) -> None:
    address = urlsplit(server.app.url)
    assert address.hostname == "127.0.0.1"
    with pytest.raises(OSError, match=r"."):
        socket.create_connection(("127.0.0.2", address.port or 0), timeout=DEADLINE).close()


# -- sizes --------------------------------------------------------------------------------------


def test_the_largest_body_is_read_and_one_byte_more_is_not(client: FakeClient) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"pad": ""}}
    room = BODY_LIMIT - len(json.dumps(message).encode())
    message["params"] = {"pad": "x" * room}
    assert client.post(message).message["result"] == {}

    with RawConnection(f"http://{client.address[0]}:{client.address[1]}") as raw:
        raw.send_head(
            "POST",
            Authorization=client.headers["Authorization"],
            Content_Length=str(BODY_LIMIT + 1),
        )
        response = raw.answer()
        assert response.status == 413
        assert str(BODY_LIMIT) in json.loads(response.read())["detail"]
        assert raw.closed_by_the_server()


@pytest.mark.parametrize(("token", "status"), [(True, 413), (False, 401)])
def test_a_client_that_sends_all_of_a_refused_body_still_reads_why(
    server: Served, token: bool, status: int
) -> None:
    address = server.app.url.removeprefix("http://").partition("/")[0]
    headers = {"Authorization": f"Bearer {server.app.token}"} if token else {}
    connection = http.client.HTTPConnection(address, timeout=DEADLINE)
    with contextlib.closing(connection):
        connection.request("POST", "/mcp", b"x" * (BODY_LIMIT + 1), headers)
        response = connection.getresponse()
        assert response.status == status
        assert json.loads(response.read())["status"] == status


def test_a_client_that_goes_on_sending_after_a_refusal_is_dropped(server: Served) -> None:
    with RawConnection(server.app.url) as raw:
        raw.send_head("POST", Content_Length=str(2**40))
        assert raw.status() == 401
        with pytest.raises(ConnectionError):
            raw.send(b"x" * (2 * LINGER_BYTES))


def test_a_chunked_body_is_counted_as_it_comes(server: Served) -> None:
    with RawConnection(server.app.url) as raw:
        raw.send_head(
            "POST",
            Authorization=f"Bearer {server.app.token}",
            Content_Type="application/json",
            Transfer_Encoding="chunked",
        )
        megabyte = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
        for _ in range(8):
            raw.send(megabyte)
        raw.send(b"1\r\nx\r\n")
        assert raw.status() == 413
        assert raw.closed_by_the_server()


def test_a_body_is_not_waited_for_once_the_head_is_refused(server: Served) -> None:
    with RawConnection(server.app.url) as raw:
        raw.send_head("POST", Authorization="Bearer wrong", Content_Length="1000")
        assert raw.status() == 401
        assert raw.closed_by_the_server()


def test_a_head_over_the_limit_ends_the_connection(server: Served) -> None:
    with RawConnection(server.app.url) as raw:
        raw.send(b"GET /mcp HTTP/1.1\r\nX-Pad: " + b"x" * (HEADER_LIMIT + 10))
        assert raw.closed_by_the_server()
    assert server.client().send("GET", path="/v1/healthz").status == 200


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"\x00" * 100 + b"\r\n\r\n",
        b"GET /mcp\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nContent-Length: 1_0\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /mcp HTTP/1.1\r\nBroken header\r\n\r\n",
    ],
)
def test_what_is_no_http_is_turned_away_and_the_next_client_is_served(
    server: Served, data: bytes
) -> None:
    with RawConnection(server.app.url) as raw:
        raw.send(data)
        assert raw.closed_by_the_server()
    assert server.client().send("GET", path="/v1/healthz").status == 200


# -- time ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "begun",
    [b"", b"POST /mcp HT", b"POST /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bear"],
)
def test_a_client_that_never_finishes_its_head_is_dropped(begun: bytes) -> None:
    with served(limits=SHORT) as server, RawConnection(server.app.url) as raw:
        raw.send(begun)
        assert raw.closed_by_the_server()


def test_a_client_that_never_finishes_its_body_is_dropped() -> None:
    limits = HttpLimits(sweep_every=0.02, body_time=0.05)
    with served(limits=limits) as server, RawConnection(server.app.url) as raw:
        raw.send_head(
            "POST", Authorization=f"Bearer {server.app.token}", Content_Length=str(len(PING))
        )
        raw.send(PING[:-1])
        assert raw.closed_by_the_server()


def test_an_idle_connection_that_was_used_is_kept() -> None:
    with served(limits=OFTEN) as server, RawConnection(server.app.url) as raw:
        for _ in range(2):
            raw.send_head("GET", "/v1/healthz", Authorization=f"Bearer {server.app.token}")
            assert raw.status() == 200
            server.app._listener.limits = SHORT
            raw.socket.settimeout(0.2)
            with pytest.raises(TimeoutError):
                raw.socket.recv(1)
            raw.socket.settimeout(DEADLINE)


def test_connections_are_bounded() -> None:
    with served(limits=HttpLimits(connections=4)) as server:
        held = [RawConnection(server.app.url) for _ in range(4)]
        for raw in held:
            raw.send_head("GET", "/v1/healthz", Authorization=f"Bearer {server.app.token}")
            assert raw.status() == 200
        with RawConnection(server.app.url) as fifth:
            assert fifth.closed_by_the_server()
        for raw in held:
            raw.socket.close()
        until(lambda: served_again(server), "room for another connection")


def test_there_is_room_for_what_select_bears() -> None:
    # On Windows, ``select`` is limited to 512 sockets: the connections, the 128 that are accepted
    # before one is shed, and the server's own.
    assert most_connections(selectors.SelectSelector) + 128 + 32 < 512
    assert HttpLimits().connections == most_connections(selectors.DefaultSelector)


@pytest.mark.skipif(sys.platform != "win32", reason="other systems don't wait with select")
def test_more_strangers_than_select_bears_shut_nobody_out() -> None:
    with served() as server, contextlib.ExitStack() as strangers:
        for _ in range(530):
            strangers.enter_context(RawConnection(server.app.url))
        assert server.client().send("GET", path="/v1/healthz").status == 200


def served_again(server: Served) -> bool:
    with contextlib.suppress(ConnectionError, http.client.HTTPException):
        return server.client().send("GET", path="/v1/healthz").status == 200
    return False


# -- strangers: clients without a token ---------------------------------------------------------


def _preflight(raw: RawConnection) -> None:
    """Send a request that is answered without a token."""
    raw.send_head("OPTIONS", Origin=f"http://{raw.host}", Access_Control_Request_Method="POST")
    assert raw.status() == 204


def test_answers_to_a_stranger_do_not_keep_its_connection() -> None:
    with served(limits=OFTEN) as server, RawConnection(server.app.url) as raw:
        _preflight(raw)
        server.app._listener.limits = HttpLimits(sweep_every=0.02, header_time=0.3)
        assert raw.closed_by_the_server()
        # The connection is closed, however many requests the client sends.
        with (
            RawConnection(server.app.url) as busy,
            contextlib.suppress(OSError, http.client.HTTPException),
        ):
            for _ in range(10_000):
                _preflight(busy)
            pytest.fail("a stranger was answered again and again")


@pytest.mark.parametrize("method", ["GET", "POST", "HEAD"])
def test_a_refused_stranger_is_hung_up_on(server: Served, method: str) -> None:
    with RawConnection(server.app.url) as raw:
        raw.send_head(method, Content_Length="0")
        assert raw.answer(method).status == 401
        assert raw.closed_by_the_server()


@pytest.mark.slow
def test_as_many_strangers_as_fit_keep_nobody_out() -> None:
    """The connections without a token exceed the server's limit, and the limit of ``select`` on
    Windows. The last 100 have been answered once. A new client with a token is served, and the one
    that connected earlier stays connected."""
    with served() as server, server.client() as client, contextlib.ExitStack() as stack:
        assert client.request("ping")["result"] == {}
        held = [
            stack.enter_context(RawConnection(server.app.url))
            for _ in range(max(HttpLimits().connections + 20, 560))
        ]
        for raw in held[-100:]:
            _preflight(raw)
        assert server.client().send("GET", path="/v1/healthz").status == 200
        assert client.request("ping")["result"] == {}
        # The oldest stranger was closed to make room.
        assert held[0].closed_by_the_server()


@pytest.mark.parametrize(
    ("length", "status"),
    [
        ("\xb2", 400),
        ("9" * 5000, 413),
        ("1" + "0" * 18, 413),
        ("-1", 400),
        ("0x5", 400),
        ("+5", 400),
    ],
)
def test_a_length_that_is_no_number_is_refused_in_words(
    server: Served, length: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    with RawConnection(server.app.url) as raw:
        raw.send_head("POST", Authorization=f"Bearer {server.app.token}", Content_Length=length)
        assert raw.status() == status
        assert raw.closed_by_the_server()
    assert server.client().send("GET", path="/v1/healthz").status == 200
    assert [record for record in caplog.records if record.exc_info] == []


# -- clients that do not read -------------------------------------------------------------------


def test_a_client_that_never_reads_its_stream_is_dropped() -> None:
    with (
        served(limits=HttpLimits(queue_bytes=100_000)) as server,
        server.client() as client,
        RawConnection(server.app.url) as raw,
    ):
        raw.send_head(
            "GET",
            Authorization=client.headers["Authorization"],
            Accept="text/event-stream",
            Mcp_Session_Id=client.session or "",
        )
        assert raw.answer("GET").status == 200
        session = next(iter(server.app.endpoint.sessions))
        loop = server.app.guest.loop
        message = {"data": "x" * 50_000}

        def dropped() -> bool:
            loop.call_soon_threadsafe(session.notify, "notifications/message", message)
            client.request("ping")
            return not session.listening

        until(dropped, "the end of the stream")
        # The client has lost its stream, not its session.
        assert client.request("ping")["result"] == {}


def test_a_client_that_never_reads_its_answer_is_dropped() -> None:
    with served(limits=OFTEN) as server, server.client() as client:
        server.tool("large", lambda: "x" * 30_000_000, affinity="any")
        body = json.dumps(
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "large"}}
        ).encode()
        with RawConnection(server.app.url) as raw:
            raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            raw.send_head(
                "POST",
                Authorization=client.headers["Authorization"],
                Content_Type="application/json",
                Accept="application/json",
                Mcp_Session_Id=client.session or "",
                Content_Length=str(len(body)),
            )
            raw.send(body)
            incoming_requests = server.app._listener.incoming_requests

            def writing() -> bool:
                return any(each.state == "writing" for each in list(incoming_requests.values()))

            until(writing, "the answer to be sent")
            server.app._listener.limits = HttpLimits(sweep_every=0.02, write_time=0.1)
            until(lambda: not writing(), "the client to be dropped")
        assert client.request("ping")["result"] == {}
