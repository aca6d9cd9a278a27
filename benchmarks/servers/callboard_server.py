"""callboard in a headless host with one trivial tool for the main thread."""

from __future__ import annotations

import process_facts  # isort: skip - first, it looks at the bare interpreter

import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

from callboard.app import Callboard
from callboard.config import McpHttpConfig
from callboard.guest.headless import MainThreadInbox
from callboard.host import Host, HostIdentity
from callboard.server.tools import Tool, ToolRegistry
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


def main() -> None:
    inbox = MainThreadInbox()
    tools = ToolRegistry()
    tools.add(
        Tool(
            name="echo",
            description="Returns the value it is given.",
            input_schema={
                "type": "object",
                "properties": {"value": {"type": "integer"}},
                "required": ["value"],
            },
            load=lambda: Entry(echo, "function", False, False, False),
            affinity="main",
        )
    )
    config = McpHttpConfig(announce=False, records="--no-records" not in sys.argv)
    app = Callboard(BenchmarkHost(inbox), config, tools).start()
    process_facts.announce(app.url, app.token)

    def stop(number: int, frame: Any) -> None:
        inbox.stop()
        app.guest.interrupt()

    signal.signal(signal.SIGTERM, stop)
    inbox.run()
    app.stop()


main()
