"""Kills OpenUSD hosts with ``kill -9`` while a client has them write files, with the setting
``records: required``, and looks for files without a record of the call that wrote them.

    python benchmarks/kills_required.py [--kills 1000] [--at-once 2]
"""

from __future__ import annotations

import argparse
import json
import os
import random
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
#: Maximum files that a client has written by one host.
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
            for found in pool.map(killed, lanes, shares, [arguments.seed] * len(lanes)):
                total.update(found)
    total["seconds"] = round(perf_counter() - began)
    print(json.dumps(total, indent=1))
    return 1 if total["files without a record"] or total["answers without a record"] else 0


def killed(lane: Path, kills: int, seed: int | None) -> Counter[str]:
    """Kill hosts of one home, one after another. Return the numbers of what was found."""
    chance = random.Random(None if seed is None else f"{seed} {lane.name}")
    home, work = lane / "home", lane / "work"
    work.mkdir(parents=True)
    answered: set[str] = set()
    for number in range(kills):
        one_host(home, work, number, answered, chance.random() * SPREAD)
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


def one_host(home: Path, work: Path, number: int, answered: set[str], delay: float) -> None:
    """Start a host, have it write files, and kill it ``delay`` seconds after its first answer."""
    command = [sys.executable, "-m", "callboard", "serve", "--host", "openusd", "--root", str(work)]
    env = {**os.environ, "CALLBOARD_HOME": str(home), "CALLBOARD_RECORDS": "required"}
    pipe: Any = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=subprocess.DEVNULL, env=env) as host:
        try:
            ready = json.loads(host.stdout.readline())  # type: ignore[union-attr]

            def kill() -> None:
                sleep(delay)
                host.kill()

            killer = threading.Thread(target=kill)
            with suppress(CallboardError, OSError), Client(ready["url"], ready["token"]) as client:
                for file in range(MOST):
                    name = f"{number}-{file}"
                    path = str(work / f"{name}.usda")
                    call_tool(client, "scene__save_file", {"path": path})
                    answered.add(name)
                    if not killer.ident:
                        killer.start()
            if killer.ident:
                killer.join()
        finally:
            host.kill()


if __name__ == "__main__":
    raise SystemExit(main())
