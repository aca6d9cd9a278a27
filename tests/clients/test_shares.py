"""No client can take all of the server's capacity, or delay other clients with large requests."""

from __future__ import annotations

import asyncio
import json
import socket
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from callboard.clients.book import ClientBook
from callboard.clients.holder import LOCAL, TokenHolder
from callboard.clients.shares import has_place, most_greedy
from callboard.errors import HOST_BUSY
from callboard.jobs.jobs import RUNNING_LIMIT
from callboard.transport.http.body_limit import LIGHT, MOST_LARGE, MOST_VALUES, is_too_much
from callboard_testing.fake_client import FakeClient
from serving import served
from waiting import until

ADA, BOB = TokenHolder("ada", "1"), TokenHolder("bob", "2")


def test_one_client_gets_half_and_a_place_is_left_for_the_next() -> None:
    taken: list[TokenHolder] = []
    while has_place(ADA, taken, 16):
        taken.append(ADA)
    assert len(taken) == 8
    while has_place(BOB, taken, 16):
        taken.append(BOB)
    assert len(taken) == 12
    assert has_place(LOCAL, taken, 16)
    assert most_greedy(LOCAL, Counter(taken)) == ADA
    assert most_greedy(ADA, Counter(taken)) is None
    assert most_greedy(ADA, Counter()) is None


def test_a_client_that_starts_jobs_without_end_leaves_room_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    tokens = [ClientBook().make(name)[1] for name in ("ada", "bob")]

    async def forever() -> None:
        await asyncio.Event().wait()

    with served() as server:
        server.tool("forever", forever, execution="async")
        ada, bob = (FakeClient(server.app.url, token) for token in tokens)
        call: Any = {"name": "forever", "arguments": {}}
        with ada, bob:
            for _ in range(RUNNING_LIMIT // 2):
                assert "result" in ada.request("tools/call", call)
            assert ada.request("tools/call", call)["error"]["code"] == HOST_BUSY
            assert "result" in bob.request("tools/call", call)


@pytest.mark.parametrize("sent_as", ["Content-Length: 200000", "Transfer-Encoding: chunked"])
def test_a_client_that_holds_large_bodies_gets_no_more_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent_as: str
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    tokens = [ClientBook().make(name)[1] for name in ("ada", "bob")]
    with served() as server, ExitStack() as held:
        ada, bob = (held.enter_context(FakeClient(server.app.url, token)) for token in tokens)
        message = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": "x" * 2 * LIGHT}}
        large = json.dumps(message).encode()
        host = server.app.url.split("/")[2]
        head = f"POST /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {tokens[0]}\r\n"
        chunk = b" " * (LIGHT + 1)
        start = b"%x\r\n%b\r\n" % (len(chunk), chunk) if "chunked" in sent_as else chunk
        connections: list[socket.socket] = []

        def hold() -> None:
            connections.append(held.enter_context(socket.create_connection(host.split(":"))))
            connections[-1].sendall(f"{head}{sent_as}\r\n\r\n".encode() + start)

        def refused() -> bool:
            hold()  # one more, to replace a connection that was refused meanwhile
            return ada.send("POST", large).status == 503

        for _ in range(MOST_LARGE - 1):
            hold()
        until(refused, "a refusal")
        assert bob.send("POST", large).status == 200
        assert ada.request("ping")["result"] == {}
        for each in connections:
            each.close()
        until(lambda: ada.send("POST", large).status == 200, "an answer")


@pytest.mark.parametrize(
    ("body", "too_much"),
    [
        (json.dumps({f"k{n}": n for n in range(MOST_VALUES + 1)}), True),
        (json.dumps([0] * (MOST_VALUES + 1)), True),
        (json.dumps([0] * MOST_VALUES), False),
        (json.dumps(["," * 3 * MOST_VALUES, 'a\\",' * MOST_VALUES]), False),
        ("," * 2 * MOST_VALUES, True),
    ],
)
def test_values_are_counted_and_not_what_texts_say(body: str, too_much: bool) -> None:
    assert is_too_much(body.encode()) is too_much


@pytest.mark.parametrize("path", ["/mcp", "/v1/call"])
def test_a_body_of_very_many_values_is_refused_and_a_long_text_is_not(path: str) -> None:
    with served() as server, server.client() as client:
        server.tool("take", lambda text="", **more: len(text))
        many = {f"k{n}": n for n in range(MOST_VALUES + 1)}
        hidden = {"text": "⟨U+200B⟩" * MOST_VALUES}
        for given, status in ((many, 413), (hidden, 413), ({"text": ",x" * LIGHT}, 200)):
            call = {"name": "take", "tool": "take", "arguments": given}
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
            del call["name" if path == "/v1/call" else "tool"]
            body = json.dumps(message if path == "/mcp" else call).encode()
            assert client.send("POST", body, path=path).status == status
        assert client.request("ping")["result"] == {}
