"""A token is shown only to a listener that has proved that it holds the instance's key. Another
machine's instances are neither asked nor removed."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from callboard.errors import HostError
from callboard.transport import instance_proof
from callboard.transport.instances import (
    Instance,
    announce,
    announced,
    answer_of,
    folder,
    is_alive,
    listed,
)
from callboard.transport.machine import this_boot, this_machine
from callboard_programs.cli import main
from callboard_programs.client.blocking_client import Client
from callboard_programs.relay.finder import HostFinder
from callboard_testing.fake_client import FakeClient
from serving import served

TOKEN = "the-instances-own-token"


class Stranger:
    """A listener at an instance's former port. It notes everything that it receives."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        #: Its answer to every request.
        self.answer: dict[str, object] = {}
        stranger = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                size = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(size)
                stranger.heard.append(f"{self.requestline}\n{self.headers}\n{body!r}")
                answer = json.dumps(stranger.answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_GET = do_POST = do_DELETE = answer

            def log_message(self, format: str, *args: object) -> None:
                """Log nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/mcp"

    def check(self) -> None:
        """Check that this listener received challenges and nothing else."""
        assert self.heard
        for each in self.heard:
            assert each.startswith(f"GET {instance_proof.PATH} "), each
            assert TOKEN not in each
            assert "Authorization" not in each


@contextmanager
def listening() -> Iterator[Stranger]:
    stranger = Stranger()
    thread = threading.Thread(target=stranger.server.serve_forever)
    thread.start()
    try:
        yield stranger
    finally:
        stranger.server.shutdown()
        thread.join()
        stranger.server.server_close()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    return tmp_path


def crashed(url: str, **other: object) -> Instance:
    """Return an instance whose process seems to be alive, but whose port belongs to another
    program."""
    instance = Instance("a" * 16, "maya", "Maya", url, TOKEN, os.getpid(), time.time())
    return replace(instance, **other)  # type: ignore[arg-type]


def test_a_stranger_on_an_instances_port_is_shown_no_token(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with listening() as stranger:
        instance = crashed(stranger.url)
        announce(instance)
        for answer in ({}, {"instance": instance.id, "proof": "f" * 64}, {"proof": None}):
            stranger.answer = answer
            assert [entry.state for entry in listed()] == ["silent"]
            assert answer_of(instance, "POST", "/v1/call", {"tool": "x"}) is None
            with pytest.raises(HostError, match="another program is listening"):
                Client(instance.url, TOKEN, key=TOKEN).__enter__()
            assert main(["call", "scene__scene_info"]) == 3
        assert (
            "another program is listening on the application's address" in capsys.readouterr().err
        )
        stranger.check()


def test_an_instance_proves_itself_to_who_knows_its_token_and_to_nobody_else() -> None:
    with served(announce=True):
        (instance,) = announced(folder())
        assert [entry.state for entry in listed()] == ["serving"]
        assert instance.token is not None
        with Client(instance.url, instance.token, key=instance.token) as client:
            assert client.request("ping", {}) == {}
        with pytest.raises(HostError, match="another program is listening"):
            Client(instance.url, instance.token, key="another").__enter__()
        caller = FakeClient(instance.url, None)
        port = urlsplit(instance.url).port or 0
        headers: list[dict[str, str | None]] = [
            {},
            {instance_proof.HEADER: "nonce word"},
            {instance_proof.HEADER: instance_proof.Challenge.new("another", port).header},
            # A challenge that was meant for the instance on another port isn't passed on.
            {instance_proof.HEADER: instance_proof.Challenge.new(instance.token, port + 1).header},
        ]
        for each in headers:
            assert caller.send("GET", b"", each, instance_proof.PATH).status == 401
        right = instance_proof.Challenge.new(instance.token, port)
        answer = caller.send("GET", b"", {instance_proof.HEADER: right.header}, instance_proof.PATH)
        assert right.is_proof(answer.status, answer.body)
        assert (
            caller.send("GET", b"", {instance_proof.HEADER: right.header}, "/v1/tools").status
            == 401
        )


def test_another_machines_instances_are_listed_and_neither_asked_nor_removed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with listening() as stranger:
        elsewhere = crashed(stranger.url, machine="ws42", pid=2**22 + 1)
        path = announce(elsewhere)
        assert listed() == []
        assert [entry.state for entry in listed(everywhere=True)] == ["elsewhere"]
        assert HostFinder(None).find() is None
        assert answer_of(elsewhere, "GET", "/v1/healthz") is None
        assert main(["list"]) == 0
        assert "on ws42" in capsys.readouterr().out
        main(["doctor"])
        assert "is running on ws42, which shares this home" in capsys.readouterr().out
        assert path.exists()
        assert stranger.heard == []


@pytest.mark.skipif(not this_boot(), reason="this system has no id for its boot")
def test_what_ran_before_the_machine_started_anew_is_gone() -> None:
    with listening() as stranger:
        before = crashed(stranger.url, boot="another")
        assert not is_alive(before)
        path = announce(before)
        assert listed() == []
        assert not path.exists()
        stranger.check()


def test_a_file_of_another_version_is_read() -> None:
    instance = crashed("http://127.0.0.1:9/mcp")
    path = announce(instance)
    value = asdict(instance) | {"of_tomorrow": [1]}
    del value["opened"]
    path.write_text(json.dumps(value), "utf-8")
    assert announced(folder()) == [instance]
    assert instance.machine == this_machine()
