"""Web pages, other users and lying instances attack the gateway, or attack others through it."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from gateway_thread import running_gateway
from lying_host import lying_host

from callboard.clients.book import ClientBook
from callboard.transport import instances
from callboard_programs.relay import link
from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import DEADLINE
from e2e.serving import environment
from needed import need
from serving import served, text_of

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
PATHS = ("/mcp", "/mcp/fake", "/v1/healthz")
HOSTILE = "x\U000e0041\u202e"


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        # A page whose host name now resolves to this machine (DNS rebinding).
        ("POST", {"Host": "rebound.example:17797"}, 421),
        ("POST", {"Host": "rebound.example:17797", "Origin": "http://rebound.example:17797"}, 421),
        # A page from another server, with a request that needs no preflight, and one that does.
        ("POST", {"Origin": "https://evil.example", "Content-Type": "text/plain"}, 403),
        ("POST", {"Origin": "null"}, 403),
        ("OPTIONS", {"Origin": "https://evil.example"}, 403),
    ],
)
def test_a_page_reaches_nothing_though_no_token_is_asked_for(
    path: str, method: str, headers: dict[str, str | None], status: int
) -> None:
    with running_gateway(token=False) as gateway, served(announce=True):
        client = gateway.client(token=None)
        assert client.send(method, b"{}", headers, path).status == status


def test_a_form_is_no_message() -> None:
    with running_gateway(token=False) as gateway:
        form: dict[str, str | None] = {"Content-Type": "application/x-www-form-urlencoded"}
        assert gateway.client(token=None).send("POST", b"a=1", form, "/mcp").status == 415


@pytest.mark.parametrize("path", PATHS)
def test_a_token_of_another_users_client_opens_nothing(tmp_path: Path, path: str) -> None:
    _, token = ClientBook(tmp_path / "another" / "clients.json").make("ada")
    with running_gateway() as gateway, served(announce=True):
        client = gateway.client(token=token)
        assert client.send("POST", b"{}", {}, path).status == 401


def test_a_stolen_instance_file_opens_neither_the_gateway_nor_the_next_instance() -> None:
    with running_gateway() as gateway:
        with served(announce=True):
            (stolen,) = instances.announced(instances.folder())
            assert gateway.client(token=stolen.token).send("POST", b"{}", {}, "/mcp").status == 401
        with served(announce=True) as heir:
            client = FakeClient(heir.app.url, stolen.token)
            assert client.send("POST", b"{}", {}, "/mcp").status == 401


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such file modes")
def test_a_file_that_others_may_write_is_no_instance(tmp_path: Path) -> None:
    with lying_host():
        (file,) = instances.folder().glob("*.json")
        file.chmod(0o666)
        assert instances.listed() == []
        file.chmod(0o600)


def test_a_flood_of_questions_and_news_ends_with_its_call_and_holds_up_no_other() -> None:
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}
    question = {"jsonrpc": "2.0", "id": 1, "method": "roots/list"}
    flood = b"".join(
        f"data: {json.dumps(each)}\n\n".encode() for each in (progress, question) * 5_000
    )
    with (
        lying_host() as liar,
        running_gateway() as gateway,
        served(announce=True) as honest,
        gateway.client("fake") as other,
    ):
        honest.tool("who", lambda: "honest")
        liar.kind, liar.lie = "text/event-stream", flood
        with gateway.client("liar") as flooded:
            call = flooded.start("tools/call", {"name": "any", "arguments": {}})
            assert text_of(other.call("who")) == "honest"
            answer = call.result(DEADLINE)
            assert "went away during this call" in text_of(answer["result"])
        assert text_of(other.call("who")) == "honest"


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (b"Content-Length: 99999999999999", b"{"),
        (b"Transfer-Encoding: chunked", b"fffffffffff\r\n{"),
        (b"Transfer-Encoding: chunked", b"-1\r\n{"),
        (b"Content-Length: -5", b"{}"),
    ],
)
def test_an_answer_that_says_it_is_endless_is_none(head: bytes, body: bytes) -> None:
    with lying_host() as liar, running_gateway() as gateway, gateway.client("liar") as client:
        client.initialize()
        first = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
        liar.raw = first + head + b"\r\n\r\n" + body
        result = client.call("any")
        assert result["isError"]
        assert "how far the call got is not known" in text_of(result)


def test_a_list_that_is_too_large_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "OWN_LIMIT", 10_000)
    with (
        lying_host() as liar,
        running_gateway() as gateway,
        served(announce=True) as honest,
        gateway.client() as client,
    ):
        honest.tool("who", lambda: "honest")
        liar.result = {"tools": [{"name": "x" * 100_000}], "prompts": [], "resources": []}
        hits = client.call("tools__search", {"query": "who"})["structuredContent"]["hits"]
        assert {hit["instance"] for hit in hits} == {"fake"}


def test_names_that_hide_something_or_are_none_are_not_listed() -> None:
    tools = [
        {"name": HOSTILE},
        {"name": "<script>"},
        {"name": "a b"},
        {"name": "n" * 500},
        {"name": "honest", "description": f"Reads.{HOSTILE}", "inputSchema": {"type": "object"}},
    ]
    entries = [{"name": HOSTILE, "uri": HOSTILE}, {"name": "p", "uri": "u://p", "title": HOSTILE}]
    with lying_host() as liar, running_gateway() as gateway, gateway.client() as client:
        lists = {"tools": tools, "prompts": entries, "resources": entries}
        liar.result = {**liar.result, **lists}
        client.call("instances__attach", {"instance": "liar"})
        lists = {
            key: client.request(f"{key}/list")["result"][key]
            for key in ("tools", "prompts", "resources")
        }
        theirs = [tool for tool in lists["tools"] if tool["name"].startswith("liar")]
        assert [tool["name"] for tool in theirs] == ["liar__honest"]
        assert [prompt["name"] for prompt in lists["prompts"]] == ["liar__p"]
        assert [resource["uri"] for resource in lists["resources"]] == ["instance://liar/u://p"]
        hits = client.call("tools__search", {"query": "reads"})
        told = json.dumps([theirs, lists["prompts"], lists["resources"], hits])
        assert "U+E0041" in told
        assert "\\udb40" not in told


def test_an_instance_that_answers_byte_after_byte_is_not_serving(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(instances, "ANSWER_TIME", 0.3)
    with lying_host() as liar:
        liar.drips = True
        began = time.monotonic()
        assert [entry.state for entry in instances.listed()] == ["busy"]
        assert time.monotonic() - began < DEADLINE


WITH_FEW_FILES = """
import resource, sys
from callboard_programs.cli import main
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
sys.exit(main(["gateway", "--port", "0", *sys.argv[1:]]))
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limit")
@pytest.mark.parametrize("tls", [False, True])
def test_strangers_leave_files_to_open(tmp_path: Path, tls: bool) -> None:
    """The strangers that connect outnumber the files that macOS lets a process open. They send
    nothing."""
    if tls:
        need("openssl")
    listen = ["--listen", "127.0.0.1:0"] if tls else []
    with (
        subprocess.Popen(
            [sys.executable, "-c", WITH_FEW_FILES, *listen],
            env=environment(tmp_path),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process,
        contextlib.ExitStack() as stack,
    ):
        stack.callback(process.terminate)
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        address = urlsplit(ready["remote_url" if tls else "url"])
        assert address.hostname is not None
        for _ in range(300):
            where = address.hostname, address.port
            stack.enter_context(socket.create_connection(where, DEADLINE))
        if tls:
            any_certificate = ssl._create_unverified_context()
            far = http.client.HTTPSConnection(
                address.hostname, address.port, timeout=DEADLINE, context=any_certificate
            )
            stack.callback(far.close)
            far.request("GET", "/mcp")
            assert far.getresponse().status == 401
        client = FakeClient(ready["url"], ready["token"])
        assert client.send("GET", path="/v1/healthz").status == 200
        stack.close()
        _, words = process.communicate(timeout=DEADLINE)
        assert b"Too many open files" not in words
