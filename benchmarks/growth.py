"""Whether a server that works for hours keeps its memory: sessions, calls, failures and exports in
a mix, round after round, on a real OpenUSD stage.

    python benchmarks/growth.py [--factor 1] [--rounds 12]

After the first third of the rounds, in which caches grow to what they are allowed, a line is laid
through what the process holds at the end of each. With a factor of 1 a round is 4,000 calls and
150 sessions, and the last rounds together must not show more than ``ALLOWED`` bytes a call. One
chunk of the allocator's is a megabyte, so a larger factor says more.
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

#: Of one round, times the factor.
CALLS, SESSIONS, FAILURES, EXPORTS = 4_000, 150, 100, 20
CONNECTIONS = 16
#: Bytes a call that the line may rise by.
ALLOWED = 20.0
#: Seconds after which what was recorded is in the database, and connections are gone.
SETTLE = 7.0
LIST = {"name": "scene__list_objects", "arguments": {}}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--factor", type=float, default=1.0, help="how much longer a round is")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--tree", type=Path, help="another checkout, set up, instead of this one")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home, served(Path(home), arguments.tree) as (pid, target):
        connections = [Connection(target) for _ in range(CONNECTIONS)]
        for connection in connections:
            connection.open_session()
        held: list[int] = []
        began = time.monotonic()
        print("| round | s | calls | sessions | MiB |\n|---|---|---|---|---|")
        for number in range(1, arguments.rounds + 1):
            one_round(target, connections, arguments.factor)
            time.sleep(SETTLE)
            held.append(anonymous(pid))
            calls, sessions = (int(n * number * arguments.factor) for n in (CALLS, SESSIONS))
            seconds, mib = time.monotonic() - began, held[-1] / 2**20
            print(f"| {number} | {seconds:.0f} | {calls} | {sessions} | {mib:.2f} |", flush=True)
    late = held[arguments.rounds // 3 :]
    rise = slope(late) / (CALLS * arguments.factor)
    flat = rise <= ALLOWED
    print(f"\n{rise:.1f} bytes a call, {'flat' if flat else f'more than {ALLOWED:g}'}")
    return 0 if flat else 1


@contextmanager
def served(home: Path, tree: Path | None) -> Iterator[tuple[int, Target]]:
    """A server on an empty stage, with one root: its process id, and how to reach it."""
    folder = "Scripts/python.exe" if os.name == "nt" else "bin/python"
    python = sys.executable if tree is None else str(tree.resolve() / ".venv" / folder)
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


def one_round(target: Target, connections: list[Connection], factor: float) -> None:
    main = connections[0]
    measure(connections, "tools/call", LIST, int(CALLS * factor))
    for _ in range(int(SESSIONS * factor)):
        own = Connection(target)
        own.open_session()
        own.exchange("tools/call", LIST)
        own.end_session()
        own.close()
    for number in range(int(FAILURES * factor)):
        name = f"/missing_{number}_{time.monotonic_ns()}"
        with suppress(BadAnswer):
            main.exchange("tools/call", {"name": "scene__get_object", "arguments": {"name": name}})
            raise RuntimeError("an object that isn't there was found")
    for number in range(int(EXPORTS * factor)):
        path = f"export_{number % 7}.usda"
        main.exchange("tools/call", {"name": "usd__export_usd", "arguments": {"path": path}})


def anonymous(pid: int) -> int:
    """Bytes that are the process's own: no library, no file that it maps (Linux)."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Anonymous:"):
            return int(line.split()[1]) * 1024
    raise LookupError("Anonymous")


def slope(values: list[int]) -> float:
    """The median rise from one value to the next, of all pairs, which no single step decides."""
    return median(
        (values[j] - values[i]) / (j - i)
        for i in range(len(values))
        for j in range(i + 1, len(values))
    )


if __name__ == "__main__":
    raise SystemExit(main())
