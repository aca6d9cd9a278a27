"""Compares callboard with dcc-mcp-core and fastmcp: ratios of latency, throughput, start-up time
and memory.

The servers run side by side and are measured in turn, round after round, so that the machine's
other work affects all of them alike. Read the ratios, because the absolute figures are this
machine's. Each measurement ends when its server is idle again. The processor time therefore
includes the work that the server does later for these calls, such as moving their records into the
database.

    python benchmarks/run.py --cache DIR [--rounds 7] [--json FILE] [--markdown FILE]
    python benchmarks/run.py --cache DIR --before TREE     # beside another checkout, set up
    python benchmarks/run.py --cache DIR --windows FOLDER  # the servers under Wine

TREE is a checkout of callboard in which `bootstrap.py test --version` has run; the ratio to it is
the cost of a change. FOLDER is a folder that ``packaging/windows_python.py make`` made.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from load_client import Connection, measure
from report import Results, markdown
from server_process import Contender, ServerProcess
from windows_process import WindowsServers

CONTENDERS = (
    Contender("callboard", "callboard_server.py"),
    Contender("callboard, no records", "callboard_server.py", arguments=("--no-records",)),
    Contender("dcc-mcp-core, main thread", "dcc_mcp_core_server.py", "dcc-mcp-core==0.20.49"),
    Contender("fastmcp, default", "fastmcp_server.py", "fastmcp"),
)
CONNECTIONS = (1, 16, 64)
CALL: dict[str, Any] = {"name": "echo", "arguments": {"value": 3}}
WARM_UP = 300
#: A server is idle if it uses at most one hundredth of a second of processor time in this many
#: seconds. Ours moves records after half a second without calls.
IDLE = 0.8
#: Maximum seconds that a measurement waits for its server to be idle.
PATIENCE = 15.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, required=True, help="folder for the environments")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=2000, help="calls per measurement")
    parser.add_argument("--starts", type=int, default=7, help="fresh processes per server")
    parser.add_argument("--before", type=Path, help="another checkout of callboard to compare with")
    parser.add_argument(
        "--only-before",
        action="store_true",
        help="with --before: only these two, with fresh processes each round",
    )
    parser.add_argument("--windows", type=Path, help="a Windows Python for the servers, under Wine")
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--markdown", type=Path, help="write the tables here, too")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        results = compare(arguments, Path(home))
    text = markdown(results, "Windows by Wine" if arguments.windows else platform.system())
    print(text)
    if arguments.markdown:
        arguments.markdown.write_text(text, encoding="utf-8")
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    return 0


def before(tree: Path | None) -> list[Contender]:
    """Return callboard from another checkout, with that checkout's own environment and script."""
    if tree is None:
        return []
    folder = tree.resolve()
    python = folder / ".venv-test" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    script = folder / "benchmarks" / "servers" / "callboard_server.py"
    return [Contender("callboard, before", str(script), python=python)]


def compare(arguments: argparse.Namespace, home: Path) -> Results:
    """Return every figure of every contender, each as a list with one value per round."""
    contenders = [*CONTENDERS, *before(arguments.before)]
    if arguments.only_before:
        contenders = [contenders[0], *before(arguments.before)]
    windows = WindowsServers(arguments.windows, arguments.cache) if arguments.windows else None
    pythons = {one.name: one.interpreter(arguments.cache) for one in contenders if windows is None}
    results: Results = {one.name: {} for one in contenders}

    def start(one: Contender) -> ServerProcess:
        # Each contender has its own home, because two versions would discard each other's cache at
        # every start.
        own = home / one.name
        own.mkdir(exist_ok=True)
        if windows is not None:
            return windows.start(one, own)
        return ServerProcess(pythons[one.name], one.script, own, one.arguments)

    for one in contenders:
        start(one).stop()  # the first start writes bytecode
    for _ in range(arguments.starts):
        for one in contenders:
            server = start(one)
            facts = server.facts
            server.stop()
            note(results, one, "start ms", facts["start_seconds"] * 1000)
            if windows is None:
                added = facts["start_bytes"] - facts["bare_bytes"]
                note(results, one, "start MiB", added / 2**20)
    # A process gets random memory addresses, which change its figures by a few percent. When two
    # versions are compared, each round therefore has new processes.
    visits = arguments.rounds if arguments.only_before else 1
    for visit in range(visits):
        with ExitStack() as open_things:
            running = [run(one, start(one), open_things) for one in contenders]
            for number in range(arguments.rounds // visits):
                print(f"round {visit + number + 1} of {arguments.rounds}", file=sys.stderr)
                for count in CONNECTIONS:
                    for one, server, connections in running:
                        one_round(results, one, server, connections[:count], arguments.calls)
            for one, server, _ in running if windows is None else ():
                bare = server.facts["bare_bytes"] / 2**20
                note(results, one, "loaded MiB", server.status("VmRSS") / 1024 - bare)
        contenders.reverse()
    return results


def run(
    one: Contender, server: ServerProcess, open_things: ExitStack
) -> tuple[Contender, ServerProcess, list[Connection]]:
    """Return a running, warmed-up server and its open sessions."""
    open_things.callback(server.stop)
    connections = [Connection(server.target) for _ in range(max(CONNECTIONS))]
    for connection in connections:
        open_things.callback(connection.close)
        connection.open_session()
    connections[0].revive()  # a server may have closed the first one while others were being opened
    check_thread(one, connections[0])
    measure(connections, "tools/call", CALL, WARM_UP)
    settle(server)
    return one, server, connections


def settle(server: ServerProcess) -> None:
    """Wait until the server is idle. Without this, the work that it puts off would be counted for
    some measurements and not for others."""
    deadline = time.monotonic() + PATIENCE
    spent = server.cpu_seconds()
    while time.monotonic() < deadline:
        time.sleep(IDLE)
        before, spent = spent, server.cpu_seconds()
        if spent - before <= 0.011:
            return


def one_round(
    results: Results,
    one: Contender,
    server: ServerProcess,
    connections: list[Connection],
    calls: int,
) -> None:
    count = len(connections)
    # Slow contenders get fewer calls, so that a round lasts about as long for each.
    total = calls // 4 if one.script.startswith("fastmcp") else calls
    cpu = server.cpu_seconds()
    measured = measure(connections, "tools/call", CALL, total)
    settle(server)
    note(results, one, f"{count} CPU us", (server.cpu_seconds() - cpu) / total * 1e6)
    note(results, one, f"{count} median ms", measured.percentile(0.5))
    note(results, one, f"{count} p99 ms", measured.percentile(0.99))
    note(results, one, f"{count} calls/s", measured.rate)


def check_thread(one: Contender, connection: Connection) -> None:
    """Raise an error unless the tool ran on the main thread, as the comparison requires. For
    fastmcp this holds, because its loop runs on the main thread."""
    _, result = connection.exchange("tools/call", CALL)
    if 'main":true' not in result["content"][0]["text"].replace(" ", ""):
        raise RuntimeError(f"{one.name} did not run the tool on its main thread")


def note(results: Results, one: Contender, figure: str, value: float) -> None:
    results[one.name].setdefault(figure, []).append(round(value, 4))


if __name__ == "__main__":
    raise SystemExit(main())
