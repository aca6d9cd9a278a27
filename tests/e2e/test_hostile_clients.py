"""Two hostile clients send each other's and an honest client's ids, over every transport."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from e2e.serving import PROJECT, environment
from needed import need


def test_nobody_reads_answers_cancels_or_undoes_anothers_work(tmp_path: Path) -> None:
    need("pxr")
    program = PROJECT / "benchmarks" / "hostile_clients.py"
    # Only the first turn, which lasts 20 seconds. A run by hand lasts 20 minutes.
    command = [sys.executable, str(program), "--seconds", "0", "--pause", "0.05"]
    done = subprocess.run(command, env=environment(tmp_path), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "read 0, answer 0, cancel 0, undo 0, refusal 0" in done.stdout
