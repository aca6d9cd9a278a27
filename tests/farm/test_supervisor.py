"""The process that supervises a farm's hosts, tested with programs that print the same lines as a
host."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from callboard_programs.farm.supervisor import Supervisor
from needed import need

need("psutil")

#: A program that joins as a host. The first one then begins an endless task that holds 100 MB.
HOST = """
import json, os, sys
def say(**line): print(json.dumps(line), flush=True)
say(event="ready", worker=sys.argv[1], pid=os.getpid())
if sys.argv[1].endswith("-1"):
    say(event="began", key="k", timeout=None)
    held = b"x" * 100_000_000
sys.stdin.read()
"""


#: A program that joins as a host. The first one then loses its scheduler.
LEFT = """
import json, os, sys
def say(**line): print(json.dumps(line), flush=True)
say(event="ready", worker=sys.argv[1], pid=os.getpid())
if sys.argv[1].endswith("-1"):
    print("Traceback (most recent call last): of Dask's", file=sys.stderr)
    say(event="left")
else:
    sys.stdin.read()
"""


def loss_of_the_first(program: str) -> Any:
    """Run hosts until the second one is ready. Return what was reported about the first one."""
    ready: list[Any] = []
    losses: list[Any] = []

    def joined(line: Any) -> None:
        ready.append(line["worker"])
        if len(ready) == 2:
            supervisor.stop()

    supervisor = Supervisor(
        lambda name: [sys.executable, "-S", "-c", program, name],
        "here",
        joined,
        losses.append,
        most_memory=40_000_000,
    )
    supervisor.run()
    assert ready == ["here-1", "here-2"]
    (loss,) = losses
    return loss


def test_a_host_whose_scheduler_goes_says_so_and_another_joins_it() -> None:
    why = loss_of_the_first(LEFT)["why"]
    assert why.startswith("the scheduler is gone, and the host ended; start the scheduler again")
    assert "Traceback" not in why


def test_a_task_that_leaks_while_it_works_is_ended_and_another_host_comes() -> None:
    loss = loss_of_the_first(HOST)
    assert (loss["worker"], loss["key"]) == ("here-1", "k")
    assert "more than 2 times --max-memory" in loss["why"]


def test_a_host_with_a_wrong_setting_says_so_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "settings.yaml").write_text("deny: [network\n", "utf-8")
    host = [sys.executable, "-m", "callboard_programs.cli.farm_host", "--host", "openusd"]
    done = subprocess.run(
        [*host, "--member={}"],
        env={**os.environ, "CALLBOARD_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    (told,) = done.stderr.splitlines()
    assert told.startswith(f"callboard: {tmp_path / 'settings.yaml'}:2: ")
