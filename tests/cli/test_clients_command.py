"""``callboard config`` adds a client. ``callboard clients`` lists and revokes clients."""

from __future__ import annotations

import base64
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest

from callboard.clients.book import ClientBook
from callboard_programs.cli import main
from callboard_testing.fake_client import FakeClient
from serving import served
from waiting import until

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "callboard"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


@pytest.fixture
def run(home: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def command(*words: str) -> tuple[int, str, str]:
        status = main(words)
        shown = capsys.readouterr()
        return status, shown.out, shown.err

    return command


def tokens(home: Path) -> list[str]:
    return [path.read_text() for path in (home / "callboard" / "tokens").iterdir()]


@pytest.mark.parametrize("client", ["claude-code", "claude-desktop", "cursor", "vscode", "other"])
def test_a_client_gets_the_bridge_with_its_token_by_name(run: Run, home: Path, client: str) -> None:
    status, out, _ = run("config", client)
    assert status == 0
    ((_, servers),) = json.loads(out).items()
    assert servers["callboard"]["args"][-3:] == ["stdio", "--client", client]
    (token,) = tokens(home)
    assert token not in out
    known = ClientBook().find(token)
    assert known is not None
    assert known.name == client
    if sys.platform != "win32":
        (file,) = (home / "callboard" / "tokens").iterdir()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    # The second command reuses the same client.
    run("config", client)
    assert tokens(home) == [token]


def test_a_link_says_what_the_lines_say_and_no_token(run: Run, home: Path) -> None:
    _, out, err = run("config", "cursor")
    link = urlsplit(err.partition("# or open ")[2].strip())
    assert (link.scheme, link.netloc) == ("cursor", "anysphere.cursor-deeplink")
    assert link.path == "/mcp/install"
    query = dict(parse_qsl(link.query, strict_parsing=True))
    linked = {query["name"]: json.loads(base64.b64decode(query["config"], validate=True))}
    assert linked == json.loads(out)["mcpServers"]
    _, out, err = run("config", "vscode")
    head, _, query_text = err.partition("# or open ")[2].strip().partition("?")
    linked = json.loads(unquote(query_text))
    assert head == "vscode:mcp/install"
    assert {linked.pop("name"): linked} == json.loads(out)["servers"]
    # An address comes with a token, which must not end up in any history.
    assert "# or open" not in run("config", "cursor", "--gateway")[2]
    assert "# or open" not in run("config", "claude-desktop")[2]


def test_the_instance_that_was_named_is_in_the_configuration(run: Run) -> None:
    _, out, _ = run("config", "claude-desktop", "--instance", "blender")
    arguments = json.loads(out)["mcpServers"]["callboard"]["args"]
    assert arguments[-2:] == ["--instance", "blender"]


def test_the_gateways_address_stays_and_the_token_is_the_clients_own(run: Run, home: Path) -> None:
    entries = []
    for words in ((), ("--instance", "blender_2")):
        status, out, _ = run("config", "cursor", "--gateway", *words)
        assert status == 0
        entries.append(json.loads(out)["mcpServers"]["callboard"])
    (token,) = tokens(home)
    assert {entry["headers"]["Authorization"] for entry in entries} == {f"Bearer {token}"}
    assert entries[0]["url"].endswith("/mcp")
    assert entries[1]["url"] == f"{entries[0]['url']}/blender_2"
    status, _, complaint = run("config", "cursor", "--gateway", "--instance", "../v1")
    assert status == 1
    assert "can't be one of the gateway's names" in complaint


def test_a_client_that_starts_programs_reaches_the_gateway_by_the_bridge(run: Run) -> None:
    words = ("config", "claude-desktop", "--gateway", "--instance")
    _, out, _ = run(*words, "blender_2")
    arguments = json.loads(out)["mcpServers"]["callboard"]["args"]
    assert arguments[-3:] == ["--gateway", "--instance", "blender_2"]
    status, _, complaint = run(*words, "../v1")
    assert status == 1
    assert "can't be one of the gateway's names" in complaint


def test_no_token_gets_into_a_file_that_the_project_shares(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Tests may run from the sources alone, but a client's file refers to an installed program.
    program = home / "bin" / ("callboard.exe" if sys.platform == "win32" else "callboard")
    program.parent.mkdir()
    program.touch(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    with served(announce=True):
        assert run("config", "claude-code", "--write")[0] == 0
        status, _, err = run("config", "vscode", "--write", "--http")
    assert status == 1
    assert "a token must not go there" in err
    written = [p.read_text() for p in (home / "project").rglob("*") if p.is_file()]
    assert len(written) == 1
    assert not [token for token in tokens(home) if token in written[0]]


def test_an_address_with_a_token_lets_that_client_in(run: Run, home: Path) -> None:
    with served(announce=True) as server:
        status, out, _ = run("config", "cursor", "--http", "--name", "my-cursor")
        assert status == 0
        entry = json.loads(out)["mcpServers"]["callboard"]
        assert entry["url"] == server.app.url
        token = entry["headers"]["Authorization"].removeprefix("Bearer ")
        assert token != server.app.token
        assert [json.loads(run("clients", "--json")[1])[0]["name"]] == ["my-cursor"]
        with FakeClient(server.app.url, token) as session:
            assert session.request("ping")["result"] == {}
            status, out, err = run("clients", "revoke", "my-cursor")
            assert (status, err) == (0, "")
            assert "my-cursor" in out
            # The client received the notification without having made a request.
            until(lambda: not server.app.endpoint.sessions, "the revoked client's session to end")
            assert session.post(PING).status == 401
    assert tokens(home) == []
    assert "no client has a token" in run("clients")[1]
    assert run("clients", "revoke", "my-cursor")[0] == 1


def test_a_name_that_is_none_is_refused(run: Run) -> None:
    status, _, err = run("config", "other", "--name", "a\x1b[2J")
    assert status == 1
    assert "can't be a client's name" in err
    assert "\x1b" not in err


def test_the_bridge_is_the_client_that_it_is_told_to_be(run: Run, home: Path) -> None:
    out: Any = json.loads(run("config", "other", "--name", "mine")[1])
    entry = out["mcpServers"]["callboard"]
    asked: list[str] = []

    def noop() -> None:
        """Do nothing."""

    with served(announce=True) as server:
        server.tool("noop", noop)
        server.app.dispatcher.ended.watch(
            lambda call, *ended: asked.append(call.request.peer.holder.name)
        )
        words = [sys.executable, "-m", "callboard", *entry["args"][entry["args"].index("stdio") :]]
        with subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as bridge:
            assert bridge.stdin is not None
            assert bridge.stdout is not None

            def ask(id: int, method: str, params: dict[str, Any]) -> Any:
                message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
                print(json.dumps(message), file=bridge.stdin, flush=True)
                while (answer := json.loads(bridge.stdout.readline())).get("id") != id:
                    continue
                return answer

            info = {"name": "t", "version": "1"}
            opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
            ask(1, "initialize", opening)
            assert "result" in ask(2, "tools/call", {"name": "noop", "arguments": {}})
            until(lambda: asked == ["mine"], "the end of the bridge's call")
            run("clients", "revoke", "mine")
            refused = ask(3, "tools/call", {"name": "noop", "arguments": {}})
            assert "error" in refused or refused["result"]["isError"]
            assert asked == ["mine"]
            bridge.stdin.close()
