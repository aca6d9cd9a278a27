"""The cost of an open panel: calls at full speed, alternately with the panel shown and without it.

    QT_QPA_PLATFORM=offscreen python benchmarks/panel.py [--calls 10000] [--rounds 3]

With DISPLAY set (Xvfb is enough) and without QT_QPA_PLATFORM, the panel draws on a real screen.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from load_client import Connection, measure
from server_process import ServerProcess

CONNECTIONS = 4
#: The targets, which are the minimum ratio of the throughput with the panel to that without it, and
#: the maximum delay of the interface.
LEAST_SHARE, MOST_LATE_MS = 0.9, 30.0


class Side:
    """One server, with or without the panel, through all rounds."""

    def __init__(self, home: Path, *arguments: str) -> None:
        home.mkdir()
        self.server = ServerProcess(Path(sys.executable), "panel_server.py", home, arguments)
        self.connections = [Connection(self.server.target) for _ in range(CONNECTIONS)]
        for connection in self.connections:
            connection.open_session()
        self.rates: list[float] = []
        self.late: list[float] = []
        self.bytes: list[int] = []

    def run(self, calls: int, *, counts: bool) -> None:
        params = {"name": "echo", "arguments": {"value": 1}}
        self.inside()
        measured = measure(self.connections, "tools/call", params, calls)
        late, resident = self.inside()
        if counts:
            self.rates.append(measured.rate)
            self.late += late
            self.bytes.append(resident)

    def inside(self) -> tuple[list[float], int]:
        params = {"name": "inside", "arguments": {}}
        _, result = self.connections[0].exchange("tools/call", params)
        inside = result["structuredContent"]
        return inside["late_ms"], inside["bytes"]

    def close(self) -> None:
        for connection in self.connections:
            connection.close()
        self.server.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        without = Side(Path(folder) / "without")
        shown = Side(Path(folder) / "shown", "--panel")
        for number in range(arguments.rounds + 1):
            # The first round warms up.
            for side in (without, shown) if number % 2 else (shown, without):
                side.run(arguments.calls, counts=number > 0)
        for side in (without, shown):
            side.close()
    share = statistics.median(a / b for a, b in zip(shown.rates, without.rates, strict=True))
    late = sorted(shown.late)
    p99 = late[int(0.99 * (len(late) - 1))]
    print(f"| {arguments.calls} calls, {CONNECTIONS} connections | no panel | panel shown |")
    print("|---|---|---|")
    rates = (statistics.median(side.rates) for side in (without, shown))
    print("| calls/s | {:,.0f} | {:,.0f} |".format(*rates))
    other = sorted(without.late)
    print(f"| interface late, p99 ms | {other[int(0.99 * (len(other) - 1))]:.1f} | {p99:.1f} |")
    sizes = (f"{s.bytes[0] / 2**20:.0f}, {s.bytes[-1] / 2**20:.0f}" for s in (without, shown))
    print("| MiB after the first and the last round | {} | {} |".format(*sizes))
    kept = share >= LEAST_SHARE and p99 < MOST_LATE_MS
    print(f"panel shown: {share:.0%} as many calls; targets {'met' if kept else 'missed'}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
