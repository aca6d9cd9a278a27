"""Measures calls into Blender's real user interface, with callboard's and blender-mcp's add-ons in
one session.

    python benchmarks/blender_gui.py [--calls N]

blender-mcp's add-on belongs to another project and has another license, so it is never part of this
project: when the benchmark runs, pip fetches the add-on from its publisher into the build folder.
Prints JSON, with a reason for each figure that can't be measured here.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
for source in ("core", "hosts", "tests", "packaging"):
    sys.path.insert(0, str(PROJECT / source))

from hosts.blender_gui_rig import Gui, blender_gui, build_addon, install, missing, screen  # noqa: E402

CACHE = PROJECT / "build" / "benchmarks"
#: The latest version whose wheel carries the add-on.
THEIRS = "blender-mcp==1.9.4"
_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
#: Measures how late another add-on's timer fires, which shows the user interface's delay.
_TICKS = """
import time
ticks, last = [], [time.perf_counter()]
def tick():
    now = time.perf_counter()
    ticks.append(now - last[0])
    last[0] = now
    return 0.0 if ticking else None
ticking = True
bpy.app.timers.register(tick, persistent=True)
"""


class Caller:
    """Calls the tool ``scene__list_objects`` over one connection."""

    def __init__(self, url: str, token: str) -> None:
        address = url.removeprefix("http://").removesuffix("/mcp")
        self.connection = http.client.HTTPConnection(address, timeout=60)
        self.connection.connect()
        self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {token}",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": "scene__list_objects",
        }
        params = {"name": "scene__list_objects", "arguments": {}, "_meta": _META}
        self.body = json.dumps(
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        ).encode()

    def __call__(self) -> None:
        self.connection.request("POST", "/mcp", self.body, self.headers)
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status != 200 or b'"Cube"' not in body:
            raise RuntimeError(f"{answer.status}: {body[:500]!r}")


class TheirCaller:
    """Calls ``get_scene_info`` of blender-mcp's add-on over one connection."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __call__(self) -> None:
        self.socket.sendall(json.dumps({"type": "get_scene_info", "params": {}}).encode())
        received = b""
        while True:
            received += self.socket.recv(65536)
            try:
                answer = json.loads(received)
            except ValueError:
                continue
            if answer.get("status") != "success":
                raise RuntimeError(str(answer)[:500])
            return


def timed(call: Callable[[], None], count: int) -> list[float]:
    """Return the duration of each call in milliseconds."""
    latencies = []
    for _ in range(count):
        started = perf_counter()
        call()
        latencies.append((perf_counter() - started) * 1000)
    return latencies


def summary(milliseconds: list[float]) -> dict[str, float]:
    ordered = sorted(milliseconds)
    return {
        "median_ms": round(statistics.median(ordered), 3),
        "p99_ms": round(ordered[int(len(ordered) * 0.99) - 1], 3),
        "calls": len(ordered),
    }


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def idle_cpu(gui: Gui, seconds: float) -> float:
    """Return the percentage of a core that the process uses while nothing happens."""
    before = cpu_seconds(gui.process.pid)
    sleep(seconds)
    return 100 * (cpu_seconds(gui.process.pid) - before) / seconds


def ticks_under_load(gui: Gui, url: str, token: str, clients: int, seconds: float) -> Any:
    gui.run(_TICKS)
    busy = [True]

    def work() -> None:
        call = Caller(url, token)
        while busy[0]:
            call()

    threads = [threading.Thread(target=work) for _ in range(clients)]
    gui.run("ticks.clear()")
    for thread in threads:
        thread.start()
    sleep(seconds)
    ticks = gui.run("answer = list(ticks); ticking = False")
    busy[0] = False
    for thread in threads:
        thread.join()
    return summary([tick * 1000 for tick in ticks])


def their_addon() -> Path:
    """Return blender-mcp's ``addon.py`` from its wheel. Raises RuntimeError."""
    CACHE.mkdir(parents=True, exist_ok=True)
    target = CACHE / "blender_mcp_addon.py"
    if target.is_file():
        return target
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary=:all:", "-d", str(CACHE), THEIRS]
    subprocess.run(command, check=False, stdin=subprocess.DEVNULL, stdout=2)
    for wheel in CACHE.glob("blender_mcp-*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.rpartition("/")[2] == "addon.py":
                    target.write_bytes(archive.read(name))
                    return target
    raise RuntimeError(f"no wheel of {THEIRS} with an addon.py is in {CACHE}; see pip's output")


def measure_theirs(gui: Gui, calls: int) -> Any:
    try:
        addon = their_addon()
    except (RuntimeError, OSError) as error:
        return {"skipped": str(error)}
    spec = find_spec("requests")
    if spec is None or spec.origin is None:
        return {"skipped": "its add-on needs requests, which is not installed"}
    site = str(Path(spec.origin).parents[1])
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    gui.run(
        # The add-on imports the package requests, for web services that aren't called here.
        f"sys.path.append({site!r})\n"
        f"import importlib.util\nspec = importlib.util.spec_from_file_location('theirs', "
        f"{str(addon)!r})\ntheirs = importlib.util.module_from_spec(spec)\n"
        "sys.modules['theirs'] = theirs\nspec.loader.exec_module(theirs)\ntheirs.register()\n"
        f"server = theirs.BlenderMCPServer(port={port})\nserver.start()"
    )
    call = TheirCaller(port)
    timed(call, 5)
    # A call takes one or two ticks of Blender's timers, tens of milliseconds.
    figures = summary(timed(call, calls))
    gui.run("server.stop()")
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--calls", type=int, default=500)
    asked = parser.parse_args()
    if reason := missing():
        print(json.dumps({"skipped": reason}))
        return 0
    with tempfile.TemporaryDirectory() as folder, screen() as display:
        archive = build_addon(Path(folder))
        with blender_gui(Path(folder) / "gui", display) as gui:
            install(gui, archive)
            gui.run("import sys")
            gui.enable()
            sleep(10)  # until Blender has finished drawing at the start
            with_it = idle_cpu(gui, 20)
            gui.run("bpy.ops.preferences.addon_disable(module='callboard_addon')")
            sleep(2)
            without = idle_cpu(gui, 20)
            gui.enable()
            url, token = gui.run(
                "from callboard_blender import addon\n"
                "answer = [addon.residence.app.url, addon.residence.app.token]"
            )
            call = Caller(url, token)
            timed(call, 50)
            ours = summary(timed(call, asked.calls))
            try:
                theirs = measure_theirs(gui, asked.calls)
            except (AssertionError, RuntimeError, OSError) as error:
                theirs = {"skipped": str(error)}
            after_idle = []
            for _ in range(20):
                sleep(5)
                after_idle += timed(call, 1)
            report = {
                "sequential": ours,
                "blender_mcp": theirs,
                "first_after_5s_idle": summary(after_idle),
                "idle_cpu_added_percent": round(with_it - without, 2),
                "ui_tick_under_8_clients": ticks_under_load(gui, url, token, 8, 10),
            }
    print(json.dumps(report, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
