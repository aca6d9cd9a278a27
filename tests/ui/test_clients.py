"""Clients in the panel: those that are connected, and their permissions."""

from __future__ import annotations

import socket
import threading
from typing import Any

from needed import need

need("qt")

from panel_rig import reads, texts
from qtpy.QtWidgets import QPushButton

from callboard.clients.book import ClientBook
from callboard.errors import REFUSED_BY_ARTIST
from callboard_testing.fake_client import FakeClient
from callboard_ui.panel import CONSENT

ANYTHING = {"type": "object"}


def rows(shown: Any) -> dict[str, Any]:
    return dict(shown.panel.consent.clients.rows)


def manage(shown: Any) -> Any:
    """Open the list of clients, as an artist does."""
    shown.click(shown.panel.header.manage)
    assert shown.panel.tabs.currentIndex() == CONSENT
    return shown.panel.consent.clients


def holding_on(client: FakeClient) -> socket.socket:
    """Keep the client's own stream open inside the block."""
    stream = socket.create_connection(client.address, timeout=20)
    headers = {**client.headers, "Host": f"127.0.0.1:{client.address[1]}"}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    stream.sendall(f"GET {client.path} HTTP/1.1\r\n{lines}\r\n".encode())
    assert b"200" in stream.recv(4096)
    return stream


def test_a_client_that_was_killed_leaves_the_list_until_it_is_back(open_panel: Any) -> None:
    shown = open_panel()
    with shown.server.client() as client:
        header = shown.panel.header.clients
        shown.until(lambda: header.text().startswith("fake"))
        holding_on(client).close()
        shown.until(lambda: header.text() == "No client is connected")
        box = manage(shown)
        shown.until(lambda: not reads(box, "fake, connected"))
        client.request("ping")
        with holding_on(client):
            shown.until(lambda: header.text().startswith("fake"))
            shown.until(lambda: reads(box, "fake, connected"))
        shown.until(lambda: header.text() == "No client is connected")
        # This is the same client, started again.
        with shown.server.client():
            shown.until(lambda: header.text().startswith("fake"))


def test_a_client_that_was_killed_in_a_call_leaves_the_list(open_panel: Any) -> None:
    shown = open_panel()
    release = threading.Event()
    shown.server.tool("slow", lambda: release.wait(20) and None, affinity="any")
    with shown.server.client() as client:
        body = b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"slow"}}'
        headers = {**client.headers, "Host": "x", "Content-Length": str(len(body))}
        headers["Host"] = f"127.0.0.1:{client.address[1]}"
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        caller = socket.create_connection(client.address, timeout=20)
        caller.sendall(f"POST {client.path} HTTP/1.1\r\n{lines}\r\n".encode() + body)
        shown.until(lambda: shown.server.app.dispatcher.calls)
        caller.close()
        shown.until(lambda: shown.panel.header.clients.text() == "No client is connected")
        release.set()


def test_one_clients_calls_are_stopped_and_the_others_go_on(open_panel: Any) -> None:
    shown = open_panel()
    release = threading.Event()
    shown.server.tool("slow", lambda ctx: release.wait(20) and "done", ANYTHING, affinity="any")
    book, url = ClientBook(), shown.server.app.url
    with (
        FakeClient(url, book.make("one")[1]) as one,
        FakeClient(url, book.make("two")[1]) as two,
    ):
        calls = [shown.begin(client, "slow") for client in (one, two)]
        shown.until(lambda: len(shown.panel.link.controls.status.snapshot.calls) == 2)
        box = manage(shown)
        shown.until(lambda: {"one", "two"} <= set(rows(shown)))
        shown.click(rows(shown)["one"].stop)
        assert shown.wait(calls[0])["error"]["code"] == REFUSED_BY_ARTIST
        shown.until(lambda: reads(box, "one: calls ended: 1"))
        assert not calls[1].done()
        release.set()
        assert "result" in shown.wait(calls[1])
        assert "result" in shown.call(one, "slow")


def test_a_client_is_let_in_no_more(open_panel: Any) -> None:
    shown = open_panel()
    token = ClientBook().make("studio")[1]
    with FakeClient(shown.server.app.url, token) as client:
        box = manage(shown)
        shown.until(lambda: reads(box, "fake, connected"))
        row = rows(shown)["studio"]
        assert row.revoke.menu().actions() == [row.revoke_for_good]
        assert "studio" in row.revoke_for_good.text()
        row.revoke_for_good.trigger()
        shown.until(lambda: "studio no longer has access" in texts(box))
        shown.until(lambda: "studio" not in rows(shown))
        assert client.send("POST", b"{}").status == 401


def test_what_a_client_was_allowed_is_listed_and_taken_back(open_panel: Any) -> None:
    shown = open_panel()
    hints = {"destructiveHint": True}
    shown.server.tool("wipe", lambda: "gone", annotations=hints, title="Wipe it all")
    shown.panel.link.controls.set_consent_policy("destructive", "ask")
    policies = shown.panel.consent.policies
    shown.until(lambda: policies["destructive"].currentData() == "ask")
    with shown.server.client() as client:
        first = shown.begin(client, "wipe")
        shown.until(lambda: shown.panel.consent.cards.cards)
        shown.click(shown.panel.banner.button)
        shown.click(shown.panel.consent.cards.cards[0].session)
        assert "result" in shown.wait(first)
        box = manage(shown)
        shown.until(lambda: reads(box, "may: deleting, replacing; this session"))
        assert "result" in shown.call(client, "wipe")
        (line,) = rows(shown)["local"].grants.values()
        shown.click(line.findChild(QPushButton))
        shown.until(lambda: not rows(shown)["local"].grants)
        again = shown.begin(client, "wipe")
        shown.until(lambda: shown.panel.consent.cards.cards)
        shown.click(shown.panel.consent.cards.cards[0].refuse)
        assert shown.wait(again)["error"]["code"] == REFUSED_BY_ARTIST
