"""The command line as a whole: every command explains itself, and none pays for another."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from callboard.cli import COMMANDS, main

PROJECT = Path(__file__).resolve().parents[2]
RUN = """
import sys
sys.path.insert(0, sys.argv[1])
from callboard.cli import main
try:
    status = main(sys.argv[2:])
except SystemExit as end:
    status = end.code
assert not status, status
print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""
#: What only a server, a skill or a client that stays connected needs.
HEAVY = {"asyncio", "email", "fastjsonschema", "sqlite3", "tornado", "yaml"}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: callboard {command} ")


def test_the_overview_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert all(f"{name} {text}" in shown for name, text in COMMANDS.items())


@pytest.mark.parametrize("words", [["nonsense"], ["--nonsense", "list"], []])
def test_what_is_no_command_is_said(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    assert "usage: callboard" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["list"]], ids=" ".join)
def test_what_is_asked_often_loads_little(words: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(PROJECT / "core"), *words],
        env={**os.environ, "CALLBOARD_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not HEAVY & set(done.stderr.split())


def test_what_goes_into_a_pipe_is_utf8(tmp_path: Path) -> None:
    """In an old code page, which Windows gives a pipe, most names can't be written."""
    done = subprocess.run(
        [sys.executable, "-m", "callboard", "lint", str(tmp_path / "наряд")],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"},
    )
    assert "наряд" in (done.stdout + done.stderr).decode("utf-8")
