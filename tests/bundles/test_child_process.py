"""Tests a bundle's process on every system: its output, and how it and its child processes end."""

from __future__ import annotations

import queue
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from callboard.bundles.running.child_process import ChildProcess, environment
from callboard_testing.fake_host import DEADLINE

#: A program that holds a connection open for as long as it runs.
LIVES = """
import socket, sys
held = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
held.sendall(b"x")
held.recv(1)
"""
STARTS = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', *sys.argv[1:]]))"
PRINTS = 'import sys; print(\'{"name": "W\\u00fcrfel \\u043a\\u0443\\u0431"}\', flush=True)'
CONSOLE = """
import ctypes, json
kernel = ctypes.windll.kernel32
answer = {"window": bool(kernel.GetConsoleWindow()), "console": bool(kernel.GetConsoleCP())}
print(json.dumps(answer), flush=True)
"""


@contextmanager
def running(folder: Path, *words: str) -> Iterator[tuple[ChildProcess, queue.Queue[Any]]]:
    child = ChildProcess("kid", [sys.executable, *words], environment({}), folder)
    received: queue.Queue[Any] = queue.Queue()
    child.start(received.put, lambda why: received.put(why))
    try:
        yield child, received
    finally:
        child.stop(0.5)


def test_programs_that_it_started_end_with_it(tmp_path: Path) -> None:
    """``npx.cmd`` and ``uvx`` start the actual server as another process."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(DEADLINE)
        port = str(listener.getsockname()[1])
        with running(tmp_path, "-c", STARTS, LIVES, port) as (child, _):
            held, _ = listener.accept()
            held.settimeout(DEADLINE)
            assert held.recv(1) == b"x"
            child.stop(0.2)
            with held:
                assert gone(held)


def gone(held: socket.socket) -> bool:
    try:
        return held.recv(1) == b""
    except ConnectionError:
        return True


def test_its_output_is_utf8(tmp_path: Path) -> None:
    """Python's own pipes use an old code page on Windows."""
    with running(tmp_path, "-c", PRINTS) as (_, received):
        assert received.get(timeout=DEADLINE) == {"name": "Würfel куб"}


UNREADABLE = """
print('{"jsonrpc": "2.0", "id": 7, "result": {"a": NaN}}')
print('{"result": {"a": ' + "[" * 100_000 + "]" * 100_000 + '}, "jsonrpc": "2.0", "id": "x"}')
print('{"jsonrpc": "2.0", "id": 8, "method": "ping", "params": {"a": NaN}}')
print('{"some": "noise", "id": 9')
print('{"jsonrpc": "2.0", "id": 10, "result": {}}', flush=True)
"""


def test_an_answer_that_cannot_be_read_fails_its_request_at_once(tmp_path: Path) -> None:
    with running(tmp_path, "-c", UNREADABLE) as (_, received):
        got = [received.get(timeout=DEADLINE) for _ in range(3)]
    assert [each["id"] for each in got] == [7, "x", 10]
    assert "NaN is not a JSON number" in got[0]["error"]["message"]
    assert "nested" in got[1]["error"]["message"]


@pytest.mark.parametrize("start", ["http://", ""])
def test_a_proxys_password_stays_here(monkeypatch: pytest.MonkeyPatch, start: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"{start}ada:secret@proxy.studio:3128")
    monkeypatch.setenv("http_proxy", f"{start}proxy.studio:3128")
    given = {name.upper(): value for name, value in environment({}).items()}  # as on Windows
    assert given["HTTPS_PROXY"] == given["HTTP_PROXY"] == f"{start}proxy.studio:3128"


@pytest.mark.skipif(sys.platform != "win32", reason="elsewhere no program has a window")
def test_it_opens_no_window(tmp_path: Path) -> None:
    """The process has an invisible console for the programs that it starts."""
    with running(tmp_path, "-c", CONSOLE) as (_, received):
        assert received.get(timeout=DEADLINE) == {"window": False, "console": True}
