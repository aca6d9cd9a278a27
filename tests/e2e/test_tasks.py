"""Some tasks from ``benchmarks/tasks``: done with nothing but tools, and checked by another
process."""

from __future__ import annotations

import subprocess
import sys

import pytest

from e2e.serving import PROJECT
from needed import need


@pytest.mark.slow
@pytest.mark.parametrize(
    ("host", "library", "task"),
    [("openusd", "pxr", "clean_up"), ("blender", "bpy", "picture_frame")],
)
def test_a_task_is_done_by_tools_alone(host: str, library: str, task: str) -> None:
    need(library)
    program = PROJECT / "benchmarks" / "tasks" / "run.py"
    done = subprocess.run(
        [sys.executable, str(program), host, task],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "1 of 1 done" in done.stdout
