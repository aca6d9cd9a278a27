"""The answers that clients get while a tool holds the main thread for ten seconds.

The tool sleeps, runs an operator that releases the interpreter's lock, or spins in Python. With
``--bpy``, if Blender's module is installed, it also makes one Cycles render. Meanwhile one client
pings, one lists tools and one calls a second tool, which has to wait.

    python benchmarks/blocked.py [--seconds 10] [--bpy]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

from load_client import Connection, Target
from server_process import ServerProcess

#: Maximum milliseconds for every answer but the first, for each way to hold the main thread.
LATER = {"asleep": 50.0, "operator": 50.0, "rendering": 50.0, "spinning": 150.0}
FIRST = 400.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--bpy", action="store_true")
    arguments = parser.parse_args()
    options = ["--bpy"] if arguments.bpy else []
    print(
        "| main thread | first ping | later pings: median, max | tools/list: median, max |"
        " second call | machine, max | |"
    )
    print("|---|---|---|---|---|---|---|")
    good = True
    with tempfile.TemporaryDirectory() as home:
        server = ServerProcess(Path(sys.executable), "callboard_server.py", Path(home), options)
        try:
            for how, later in LATER.items():
                if how == "rendering" and not arguments.bpy:
                    continue
                good &= one_block(server.target, how, arguments.seconds, later)
        finally:
            server.stop()
    return 0 if good else 1


def one_block(target: Target, how: str, seconds: float, later: float) -> bool:
    """Run one block, and print one line of the table. Return whether every limit was met."""
    names = ("blocker", "pinger", "lister", "second")
    clients = {name: Connection(target) for name in names}
    for client in clients.values():
        client.open_session()
        client.exchange("tools/call", {"name": "echo", "arguments": {"value": 1}})
    ended = threading.Event()
    second: list[float] = []
    start = time.perf_counter()

    def hold() -> None:
        arguments = {"how": how, "seconds": seconds}
        clients["blocker"].exchange("tools/call", {"name": "block", "arguments": arguments})
        ended.set()

    def wait() -> None:
        time.sleep(1.0)
        call = {"name": "echo", "arguments": {"value": 42}}
        _, result = clients["second"].exchange("tools/call", call)
        if result["structuredContent"]["value"] == 42:
            second.append(time.perf_counter() - start)

    pings: list[float] = []
    lists: list[float] = []

    def probe(name: str, method: str, latencies: list[float], delay: float, pause: float) -> None:
        time.sleep(delay)
        while not ended.is_set():
            began = time.perf_counter()
            clients[name].exchange(method, {})
            latencies.append((time.perf_counter() - began) * 1000)
            time.sleep(pause)

    late = [0.0]

    def watch_machine() -> None:
        """Measure how late this machine wakes a process that only sleeps. No server can answer
        faster."""
        while not ended.is_set():
            began = time.perf_counter()
            time.sleep(0.005)
            late.append((time.perf_counter() - began) * 1000 - 5)

    threads = [
        threading.Thread(target=hold),
        threading.Thread(target=watch_machine),
        threading.Thread(target=wait),
        threading.Thread(target=probe, args=("pinger", "ping", pings, 0.02, 0.05)),
        threading.Thread(target=probe, args=("lister", "tools/list", lists, 0.6, 0.2)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + 30)
    for client in clients.values():
        client.close()
    kept = (
        pings[0] <= FIRST
        and max(pings[1:]) <= later
        and max(lists) <= later
        and len(second) == 1
        and second[0] >= seconds
    )
    print(
        f"| {how} | {pings[0]:.0f} ms | {median(pings[1:]):.1f}, {max(pings[1:]):.1f} ms | "
        f"{median(lists):.1f}, {max(lists):.1f} ms | after {second[0]:.2f} s | "
        f"{max(late):.1f} ms | "
        f"{'kept' if kept else 'broken'} |",
        flush=True,
    )
    return kept


if __name__ == "__main__":
    raise SystemExit(main())
