"""Hosts are killed, suspended and restarted while eight clients use the gateway."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.serving import PROJECT, environment
from needed import need

#: Seconds that the storm lasts here. A run by hand lasts ten minutes.
SECONDS = 12


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="this system can't halt a process")
def test_every_call_is_answered_once_and_truly(tmp_path: Path) -> None:
    need("pxr")
    storm = PROJECT / "benchmarks" / "gateway_storm.py"
    # A pause between two calls leaves processor time for the tests that run in parallel.
    command = [sys.executable, str(storm), "--seconds", str(SECONDS), "--pause", "0.05"]
    done = subprocess.run(command, env=environment(tmp_path), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
