"""The memory use of a server that runs for hours.

It measures calls, then sessions, failures and exports, in rounds, on a real OpenUSD stage.

    python benchmarks/growth.py [--factor 1] [--rounds 9] [--kind calls …]

Each kind is measured on a separate server. First the server is called until everything that it
keeps on purpose is full: SQLite's cache of the records (2 MB) and, for exports, the latest 1,000
changes (0.4 MB), which the panel shows. Otherwise each record or change would look like a leak.
After the first third of the rounds, a line is fitted to the memory that the process holds at the
end of each round. The line may rise by ``ALLOWED`` bytes for each call, session, failure or export.
The allocator takes memory in chunks of a megabyte, so a larger factor gives a more exact result: in
long runs a session costs 11 bytes, in short ones up to 104.

The failing calls use names from a fixed set, because OpenUSD keeps 100 to 200 bytes for every name
that was ever looked up. It also keeps 20 to 100 bytes for every stage that it flattens, even in a
program without callboard, and every export flattens a stage.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median

from load_client import BadAnswer, Connection, Target, measure

#: Amounts for one round, to be multiplied by the factor.
AMOUNTS = {"calls": 20_000, "sessions": 1_000, "failures": 2_000, "exports": 500}
#: Bytes by which the line may rise for each call, session, failure or export. In a short run, a
#: session costs at most 104. An export costs about 60, which are OpenUSD's own, and up to 174 if
#: the allocator takes a new chunk in a short run.
ALLOWED = {"calls": 5.0, "sessions": 150.0, "failures": 100.0, "exports": 300.0}
#: Numbers of calls that fill the caches, and of exports after which the oldest change is dropped.
WARMING = 25_000
REMEMBERED = 1_000
#: Number of different names that don't exist.
MISSING = 100
CONNECTIONS = 16
#: Seconds after which records are in the database, and connections are gone.
SETTLE = 7.0
LIST = {"name": "scene__list_objects", "arguments": {}}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--factor", type=float, default=1.0, help="factor for the length of rounds")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--kind", nargs="+", choices=tuple(AMOUNTS), default=list(AMOUNTS))
    parser.add_argument("--tree", type=Path, help="another checkout, already set up, to measure")
    arguments = parser.parse_args()
    print("| kind | count | MiB after each round | bytes for each | allowed |")
    print("|---|---|---|---|---|")
    return max(grows(kind, arguments) for kind in arguments.kind)


def grows(kind: str, arguments: argparse.Namespace) -> int:
    """Print one kind's row of the table. Return 1 if its memory grows by more than is allowed."""
    amount = int(AMOUNTS[kind] * arguments.factor)
    held: list[int] = []
    with tempfile.TemporaryDirectory() as home, served(Path(home), arguments.tree) as (pid, target):
        connections = [Connection(target) for _ in range(CONNECTIONS)]
        for connection in connections:
            connection.open_session()
        measure(connections, "tools/call", LIST, WARMING)
        if kind == "exports":
            one_round(kind, REMEMBERED, target, connections)
        time.sleep(SETTLE)
        for _ in range(arguments.rounds):
            one_round(kind, amount, target, connections)
            time.sleep(SETTLE)
            held.append(anonymous(pid))
    rise = slope(held[arguments.rounds // 3 :]) / amount
    mib = " ".join(f"{each / 2**20:.2f}" for each in held)
    allowed = ALLOWED[kind]
    print(f"| {kind} | {amount * len(held)} | {mib} | {rise:.1f} | {allowed:g} |", flush=True)
    return 0 if rise <= allowed else 1


@contextmanager
def served(home: Path, tree: Path | None) -> Iterator[tuple[int, Target]]:
    """Yield the process id and the address of a server on an empty stage with one root."""
    folder = "Scripts/python.exe" if os.name == "nt" else "bin/python"
    python = sys.executable if tree is None else str(tree.resolve() / ".venv-test" / folder)
    root = home / "root"
    root.mkdir()
    command = [python, "-m", "callboard", "serve", "--host", "openusd", "--root", str(root)]
    environment = {**os.environ, "CALLBOARD_HOME": str(home)}
    with (home / "server.log").open("wb") as log:
        server = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, env=environment, text=True
        )
    assert server.stdout is not None
    try:
        facts = json.loads(server.stdout.readline())
        yield server.pid, Target(facts["url"], facts["token"])
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()


def one_round(kind: str, amount: int, target: Target, connections: list[Connection]) -> None:
    main = connections[0]
    if kind == "calls":
        measure(connections, "tools/call", LIST, amount)
        return
    for number in range(amount):
        if kind == "sessions":
            own = Connection(target)
            own.open_session()
            own.exchange("tools/call", LIST)
            own.end_session()
            own.close()
        elif kind == "failures":
            name = {"name": f"/missing_{number % MISSING}"}
            with suppress(BadAnswer):
                main.exchange("tools/call", {"name": "scene__get_object", "arguments": name})
                raise RuntimeError("an object that doesn't exist was found")
        else:
            path = {"path": f"export_{number % 7}.usda"}
            main.exchange("tools/call", {"name": "usd__export_usd", "arguments": path})


def anonymous(pid: int) -> int:
    """Return the process's own memory in bytes, without libraries and mapped files (Linux)."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Anonymous:"):
            return int(line.split()[1]) * 1024
    raise LookupError("Anonymous")


def slope(values: list[int]) -> float:
    """Return the median slope over all pairs of values. No single step has much effect on it."""
    return median(
        (values[j] - values[i]) / (j - i)
        for i in range(len(values))
        for j in range(i + 1, len(values))
    )


if __name__ == "__main__":
    raise SystemExit(main())
