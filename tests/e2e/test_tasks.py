"""One of the tasks of ``benchmarks/tasks``: done by tools alone, checked by another process."""

from __future__ import annotations

import subprocess
import sys

import pytest

from e2e.serving import PROJECT

TASKS = ("clean_up",)


@pytest.mark.slow
def test_a_task_is_done_by_tools_alone() -> None:
    pytest.importorskip("pxr", reason="usd-core is not installed")
    program = PROJECT / "benchmarks" / "tasks" / "run.py"
    done = subprocess.run(
        [sys.executable, str(program), "openusd", *TASKS],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"{len(TASKS)} of {len(TASKS)} done" in done.stdout
