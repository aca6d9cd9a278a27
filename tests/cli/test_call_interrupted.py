"""``callboard call``, interrupted by Ctrl+C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from serving import served
from waiting import until

DEADLINE = 30.0


@pytest.mark.skipif(os.name == "nt", reason="Windows sends Ctrl+C to the whole console")
def test_an_interrupted_call_is_cancelled_and_says_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    ended = threading.Event()

    def slow(ctx: Any) -> Any:
        try:
            ctx.progress(1, 10, "begun")
            while True:
                yield
        finally:
            ended.set()

    with served(announce=True) as server:
        server.tool("slow", slow)
        command = [sys.executable, "-m", "callboard", "call", "slow"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as calling:
            assert calling.stderr is not None
            assert "begun" in calling.stderr.readline()
            calling.send_signal(signal.SIGINT)
            rest = calling.stderr.read()
            assert calling.wait(DEADLINE) == 130
        assert "the call is cancelled" in rest
        assert "Traceback" not in rest
        assert "never retrieved" not in rest
        assert ended.wait(DEADLINE)
        until(lambda: not server.app.endpoint.sessions, "the session's end")


@pytest.mark.skipif(os.name == "nt", reason="Windows sends Ctrl+C to the whole console")
def test_what_never_went_out_is_not_said_to_be_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    command = [sys.executable, "-m", "callboard", "call", "scene__new", "--json", "-"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stderr=pipe, text=True) as calling:
        assert calling.stdin is not None
        assert calling.stderr is not None
        # More than a pipe holds: once all of it is written, the command is reading its arguments.
        calling.stdin.write("[" * 2**20)
        calling.stdin.flush()
        calling.send_signal(signal.SIGINT)
        calling.stdin.close()
        told = calling.stderr.read()
        assert calling.wait(DEADLINE) == 130
    assert "the call wasn't sent, so nothing has run" in told
    assert "changes are undone" not in told
