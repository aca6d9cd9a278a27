"""dcc-mcp-core with one trivial tool for the main thread, which pumps its BlockingDispatcher."""

from __future__ import annotations

import process_facts  # isort: skip - must be first: it measures the bare interpreter

import json
import signal
import sys
import threading
from typing import Any

from dcc_mcp_core import McpHttpConfig, McpHttpServer, ToolRegistry
from dcc_mcp_core.host import BlockingDispatcher

MAIN = threading.get_ident()
SCHEMA = {
    "type": "object",
    "properties": {"value": {"type": "integer"}},
    "required": ["value"],
}


def echo(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"value": arguments["value"], "main": threading.get_ident() == MAIN}


def main() -> None:
    registry = ToolRegistry()
    registry.register(
        "echo",
        description="Returns the value it is given.",
        input_schema=json.dumps(SCHEMA),
        thread_affinity="main",
        enforce_thread_affinity=True,
    )
    config = McpHttpConfig(port=0)
    config.gateway_port = 0
    server = McpHttpServer(registry, config)
    dispatcher = BlockingDispatcher()
    server.attach_dispatcher(dispatcher)
    server.register_handler("echo", echo, thread_affinity="main")
    handle = server.start()
    process_facts.announce(handle.mcp_url())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    while True:
        dispatcher.tick_blocking(64, 100)


main()
