"""``callboard stop`` while a tool holds the main thread."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from needed import need

need("pxr")

from callboard.app import Callboard
from callboard.clients.book import ClientBook
from callboard.config import McpHttpConfig
from callboard.errors import REFUSED_BY_ARTIST
from callboard.guest.inbox import MainThreadInbox
from callboard.host import SCENE_MUTATE
from callboard.host_kit.headless import make_host
from callboard_programs.cli import main
from callboard_testing.fake_client import FakeClient
from serving import served
from waiting import until

Shown = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))


def spins() -> None:
    while True:
        pass


def catches_everything() -> None:
    while True:
        with suppress(Exception):
            time.sleep(600)


@pytest.mark.skipif(os.name == "nt", reason="Windows can't interrupt a wait")
@pytest.mark.parametrize(
    "holds", [spins, lambda: time.sleep(600), lambda: threading.Event().wait(), catches_everything]
)
def test_it_stops_the_tool_on_the_main_thread_and_undoes_its_changes(
    holds: Callable[[], object], capsys: Shown
) -> None:
    """The tool holds Python's own main thread, as in an application. A wait can be interrupted only
    on that thread."""
    inbox = MainThreadInbox()
    host = make_host("openusd", inbox.post)
    app = Callboard(host, McpHttpConfig(records=False)).start()
    begun = threading.Event()

    def hold(ctx: Any) -> None:
        ctx.port(SCENE_MUTATE).create("cube", "Half", {"size": 1.0})
        begun.set()
        holds()

    app.tools.register("hold", hold, "Never ends.", required_capabilities=(SCENE_MUTATE,))
    outcome: dict[str, Any] = {}

    def talk() -> None:
        try:
            with FakeClient(app.url, app.token) as client:
                held = client.start("tools/call", {"name": "hold", "arguments": {}})
                assert begun.wait(60)
                outcome["status"] = main(["stop", "--instance", app.id])
                outcome["refused"] = held.result(60)["error"]
                outcome["objects"] = client.call("scene__list_objects")["structuredContent"]
        finally:
            inbox.stop()

    talking = threading.Thread(target=talk)
    talking.start()
    inbox.run()
    talking.join()
    app.stop()
    host.close()
    out = capsys.readouterr().out
    assert outcome["status"] == 0
    assert "ended hold of local after" in out
    assert "its changes were undone" in out
    assert outcome["refused"]["code"] == REFUSED_BY_ARTIST
    assert "Half" not in json.dumps(outcome["objects"])


def test_it_says_when_nothing_runs_and_what_can_not_be_ended(
    capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("callboard.rest.stop_route.PATIENCE", 0.1)
    with served(announce=True) as server, server.client() as client:
        assert main(["stop"]) == 0
        assert "no call is running" in capsys.readouterr().out
        gate = threading.Event()
        begun = threading.Event()

        def waits() -> None:
            begun.set()
            gate.wait()  # no exception arrives here, because no signal reaches this thread

        server.tool("waits", waits)
        held = client.start("tools/call", {"name": "waits"})
        assert begun.wait(60)
        assert main(["stop", "--json"]) == 1
        answer = json.loads(capsys.readouterr().out)
        assert answer["holds"] == "waits"
        assert [one["tool"] for one in answer["ended"]] == ["waits"]
        assert main(["stop"]) == 1
        assert "can't interrupt" in capsys.readouterr().err
        gate.set()
        assert held.result(60)["error"]["code"] == REFUSED_BY_ARTIST
        until(lambda: server.app.dispatcher.main.running is None, "the main thread to be free")


def test_a_client_may_not_ask_for_it() -> None:
    with served(announce=True) as server:
        agent = FakeClient(server.app.url, ClientBook().make("agent")[1])
        answer = agent.send("POST", b"{}", path="/v1/stop")
        assert answer.status == 403
        assert "callboard stop" in json.loads(answer.body)["detail"]


def test_a_server_without_tokens_tells_the_other_ways(capsys: Shown) -> None:
    with served(announce=True, auth="none"):
        assert main(["stop"]) == 1
        assert "hold Escape" in capsys.readouterr().err
