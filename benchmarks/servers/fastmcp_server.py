"""fastmcp as its documentation starts it: Streamable HTTP, default settings, one trivial tool."""

from __future__ import annotations

import process_facts  # isort: skip - must be first: it measures the bare interpreter

import socket
import threading
import time
from typing import Any

from fastmcp import FastMCP

server: FastMCP[Any] = FastMCP("benchmark")
MAIN = threading.get_ident()


@server.tool
async def echo(value: int) -> dict[str, Any]:
    """Returns the value it is given."""
    return {"value": value, "main": threading.get_ident() == MAIN}


def announce(port: int) -> None:
    """Print the ready line once the port accepts connections."""
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.005)
        else:
            process_facts.announce(f"http://127.0.0.1:{port}/mcp")
            return


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def main() -> None:
    port = free_port()
    threading.Thread(target=announce, args=(port,), daemon=True).start()
    server.run(
        transport="http", host="127.0.0.1", port=port, show_banner=False, log_level="warning"
    )


main()
