"""A signal ends a server, whether it is starting, idle, asking, answering or ending."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from callboard_testing.fake_client import FakeClient
from e2e.serving import DEADLINE, Program, callboard, environment
from waiting import until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="a process can't be sent a signal there"),
]
BOTH = pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])

SKILL = "---\nname: talks\ndescription: Talks.\nmetadata:\n  dcc-mcp:\n    tools: tools.yaml\n---\n"
TOOLS = """
tools:
  - {name: much, description: Answers at length., affinity: any}
  - {name: ask, description: Asks., affinity: any}
"""
SCRIPTS = {
    "much.py": "def main():\n    return 'x' * 30_000_000\n",
    "ask.py": "def main(ctx):\n    return ctx.elicit('?', {'type': 'object', 'properties': {}})\n",
}


def talking(folder: Path) -> Program:
    skill = folder / "skills" / "talks"
    (skill / "scripts").mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL)
    (skill / "tools.yaml").write_text(TOOLS)
    for name, text in SCRIPTS.items():
        (skill / "scripts" / name).write_text(text)
    skills = str(folder / "skills")
    return Program(callboard("serve", "--skills", skills), environment(folder / "home"))


def announced(home: Path) -> list[Path]:
    return list((home / "instances").glob("*.json"))


def mapped(pid: int, what: str) -> bool:
    try:
        return what in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")
    except OSError:
        return True  # the process ended, or the system has no such file


#: asyncio loads OpenSSL, which is a separate file.
MOMENTS: dict[str, Callable[[int, Path], bool]] = {
    "at once": lambda pid, home: True,
    "while it imports": lambda pid, home: mapped(pid, "libssl"),
    "while the host starts": lambda pid, home: mapped(pid, "pxr"),
    "once it is announced": lambda pid, home: bool(announced(home)),
}


@BOTH
@pytest.mark.parametrize("moment", MOMENTS)
def test_while_it_starts(tmp_path: Path, moment: str, number: int) -> None:
    home = tmp_path / "home"
    process = subprocess.Popen(
        callboard("serve"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(home),
    )
    try:
        until(lambda: MOMENTS[moment](process.pid, home), moment, seconds=DEADLINE)
        process.send_signal(number)
        _, written = process.communicate(timeout=DEADLINE)
    finally:
        process.kill()
        process.wait()
    assert process.returncode in (0, -number, 128 + number, 1), written
    assert "Fatal Python error" not in written
    assert announced(home) == []


@BOTH
def test_while_idle(tmp_path: Path, number: int) -> None:
    with talking(tmp_path) as program:
        program.process.send_signal(number)
        assert program.process.wait(DEADLINE) == 0
    assert announced(tmp_path / "home") == []


def ended_while_called(program: Program, tool: str, number: int, **options: Any) -> None:
    """Have a client call a tool, see the answer begin, and stop reading."""
    client = FakeClient(program.url, program.token, **options).__enter__()
    client.call("skills__load", {"name": "talks"})
    request = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": tool}}
    with raw(program, client, request) as connection:
        assert b"200" in connection.recv(100)
        program.process.send_signal(number)
        assert program.process.wait(DEADLINE) == 0


@BOTH
def test_while_a_person_is_asked(tmp_path: Path, number: int) -> None:
    with talking(tmp_path) as program:  # The client never answers the question.
        ended_while_called(program, "talks__ask", number, capabilities={"elicitation": {}})


@BOTH
def test_while_it_answers(tmp_path: Path, number: int) -> None:
    """A client stops reading in the middle of a long answer."""
    with talking(tmp_path) as program:
        ended_while_called(program, "talks__much", number)


@BOTH
def test_while_it_ends(tmp_path: Path, number: int) -> None:
    with talking(tmp_path) as program:
        for _ in range(20):
            program.process.send_signal(number)
        assert program.process.wait(DEADLINE) in (0, 128 + number)


def raw(program: Program, client: FakeClient, message: object) -> socket.socket:
    """Send a request over a new connection. Return the connection."""
    host, port = program.url.split("/")[2].split(":")
    body = json.dumps(message).encode()
    connection = socket.create_connection((host, int(port)), DEADLINE)
    connection.sendall(
        (
            f"POST /mcp HTTP/1.1\r\nHost: {host}:{port}\r\n"
            f"Authorization: Bearer {program.token}\r\n"
            f"Mcp-Session-Id: {client.session}\r\nContent-Type: application/json\r\n"
            f"Accept: application/json, text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n"
        ).encode()
        + body
    )
    return connection
