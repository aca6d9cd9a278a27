"""The cost of the gateway: calls through it, with many clients, and with more and more instances.

    python benchmarks/gateway.py [--rounds N] [--calls N] [--instances N …] [--json]

A call through the gateway and the same call made directly are measured in turn, so that the
machine's other work affects both alike. Lists and searches are measured as the number of instances
grows.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from load_client import Connection, Target, measure
from server_process import ServerProcess

CLIENTS = 16
WARM_UP = 200
CALL = {"name": "echo", "arguments": {"value": 1}}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=2000, help="calls per measurement")
    parser.add_argument("--instances", type=int, nargs="+", default=[1, 10, 50])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    figures = {**calls(arguments.rounds, arguments.calls), **growth(arguments.instances)}
    if arguments.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:40} {value:10,.2f}")
    return 0


def calls(rounds: int, total: int) -> dict[str, float]:
    """Return the median figures for calls, direct and through the gateway."""
    with ExitStack() as stack:
        home = Path(stack.enter_context(TemporaryDirectory()))
        host = started(stack, home, "callboard_server.py", "--announce")
        began = perf_counter()
        gateway = started(stack, home, "callboard_gateway.py")
        start = (perf_counter() - began) * 1000
        through = Target(f"{gateway.target.url}/benchmark", gateway.target.token)
        ways = {
            way: [opened(stack, target) for _ in range(CLIENTS)]
            for way, target in (("direct", host.target), ("gateway", through))
        }
        for connections in ways.values():
            measure(connections, "tools/call", CALL, WARM_UP)
        one: dict[str, list[float]] = {way: [] for way in ways}
        many: dict[str, list[float]] = {way: [] for way in ways}
        spent = gateway.cpu_seconds()
        for _ in range(rounds):
            for way, connections in ways.items():
                alone = measure(connections[:1], "tools/call", CALL, total)
                one[way].append(alone.percentile(0.5))
                many[way].append(measure(connections, "tools/call", CALL, total).rate)
        added = [through - direct for direct, through in zip(*one.values(), strict=True)]
        return {
            "gateway starts, ms": start,
            **{f"{way}, 1 client, median ms": median(values) for way, values in one.items()},
            "added by the gateway, median ms": median(added),
            **{f"{way}, {CLIENTS} clients, calls/s": median(v) for way, v in many.items()},
            "gateway, CPU us a call": (gateway.cpu_seconds() - spent) / (2 * rounds * total) * 1e6,
            "gateway, MiB": gateway.status("VmRSS") / 1024,
        }


def growth(sizes: list[int]) -> dict[str, float]:
    """Return the times of lists and searches for each number of instances."""
    figures: dict[str, float] = {}
    for size in sizes:
        with ExitStack() as stack:
            home = Path(stack.enter_context(TemporaryDirectory()))
            for _ in range(size):
                started(stack, home, "callboard_server.py", "--announce", "--tools", "200")
            gateway = started(stack, home, "callboard_gateway.py")
            client = opened(stack, gateway.target)
            own = {
                "list": {"name": "instances__list", "arguments": {}},
                "search": {"name": "tools__search", "arguments": {"query": "echo value"}},
            }
            for name, call in own.items():
                client.exchange("tools/call", call)  # this call makes the gateway fetch the lists
                took = timed(partial(client.exchange, "tools/call", call))
                figures[f"{name} among {size}, median ms"] = took
            figures[f"gateway with {size}, MiB"] = gateway.status("VmRSS") / 1024
    return figures


def started(stack: ExitStack, home: Path, script: str, *arguments: str) -> ServerProcess:
    server = ServerProcess(Path(sys.executable), script, home, arguments)
    stack.callback(server.stop)
    return server


def opened(stack: ExitStack, target: Target) -> Connection:
    connection = Connection(target)
    stack.callback(connection.close)
    connection.open_session()
    return connection


def timed(work: Callable[[], Any], rounds: int = 15) -> float:
    """Return the median in milliseconds."""
    spent = []
    for _ in range(rounds):
        began = perf_counter()
        work()
        spent.append((perf_counter() - began) * 1000)
    return median(spent)


if __name__ == "__main__":
    sys.exit(main())
