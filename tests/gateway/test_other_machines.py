"""The gateway for other machines: the clients that it accepts, and how both sides identify each
other."""

from __future__ import annotations

import asyncio
import json
import os
import queue
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from gateway_thread import RunningGateway, running_gateway
from page_visitor import Visitor, request

from callboard.clients.book import ClientBook
from callboard.errors import HostError, PeerError
from callboard.panel.status import QuestionStatus, Snapshot
from callboard_programs.cli import main
from callboard_programs.client.http import Endpoint, Unreachable
from callboard_programs.client.http_client import HttpClient
from callboard_programs.gateway.certificate import Certificate, own_certificate
from callboard_programs.gateway.other_machines import Outside, outside_address
from callboard_programs.relay.address import AddressFinder
from callboard_programs.relay.link import Link
from callboard_testing.fake_host import DEADLINE
from e2e.serving import callboard, environment
from needed import needs
from serving import Served, served


@pytest.fixture
def gateway() -> Iterator[RunningGateway]:
    outside = Outside("127.0.0.1", 0, own_certificate("127.0.0.1"))
    with running_gateway(outside=outside) as running:
        yield running


def told_to(gateway: RunningGateway, token: str) -> Any:
    """Return the instances that a client on another machine is shown."""

    async def ask() -> Any:
        endpoint = Endpoint.at(str(gateway.remote_url), token, patience=DEADLINE)
        client = HttpClient(endpoint)
        await client.open({"name": "far", "version": "1"}, {})
        try:
            return await client.request("tools/call", {"name": "instances__list"})
        finally:
            await client.close()

    return asyncio.run(asyncio.wait_for(ask(), DEADLINE))


@needs("openssl")
def test_a_client_gets_in_once_it_is_approved_and_until_it_is_revoked(
    gateway: RunningGateway,
) -> None:
    book = ClientBook()
    _, token = book.make("ada")
    with pytest.raises(HostError, match="`callboard clients approve ada`"):
        told_to(gateway, token)
    book.approve("ada")
    with served(announce=True) as host:
        (row,) = told_to(gateway, token)["structuredContent"]["instances"]
        assert row["id"] == host.app.id
    book.revoke("ada")
    with pytest.raises(HostError, match="401"):
        told_to(gateway, token)
    # A later client with the same name is a different one.
    _, again = book.make("ada")
    with pytest.raises(HostError, match="`callboard clients approve ada`"):
        told_to(gateway, again)


@needs("openssl")
def test_the_page_is_asked_about_a_client_and_its_answer_holds_for_that_client_alone(
    gateway: RunningGateway,
) -> None:
    entry, token = ClientBook().make("ada")
    visitor = Visitor(gateway)
    with visitor.listening() as heard:
        with pytest.raises(HostError, match=entry.fingerprint):
            told_to(gateway, token)
        asking = heard.newcomer()
        assert (asking["name"], asking["address"]) == ("ada", "127.0.0.1")
        assert asking["fingerprint"] == entry.fingerprint
        # The approval doesn't apply to a different client that has since taken the name.
        _, another = ClientBook().make("ada")
        status, answer = visitor.act("approve", asking["id"])
        assert (status, "is no longer asking" in answer["detail"]) == (400, True)
        heard.nobody_asks()
        with pytest.raises(HostError, match="may not connect"):
            told_to(gateway, another)
        asking = heard.newcomer()
        assert visitor.act("turn_away", asking["id"]) == (200, {"done": True})
        heard.nobody_asks()
        for _ in range(2):
            with pytest.raises(HostError, match="was turned away"):
                told_to(gateway, another)
        assert ClientBook().newcomers() == []
        # The decision on the command line is final. A different client has to ask again.
        ClientBook().approve("ada")
        assert told_to(gateway, another)["structuredContent"] == {"instances": []}
        _, third = ClientBook().make("ada")
        with pytest.raises(HostError, match="may not connect"):
            told_to(gateway, third)
        assert visitor.act("approve", heard.newcomer()["id"])[0] == 200
        heard.nobody_asks()
        assert told_to(gateway, third)["structuredContent"] == {"instances": []}


@needs("openssl")
def test_every_panel_is_asked_and_the_first_answer_counts(gateway: RunningGateway) -> None:
    _, token = ClientBook().make("ada")
    with served(announce=True) as host, served(announce=True) as other:
        panels = [Panel(host), Panel(other)]
        with pytest.raises(HostError, match="an application's panel"):
            told_to(gateway, token)
        question = panels[0].question()
        assert (question.client, question.choices) == ("ada", ("allow", "refuse"))
        assert question.arguments["address"] == "127.0.0.1"
        assert panels[1].question().id == question.id
        # The page has one card for the client, not one for each host.
        with Visitor(gateway).listening() as heard:
            assert heard.newcomer()["name"] == "ada"
            for name in ("fake", "fake_2"):
                assert heard.status(name, lambda status: True)["status"]["questions"] == []
        host.app.controls.answer(question.id, "allow")
        for panel in panels:
            panel.is_asked_nothing()
        other.app.controls.answer(question.id, "refuse")
        assert len(told_to(gateway, token)["structuredContent"]["instances"]) == 2


class Panel:
    """The contents of the host's panel."""

    def __init__(self, host: Served) -> None:
        self._host = host
        self._heard: queue.Queue[Snapshot] = queue.Queue()
        host.app.controls.status.watch(self._heard.put)

    def question(self) -> QuestionStatus:
        return self._until(lambda shown: shown.questions).questions[0]

    def is_asked_nothing(self) -> None:
        self._until(lambda shown: not shown.questions)

    def _until(self, fits: Callable[[Snapshot], object]) -> Snapshot:
        # By default a host checks the file every few seconds. It checks at once when a client shows
        # a token.
        request(self._host.app.url, "GET", "/v1/healthz", {"Authorization": "Bearer x"})
        while not fits(shown := self._heard.get(timeout=DEADLINE)):
            pass
        return shown


@needs("openssl")
def test_the_gateways_own_token_is_for_its_own_machine(gateway: RunningGateway) -> None:
    with pytest.raises(HostError, match="401"):
        told_to(gateway, str(gateway.token))


@needs("openssl")
def test_one_that_shows_another_certificate_is_told_nothing() -> None:
    heard: list[bytes] = []

    async def ask_an_impostor() -> None:
        over = asyncio.Event()

        async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                heard.append(await reader.read())
            except OSError:
                heard.append(b"")
            writer.transport.abort()
            over.set()

        context = own_certificate("127.0.0.2").context()
        server = await asyncio.start_server(listen, "127.0.0.1", 0, ssl=context)
        port = server.sockets[0].getsockname()[1]
        meant = own_certificate("127.0.0.1").fingerprint()
        client = HttpClient(Endpoint.at(f"https://127.0.0.1:{port}/mcp#sha256={meant}", "secret"))
        with pytest.raises(Unreachable, match="a different certificate"):
            await client.open({"name": "far", "version": "1"}, {})
        await over.wait()
        server.close()

    asyncio.run(asyncio.wait_for(ask_an_impostor(), DEADLINE))
    assert set(heard) == {b""}


@pytest.mark.slow
@needs("openssl")
def test_the_bridge_of_another_machine_says_why_it_is_refused_and_gets_in_once_approved(
    gateway: RunningGateway, tmp_path: Path
) -> None:
    book = ClientBook()
    _, token = book.make("ada")
    about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "far"}}
    call = {"name": "instances__list", "arguments": {}}
    asked = [("initialize", about), ("tools/list", {}), ("tools/call", call)]
    lines = "".join(
        json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}) + "\n"
        for id, (method, params) in enumerate(asked)
    )
    right = str(gateway.remote_url)
    far = {**environment(tmp_path / "far"), "CALLBOARD_TOKEN": token}

    def told(url: str = right) -> tuple[Any, Any]:
        """Return the answers to the list and to the call."""
        command = callboard("connect", url)
        done = subprocess.run(command, env=far, input=lines, capture_output=True, text=True)
        answers = {each["id"]: each for each in map(json.loads, done.stdout.splitlines())}
        return answers[1], answers[2]

    def check(words: str, url: str = right) -> None:
        for answer in told(url):
            assert words in answer["error"]["message"], answer
            assert "host offline" not in answer["error"]["message"]

    check("`callboard clients approve ada`")
    book.approve("ada")
    listed, called = told()
    assert "instances__list" in str(listed["result"])
    assert called["result"]["structuredContent"] == {"instances": []}
    wrong = right.partition("#")[0] + "#sha256=" + "0" * 64
    check("the gateway presents a different certificate from the one in its address", wrong)
    check("use the whole address that `callboard gateway --listen` prints", right.partition("#")[0])
    book.revoke("ada")
    check("the bearer token is missing, unknown or revoked")
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    _, called = told(f"https://127.0.0.1:{port}/mcp#{right.partition('#')[2]}")
    assert called["result"]["content"][0]["text"].startswith("gateway offline: ")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such file modes")
def test_a_token_that_others_may_read_is_not_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "token"
    file.write_text("secret", "utf-8")
    file.chmod(0o644)
    address = "https://127.0.0.1:9/mcp#sha256=" + "0" * 64
    assert main(["connect", address, "--token-file", str(file)]) == 1
    assert f"other users can read {file}, and the token in it: chmod 600" in capsys.readouterr().err


@needs("openssl")
def test_every_stream_begins(gateway: RunningGateway) -> None:
    book = ClientBook()
    _, token = book.make("ada")
    book.approve("ada")
    instance = AddressFinder(str(gateway.remote_url), token).find()
    assert instance is not None

    async def listen() -> None:
        for _ in range(10):
            link = Link(instance, lambda method, params: None, {"name": "far", "version": "1"})
            await link.open()
            await link.end()

    asyncio.run(listen())


@needs("openssl")
def test_without_tls_nobody_is_answered(gateway: RunningGateway) -> None:
    port = urlsplit(str(gateway.remote_url)).port
    with socket.create_connection(("127.0.0.1", port), DEADLINE) as plain:
        plain.sendall(b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        try:
            assert not plain.recv(100).startswith(b"HTTP")
        except ConnectionError:
            return


@needs("openssl")
def test_a_certificate_is_made_once_and_its_key_is_this_users() -> None:
    made = own_certificate("10.0.0.5")
    before = made.fingerprint()
    assert own_certificate("10.0.0.5").fingerprint() == before
    assert isinstance(made.context(), ssl.SSLContext)
    if os.name == "posix":
        assert made.key.stat().st_mode & 0o077 == 0


def test_without_openssl_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(HostError, match="--certificate FILE --key FILE"):
        own_certificate("10.0.0.5")


def test_what_is_no_certificate_is_told_of(tmp_path: Path) -> None:
    file = tmp_path / "no.pem"
    file.write_text("none", "utf-8")
    with pytest.raises(HostError, match="can't be used"):
        Certificate(file, file).context()
    with pytest.raises(HostError, match="isn't a certificate"):
        Certificate(file, file).fingerprint()


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("10.0.0.5", ("10.0.0.5", 17798)),
        ("10.0.0.5:80", ("10.0.0.5", 80)),
        ("fe80::1", ("fe80::1", 17798)),
        ("[fe80::1]:80", ("fe80::1", 80)),
    ],
)
def test_an_address_may_have_a_port(text: str, address: tuple[str, int]) -> None:
    assert outside_address(text) == address


@pytest.mark.parametrize(
    "text", ["0.0.0.0", "::", "[::]:1", "host", "1.1.1.1:x", "", "1.1.1.1:99999"]
)
def test_what_is_no_address_of_one_network(text: str) -> None:
    with pytest.raises(PeerError):
        outside_address(text)


@pytest.mark.parametrize(
    "url", ["http://10.0.0.5/mcp", "https:///mcp", "https://10.0.0.5/#sha256=1", "https://[", "x"]
)
def test_what_is_no_address_of_a_gateway(url: str) -> None:
    with pytest.raises(PeerError):
        AddressFinder(url, "token")
