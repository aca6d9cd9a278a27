"""``callboard capabilities`` while a server is running."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from callboard.clients.book import ClientBook
from callboard_programs.cli import main
from callboard_testing.fake_client import FakeClient
from serving import Served, served
from waiting import until

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))

    def command(*words: str) -> tuple[int, str, str]:
        status = main(["capabilities", *words])
        shown = capsys.readouterr()
        return status, shown.out, shown.err

    return command


def read(server: Served) -> str:
    server.tool("read", lambda: "read", required_capabilities=("scene.read",))
    return "read"


def test_withdrawing_and_restoring_while_it_runs(run: Run) -> None:
    with served(announce=True) as server, server.client() as client:
        params = {"name": read(server), "arguments": {}}
        client.listen()
        assert "result" in client.request("tools/call", params)
        heard = len(client.wait_for("notifications/tools/list_changed"))
        status, out, _ = run("withdraw", "scene.read", "--instance", server.app.id)
        assert status == 0
        assert "scene.read               withdrawn" in out
        client.wait_for("notifications/tools/list_changed", heard + 1)
        assert client.request("tools/call", params)["error"]["code"] == -32001
        status, out, _ = run("restore", "scene.read", "--json")
        assert json.loads(out)["withdrawn"] == []
        assert "result" in client.request("tools/call", params)
        assert "scene.read               offered" in run()[1]


def test_it_holds_after_a_restart_as_what_the_panel_withdrew_does(run: Run) -> None:
    with served(announce=True, rules=True) as server:
        assert run("withdraw", "usd")[0] == 0
        until(lambda: "usd" not in server.app.capabilities.declared, "the withdrawal")
    with served(announce=True, rules=True) as server:
        assert json.loads(run("--json")[1])["withdrawn"] == ["usd"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["withdraw"], "name the capabilities to withdraw"),
        (
            ["withdraw", "scene.mutat"],
            "no capability 'scene.mutat'; this host offers usd, scene.read",
        ),
        (["restore", "usd", "--instance", "other"], "no instance 'other'"),
    ],
)
def test_what_can_not_be_done_is_said(run: Run, words: list[str], why: str) -> None:
    with served(announce=True) as server:
        before = server.app.capabilities.declared
        status, out, told = run(*words)
        assert (status, out) == (1, "")
        assert why in told
        assert server.app.capabilities.declared == before


def test_without_tokens_nobody_can_be_told_from_an_agent(run: Run) -> None:
    with served(announce=True, auth="none") as server:
        status, _, told = run("withdraw", "usd")
        assert status == 1
        assert "--deny NAME" in told
        anyone = FakeClient(server.app.url, None)
        answer = anyone.send("POST", b'{"restore": ["usd"]}', path="/v1/capabilities")
        assert answer.status == 403
        assert run()[0] == 0


def test_a_clients_own_token_changes_nothing(run: Run) -> None:
    with served(deny=["scene.mutate"]) as server:
        agent = FakeClient(server.app.url, ClientBook().make("agent")[1])
        answer = agent.send("POST", b'{"restore": ["scene.mutate"]}', path="/v1/capabilities")
        assert answer.status == 403
        assert "callboard capabilities" in json.loads(answer.body)["detail"]
        seen = json.loads(agent.send("GET", path="/v1/capabilities").body)
        assert seen["withdrawn"] == ["scene.mutate"]
        assert "scene.mutate" not in server.app.capabilities.declared
