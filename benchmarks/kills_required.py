"""Kills OpenUSD hosts with ``kill -9`` while a client has them write files, with the setting
``records: required``, and looks for files without a record of the call that wrote them.

Each host is forked from a process that has imported callboard and OpenUSD, and starts as usual.

    python benchmarks/kills_required.py [--kills 1000] [--at-once 2]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

from callboard.errors import CallboardError
from callboard.records.reader import EVERYTHING, Reader
from callboard_programs.client import Client
from callboard_programs.client.tool_call import call_tool

#: Maximum seconds between the first answer and the kill.
SPREAD = 0.08
#: Maximum number of files that a client has one host write.
MOST = 10_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--at-once", type=int, default=2, help="hosts that run at the same time")
    parser.add_argument("--seed", type=int, default=None)
    arguments = parser.parse_args()
    began, total = perf_counter(), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        lanes = [Path(folder, str(number)) for number in range(arguments.at_once)]
        shares = [arguments.kills // len(lanes) + (n < arguments.kills % len(lanes))
                  for n in range(len(lanes))]  # fmt: skip
        with ThreadPoolExecutor(len(lanes)) as pool:
            for figures in pool.map(killed, lanes, shares, [arguments.seed] * len(lanes)):
                total.update(figures)
    total["seconds"] = round(perf_counter() - began)
    print(json.dumps(total, indent=1))
    return 1 if total["files without a record"] or total["answers without a record"] else 0


def killed(lane: Path, kills: int, seed: int | None) -> Counter[str]:
    """Kill hosts of one home, one after another. Return the count of each finding."""
    chance = random.Random(None if seed is None else f"{seed} {lane.name}")
    home, work = lane / "home", lane / "work"
    work.mkdir(parents=True)
    answered: set[str] = set()
    with Hosts(home, work) as hosts:
        for number in range(kills):
            one_host(hosts, work, number, answered, chance.random() * SPREAD)
    written = {path.name.lstrip(".").split(".")[0] for path in work.iterdir()}
    outcomes: dict[str, str] = {}
    with Reader(home / "records").connect() as db:
        rows = db.execute(f"SELECT arguments, outcome, count(*) FROM {EVERYTHING} GROUP BY call_id")
        doubled = 0
        for given, outcome, count in rows:
            outcomes[Path(json.loads(given)["path"]).stem] = outcome
            doubled += count > 1
    return Counter(
        {
            "kills": kills,
            "files written": len(written),
            "files without a record": len(written - outcomes.keys()),
            "answers": len(answered),
            "answers without a record": sum(outcomes.get(name) != "ok" for name in answered),
            "records of unfinished calls": sum(each == "unfinished" for each in outcomes.values()),
            "doubled records": doubled,
        }
    )


class Hosts:
    """Starts the hosts of one home, one after another. A context manager."""

    def __init__(self, home: Path, work: Path) -> None:
        self._arguments = ["serve", "--host", "openusd", "--root", str(work)]
        self._env = {**os.environ, "CALLBOARD_HOME": str(home), "CALLBOARD_RECORDS": "required"}

    def __enter__(self) -> Hosts:
        pipe: Any = subprocess.PIPE
        command = [sys.executable, __file__, "--fork", *self._arguments]
        self._template = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=self._env, text=True
        )
        return self

    def __exit__(self, *ended: object) -> None:
        assert self._template.stdin is not None
        assert self._template.stdout is not None
        self._template.stdin.close()
        self._template.wait()
        self._template.stdout.close()

    def start(self) -> dict[str, Any]:
        """Start a host, and return its ready line."""
        assert self._template.stdin is not None
        assert self._template.stdout is not None
        self._template.stdin.write("\n")
        self._template.stdin.flush()
        ready: dict[str, Any] = json.loads(self._template.stdout.readline())
        return ready


def fork_hosts(arguments: list[str]) -> None:
    """Fork a host for each line of stdin, once the host before it has ended."""
    import callboard.app
    import callboard_openusd.host  # noqa: F401
    from callboard_programs.cli import main as callboard

    for _ in sys.stdin:
        if not (child := os.fork()):
            nothing = os.open(os.devnull, os.O_RDONLY)
            os.dup2(nothing, 0)
            os._exit(callboard(arguments))
        os.waitpid(child, 0)


def one_host(hosts: Hosts, work: Path, number: int, answered: set[str], delay: float) -> None:
    """Start a host, have it write files, and kill it ``delay`` seconds after its first answer."""
    ready = hosts.start()

    def kill() -> None:
        sleep(delay)
        os.kill(ready["pid"], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    with suppress(CallboardError, OSError), Client(ready["url"], ready["token"]) as client:
        for file in range(MOST):
            name = f"{number}-{file}"
            call_tool(client, "scene__save_file", {"path": str(work / f"{name}.usda")})
            answered.add(name)
            if not killer.ident:
                killer.start()
    if killer.ident:
        killer.join()
    else:
        kill()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--fork"]:
        fork_hosts(sys.argv[2:])
    else:
        raise SystemExit(main())
