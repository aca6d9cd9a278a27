"""Requests that are read without Tornado. Tornado would read each accepted request in the same way.
Requests are answered in order, even if they arrive in pieces."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raw_http import RawConnection
from tornado.httputil import HTTPHeaders, parse_request_start_line

from callboard.transport.http.access import HEADER_LIMIT
from callboard.transport.http.plain_post import plain_request
from callboard.transport.http.socket_stream import READ_AHEAD
from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import DEADLINE
from serving import Served

HEAD = b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n"


def test_a_plain_head_is_taken() -> None:
    request = plain_request(HEAD + b"body")
    assert request is not None
    assert (request.target, request.head, request.length) == ("/mcp", len(HEAD), 4)
    assert request.headers == {"host": "x", "content-length": "4"}


def test_anything_else_is_left_to_tornado() -> None:
    for head in [
        HEAD.replace(b"POST", b"GET"),
        HEAD.replace(b"POST", b"post"),
        HEAD.replace(b"HTTP/1.1", b"HTTP/1.0"),
        HEAD.replace(b" /mcp", b"  /mcp"),
        HEAD.replace(b"/mcp", b"http://x/mcp"),
        HEAD.replace(b"\r\n", b"\n"),
        HEAD.replace(b"x\r\n", b"x\n"),
        HEAD.replace(b"x\r\n", b"x\r\r\n"),
        HEAD.replace(b"x\r\n", b"x\r\n y\r\n"),
        HEAD.replace(b"x\r\n", b"x\0y\r\n"),
        HEAD.replace(b"x\r\n", b"\xe9\r\n"),
        HEAD.replace(b"Host:", b"Host :"),
        HEAD.replace(b"Host:", b":"),
        HEAD.replace(b"Host: x", b"Host"),
        HEAD.replace(b"Host: x", b"Host: x\r\nhost: y"),
        HEAD.replace(b"Host: x", b"Content-Length: 4"),
        HEAD.replace(b"Host: x", b"Content-Length: 5"),
        HEAD.replace(b"Host: x", b"Transfer-Encoding: chunked"),
        HEAD.replace(b"Host: x", b"transfer-encoding: identity"),
        HEAD.replace(b"Host: x", b"Expect: 100-continue"),
        HEAD.replace(b"Host: x", b"Connection: close"),
        HEAD.replace(b"Host: x", b"Upgrade: h2c"),
        HEAD.replace(b"Content-Length: 4\r\n", b""),
        *(
            HEAD.replace(b": 4", b": " + length)
            for length in (b"+4", b"-4", b"4, 4", b"4 4", b"0x4", b"", b"1_0", b"999999999")
        ),
        b"\r\n" + HEAD,
        HEAD[:-1],
        HEAD.replace(b"x\r\n", b"x" * HEADER_LIMIT + b"\r\n"),
    ]:
        assert plain_request(head + b"body") is None


_lines = st.lists(
    st.one_of(
        st.sampled_from(
            ["Host: x", "Content-Length: 3", "Content-Length:3", "content-length: 3 ", "TE: x"]
        ),
        st.text("aA-: \t\r\n\x00é0", max_size=8),
    ),
    max_size=5,
)


@given(st.sampled_from(["POST /a HTTP/1.1", "POST /é HTTP/1.1", "GET / HTTP/1.1"]), _lines)
def test_what_is_taken_tornado_reads_the_same(start: str, lines: list[str]) -> None:
    data = "\r\n".join([start, *lines, "", ""]).encode("latin-1")
    request = plain_request(data)
    if request is None:
        return
    head = data[: request.head].decode("latin-1")
    first, _, rest = head.partition("\r\n")
    assert parse_request_start_line(first).path == request.target
    theirs = {name.lower(): value for name, value in HTTPHeaders.parse(rest).get_all()}
    assert request.headers == theirs
    assert "\r\n\r\n" not in head[:-4]
    assert "\n\n" not in head
    assert theirs["content-length"] == str(request.length)


# -- over a connection --------------------------------------------------------------------------


def ping(
    raw: RawConnection, server: Served, session: FakeClient, id: int, *more: str, **message: Any
) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", "id": id, "method": "ping", **message}).encode()
    lines = [
        "POST /mcp HTTP/1.1",
        f"Host: {raw.host}",
        f"Authorization: Bearer {server.app.token}",
        "Content-Type: application/json",
        f"Mcp-Session-Id: {session.session}",
        *more,
    ]
    if "Transfer-Encoding: chunked" in more:
        body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    else:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def answered(file: BinaryIO) -> int:
    """Return the id in the next answer. Use one file for all answers: a file may read ahead."""
    assert file.readline() == b"HTTP/1.1 200 OK\r\n"
    length = 0
    while (line := file.readline()) != b"\r\n":
        assert line, "the server closed the connection"
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return int(json.loads(file.read(length))["id"])


def test_requests_sent_at_once_are_answered_in_order_whoever_reads_them(server: Served) -> None:
    general = ("Transfer-Encoding: chunked", "Connection: Keep-Alive, x")
    with server.client() as session, RawConnection(server.app.url) as raw:
        kinds = [(), general[:1], (), (), general[1:], general[:1], ()]
        raw.send(b"".join(ping(raw, server, session, n, *k) for n, k in enumerate(kinds)))
        answers = raw.socket.makefile("rb")
        assert [answered(answers) for _ in kinds] == list(range(len(kinds)))


def test_a_request_in_pieces_is_one_request(server: Served) -> None:
    with server.client() as session, RawConnection(server.app.url) as raw:
        answers = raw.socket.makefile("rb")
        data = ping(raw, server, session, 7)
        for cut in (1, 30, data.index(b"\r\n\r\n") + 4, len(data) - 1):
            raw.send(data[:cut])
            # The first part has arrived by now.
            server.client().send("GET", b"", {}, "/v1/healthz")
            raw.send(data[cut:] + data[:20])
            assert answered(answers) == 7
            raw.send(data[20:])
            assert answered(answers) == 7


def test_a_large_request_that_comes_early_is_read_to_its_end(server: Served) -> None:
    go_on = threading.Event()
    server.tool("wait", lambda: go_on.wait(DEADLINE), affinity="any")
    with server.client() as session, RawConnection(server.app.url) as raw:
        call = {"method": "tools/call", "params": {"name": "wait", "arguments": {}}}
        large = {"params": {"_meta": {"padding": "x" * 16 * READ_AHEAD}}}
        first = ping(raw, server, session, 1, "Accept: application/json", **call)
        raw.send(first + ping(raw, server, session, 2, **large))
        server.client().send("GET", b"", {}, "/v1/healthz")  # Both parts have arrived by now.
        go_on.set()
        answers = raw.socket.makefile("rb")
        assert answered(answers) == 1
        assert answered(answers) == 2


def test_the_last_request_of_a_connection_closes_it(server: Served) -> None:
    with server.client() as session, RawConnection(server.app.url) as raw:
        raw.send(ping(raw, server, session, 1) + ping(raw, server, session, 2, "Connection: close"))
        answers = raw.socket.makefile("rb")
        assert answered(answers) == 1
        assert answered(answers) == 2
        assert answers.read() == b""


def test_a_refused_head_is_answered_before_its_body_comes(server: Served) -> None:
    with RawConnection(server.app.url) as raw:
        raw.send_head("POST", Content_Length="4", Authorization="Bearer wrong")
        assert raw.status() == 401
        assert raw.closed_by_the_server()


CALL = """
import sys
sys.path.insert(0, sys.argv[1])
from serving import served
with served(skills=True) as server, server.client() as client:
    server.tool("there", lambda: "there")
    assert client.call("there")["isError"] is False
    print("tornado" in sys.modules)
    client.send("GET", b"", {}, "/v1/healthz")
    print("tornado" in sys.modules)
"""


@pytest.mark.slow
def test_a_start_and_a_plain_call_load_nothing_of_tornado() -> None:
    tests = str(Path(__file__).parent.parent)
    command = [sys.executable, "-c", CALL, tests]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
