"""At a terminal, the progress bar is redrawn in place, and the next output begins on a new line. A
pipe gets plain lines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.terminals import terminal
from e2e.serving import callboard, environment
from needed import need
from serving import served
from shots import Shots

pytestmark = pytest.mark.slow
CLEARED = "\r\x1b[K"

terminals = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")


def works(ctx: Any) -> dict[str, str]:
    ctx.progress(1, 2, "half way")
    ctx.log("info", "the lamp is lit")
    ctx.progress(1.5, 2, "nearly")
    return {"name": "ball"}


@terminals
def test_a_result_stands_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    with served(announce=True) as server:
        server.tool("works", works)
        with terminal(callboard("call", "works"), tmp_path) as it:
            assert it.until("info: ").endswith(f"half way{CLEARED}")
            assert it.until("{").endswith(f"nearly{CLEARED}")


def test_a_pipe_gets_plain_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path))
    with served(announce=True) as server:
        server.tool("works", works)
        done = subprocess.run(
            callboard("call", "works"), env=environment(tmp_path), capture_output=True, text=True
        )
    assert "\x1b" not in done.stderr
    assert [line.rpartition("] ")[2] for line in done.stderr.splitlines()] == [
        "1/2 half way",
        "info: the lamp is lit",
        "1.5/2 nearly",
    ]


@terminals
def test_a_host_that_starts_is_told(tmp_path: Path) -> None:
    need("pxr")
    with terminal(callboard("run", "scene__scene_info"), tmp_path) as it:
        it.until("callboard: openusd starts …")
        it.until('"object_count"')


@terminals
def test_the_lines_of_a_batch_stand_alone(tmp_path: Path) -> None:
    need("pxr")
    shots = Shots(tmp_path, 2)
    words = callboard("batch", *shots.called, *shots.skills, "--each", shots.scenes)
    with terminal(words, tmp_path / "home") as it:
        it.until("callboard: starting hosts for 2 of 2 tasks …")
        assert it.until('{"index": 0').endswith(CLEARED)
        assert it.until('{"index": 1').endswith(f"1/2 {CLEARED}")
        assert it.until('{"event": "finished"').endswith(CLEARED)
