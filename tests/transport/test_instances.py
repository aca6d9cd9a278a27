"""Which instances are listed: a dead one isn't, whatever took its number."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from callboard.transport.instances import Instance, announce, listed
from callboard.transport.process_age import began_at


@pytest.fixture
def nobody() -> str:
    """An address where nothing answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    return tmp_path


def test_one_that_lives_and_does_not_answer_is_silent(nobody: str) -> None:
    announce(Instance("a" * 16, "maya", "maya", nobody, None, os.getpid(), time.time()))
    assert [entry.state for entry in listed()] == ["silent"]


def test_one_whose_number_another_process_has_now_is_gone(nobody: str) -> None:
    long_ago = time.time() - 7 * 86_400
    path = announce(Instance("b" * 16, "maya", "maya", nobody, None, os.getpid(), long_ago))
    assert listed() == []
    assert not path.exists()


def test_when_a_process_began_is_known() -> None:
    before = time.time()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        began = began_at(process.pid)
        process.kill()
    assert began is not None
    assert before - 2 <= began <= time.time() + 2
    assert began_at(2**22 + 1) is None
