"""callboard in a headless host with tools for the main thread."""

from __future__ import annotations

import process_facts  # isort: skip - must be first: it measures the bare interpreter

import argparse
import asyncio
import hashlib
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from callboard.app import Callboard
from callboard.calls.tools import Tool, ToolRegistry
from callboard.config import McpHttpConfig
from callboard.guest.inbox import MainThreadInbox
from callboard.host import Host, HostIdentity
from callboard.records.recorder import Recorder
from callboard.skills.scripts import Entry

MAIN = threading.get_ident()


class BenchmarkHost(Host):
    """A host with a main thread and nothing else."""

    def __init__(self, inbox: MainThreadInbox) -> None:
        super().__init__()
        self._inbox = inbox
        self._identity = HostIdentity("benchmark", "Benchmark", "1")

    @property
    def identity(self) -> HostIdentity:
        return self._identity

    def post(self, fn: Callable[[], None]) -> None:
        self._inbox.post(fn)


def echo(value: int) -> dict[str, Any]:
    return {"value": value, "main": threading.get_ident() == MAIN}


def block(how: str, seconds: float) -> dict[str, Any]:
    """Hold the main thread by sleeping, by running an operator (native code that releases the
    interpreter's lock), by rendering with Cycles, or by spinning in Python."""
    began = time.monotonic()
    if how == "asleep":
        time.sleep(seconds)
    elif how == "operator":
        while time.monotonic() - began < seconds:
            hashlib.pbkdf2_hmac("sha256", b"work", b"salt", 2_000_000)
    elif how == "rendering":
        render(seconds)
    else:
        while time.monotonic() - began < seconds:
            pass
    return {"seconds": time.monotonic() - began}


def render(seconds: float) -> None:
    """Render one picture with Blender's Cycles on one core, for the given number of seconds."""
    import bpy

    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.render.threads_mode = "FIXED"
    scene.render.threads = 1
    scene.render.resolution_x, scene.render.resolution_y = 320, 180
    scene.cycles.use_adaptive_sampling = scene.cycles.use_denoising = False
    scene.cycles.samples = 2**20
    scene.cycles.time_limit = seconds
    bpy.ops.render.render()


def tool(function: Callable[..., Any], description: str, **properties: str) -> Tool:
    return Tool(
        name=function.__name__,
        description=description,
        input_schema={
            "type": "object",
            "properties": {name: {"type": type} for name, type in properties.items()},
            "required": list(properties),
        },
        load=lambda: Entry(function, "function", False, False, False),
        annotations={"readOnlyHint": True},
        affinity="main",
    )


def record_odd() -> None:
    """Record every other call, so that recorded and other calls run under the same conditions."""
    record = Recorder.call_ended

    def call_ended(self: Recorder, call: Any, result: Any, error: Any) -> None:
        if call.arguments.get("value", 0) % 2:
            record(self, call, result, error)

    Recorder.call_ended = call_ended  # type: ignore[method-assign]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--no-records", action="store_true")
    parser.add_argument("--record-odd", action="store_true", help="record only echo's odd values")
    parser.add_argument("--max-sessions", type=int, default=256)
    parser.add_argument("--session-idle", type=float, default=3600.0)
    parser.add_argument("--announce", action="store_true", help="let a gateway find this server")
    parser.add_argument("--tools", type=int, default=0, help="number of additional tools")
    parser.add_argument("--bpy", action="store_true", help="load Blender's module, to render")
    arguments = parser.parse_args()
    if arguments.bpy:
        import bpy  # noqa: F401  (takes a second, which no call should)
    inbox = MainThreadInbox()
    tools = ToolRegistry()
    config = McpHttpConfig(
        announce=arguments.announce,
        records=not arguments.no_records,
        max_sessions=arguments.max_sessions,
        session_idle_secs=arguments.session_idle,
    )
    if arguments.record_odd:
        record_odd()
    app = Callboard(BenchmarkHost(inbox), config, tools)

    def inside() -> dict[str, Any]:
        return {
            "sessions": len(app.endpoint.sessions),
            "tasks": len(asyncio.all_tasks(app.guest.loop)),
            "threads": threading.active_count(),
        }

    tools.add(
        tool(echo, "Returns the value it is given.", value="integer"),
        tool(block, "Holds the main thread.", how="string", seconds="number"),
        tool(inside, "Counts what the server holds."),
    )
    for number in range(arguments.tools):
        name, about = f"other_{number}", f"Returns the value that it is given, number {number}."
        tools.add(replace(tool(echo, about, value="integer"), name=name))
    app.start()
    process_facts.announce(app.url, app.token)

    def stop(number: int, frame: Any) -> None:
        inbox.stop()
        app.guest.interrupt()

    signal.signal(signal.SIGTERM, stop)
    inbox.run()
    app.stop()


main()
