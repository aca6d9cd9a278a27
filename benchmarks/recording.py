"""The cost of recording a call: one server, every other call recorded, over one connection.

Neighboring calls run under the same conditions, whatever else the machine does. The medians of both
kinds are compared, and also the means of the faster halves, which the machine's other work disturbs
least.

    python benchmarks/recording.py [--calls 20000]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from statistics import mean, median
from time import perf_counter
from typing import Any

from load_client import Connection
from server_process import ServerProcess

WARM_UP = 2000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=20_000, help="calls of both kinds together")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        server = ServerProcess(
            Path(sys.executable), "callboard_server.py", Path(home), ("--record-odd",)
        )
        connection = Connection(server.target)
        try:
            connection.open_session()
            timed(connection, WARM_UP)
            plain, recorded = timed(connection, arguments.calls)
        finally:
            connection.close()
            server.stop()
    print(json.dumps(summary(plain, recorded), indent=1))
    return 0


def timed(connection: Connection, calls: int) -> tuple[list[float], list[float]]:
    """Return the latencies of unrecorded and of recorded calls, in microseconds."""
    latencies: tuple[list[float], list[float]] = ([], [])
    for number in range(calls):
        value = number % 2
        call = {"name": "echo", "arguments": {"value": value}}
        began = perf_counter()
        connection.exchange("tools/call", call)
        latencies[value].append((perf_counter() - began) * 1e6)
    return latencies


def summary(plain: list[float], recorded: list[float]) -> dict[str, Any]:
    without, with_it = median(plain), median(recorded)
    fast, fast_with = faster_half(plain), faster_half(recorded)
    return {
        "median without, us": round(without, 1),
        "median with, us": round(with_it, 1),
        "recording, % of a call": round((with_it / without - 1) * 100, 2),
        "faster half without, us": round(fast, 1),
        "faster half with, us": round(fast_with, 1),
        "recording, % of the faster half": round((fast_with / fast - 1) * 100, 2),
    }


def faster_half(latencies: list[float]) -> float:
    """Return the mean of the faster half."""
    return mean(sorted(latencies)[: len(latencies) // 2])


if __name__ == "__main__":
    raise SystemExit(main())
