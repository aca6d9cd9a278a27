"""Large results pass through the gateway as they arrive."""

from __future__ import annotations

import hashlib
import http.client
import json
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from gateway_thread import running_gateway
from lying_host import JSON, lying_host

from callboard_testing.fake_host import DEADLINE
from e2e.serving import Program, callboard, environment
from serving import served

EVENTS = "text/event-stream"
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
CALL = {
    "jsonrpc": "2.0",
    "id": 7,
    "method": "tools/call",
    "params": {"name": "draw", "arguments": {}, "_meta": META},
}
MIB = 1024 * 1024


def response(size: int, id: int = 7) -> bytes:
    """Return the answer to a call, with content of that many bytes."""
    answer = {"jsonrpc": "2.0", "id": id, "result": {"content": []}}
    return json.dumps(answer, separators=(",", ":"))[:-3].encode() + b'"%b"]}}' % (b"x" * size)


def as_event(data: bytes) -> bytes:
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}
    return b"data: %b\n\nevent: message\ndata: %b\n\n" % (json.dumps(progress).encode(), data)


def answer_to_call(url: str, token: str) -> tuple[str, bytes]:
    """Return the type of the whole answer, and the digest of its last part."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=DEADLINE)
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": JSON,
        "Accept": f"{JSON}, {EVENTS}",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "draw",
    }
    with closing(connection):
        connection.request("POST", parts.path, json.dumps(CALL), headers)
        with connection.getresponse() as answer:
            kind = str(answer.headers["Content-Type"])
            body = answer.read()
    if kind == EVENTS:
        body = body.rstrip(b"\n").rpartition(b"\n\n")[2].partition(b"data: ")[2]
    return kind, hashlib.sha256(body).digest()


@pytest.mark.parametrize("kind", [JSON, EVENTS])
def test_a_large_answer_arrives_as_it_was_sent(kind: str) -> None:
    body = response(3 * MIB)
    with lying_host() as host, running_gateway() as gateway:
        host.kind, host.lie = kind, body if kind == JSON else as_event(body)
        assert answer_to_call(f"{gateway.url}/liar", str(gateway.token)) == (
            kind,
            hashlib.sha256(body).digest(),
        )


def test_a_large_answer_to_another_call_is_not_passed_on() -> None:
    with lying_host() as host, running_gateway() as gateway:
        host.lie = response(3 * MIB, id=8)
        with gateway.client("liar") as client:
            assert client.call("draw")["isError"]


def test_a_large_answer_that_breaks_off_ends_the_connection() -> None:
    with lying_host() as host, running_gateway() as gateway:
        host.lie, host.missing = response(3 * MIB), 1
        with pytest.raises((http.client.IncompleteRead, ConnectionError)):
            answer_to_call(f"{gateway.url}/liar", str(gateway.token))


def test_a_large_result_of_a_host_comes_after_its_progress() -> None:
    def draw(ctx: Any) -> str:
        ctx.progress(1, 2, "half")
        return "x" * 6 * MIB

    with running_gateway() as gateway, served(announce=True) as host:
        host.tool("draw", draw)
        with gateway.client("fake") as client:
            params = {"name": "draw", "arguments": {}, "_meta": {"progressToken": "t"}}
            result = client.start("tools/call", params).result(DEADLINE)["result"]
            assert len(result["content"][0]["text"]) == 6 * MIB


@pytest.fixture
def gateway_process(home: Path) -> Iterator[Program]:
    with Program(callboard("gateway", "--port", "0"), environment(home)) as program:
        yield program


def peak_memory(program: Program) -> float:
    """Return the peak memory of a program, in MiB."""
    status = Path(f"/proc/{program.process.pid}/status").read_text("utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows another process's memory")
def test_100_mib_pass_without_100_mib_of_memory(gateway_process: Program) -> None:
    body = response(100 * MIB)
    url, token = f"{gateway_process.url}/liar", str(gateway_process.token)
    with lying_host() as host:
        host.lie = response(10)
        answer_to_call(url, token)
        before = peak_memory(gateway_process)
        host.lie = body
        answer_to_call(url, token)
        host.kind, host.lie = EVENTS, as_event(body)
        answer_to_call(url, token)
    grown = peak_memory(gateway_process) - before
    assert grown < 16, f"the peak memory grew by {grown:.1f} MiB"
