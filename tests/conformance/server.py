"""A server with the fixtures that the official conformance suite needs.

    python tests/conformance/server.py --port 0 --auth none [--host openusd|blender]
    blender -b --python tests/conformance/server.py -- --port 0 --auth none --host blender

It uses only callboard's public face. Once it is serving, it prints one line of JSON on stdout,
``{"event": "ready", "url": …}``. It serves until SIGTERM or SIGINT.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

# Blender runs a script without its folder on the path.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from asking_tools import add_asking_tools
from content_tools import add_content_tools, add_list_changers
from prompts_and_resources import add_prompts, add_resources
from task_tools import add_task_tools

from callboard.app import Callboard
from callboard.config import McpHttpConfig
from callboard.guest.inbox import MainThreadInbox
from callboard.host import Host
from callboard.host_kit.headless import HOSTS, make_host
from one_era import ERAS, speak_only


def read_arguments(given: Sequence[str], hosts: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--auth", choices=("token", "none"), default="none")
    parser.add_argument("--host", choices=hosts, default=hosts[0])
    parser.add_argument("--announce", action="store_true", help="announce the server to gateways")
    parser.add_argument("--only", choices=ERAS, help="speak only this era")
    # Our arguments follow Blender's own.
    own = given[given.index("--") + 1 :] if "--" in given else given
    return parser.parse_args(own)


def make_server(host: Host, arguments: argparse.Namespace) -> Callboard:
    """Return the server with the fixtures, not yet started."""
    port, auth, announced = arguments.port, arguments.auth, arguments.announce
    config = McpHttpConfig(port=port, auth=auth, announce=announced)
    server = Callboard(host, config)
    if arguments.only is not None:
        speak_only(server, arguments.only)
    add_content_tools(server.tools)
    add_asking_tools(server.tools)
    add_list_changers(server.tools, server.prompts)
    add_task_tools(server.tools)
    add_prompts(server.prompts)
    add_resources(server.resources)
    return server


def announce(server: Callboard, stream: Any) -> None:
    line = {"event": "ready", "url": server.url, "token": server.token}
    print(json.dumps(line), file=stream, flush=True)


def on_signals(stop: Callable[[], None]) -> None:
    for name in ("SIGINT", "SIGTERM"):
        signal.signal(getattr(signal, name), lambda number, frame: stop())


def main() -> None:
    # The parent process reads the ready line from stdout, so a host's output goes to stderr.
    stdout, sys.stdout = sys.stdout, sys.stderr
    arguments = read_arguments(sys.argv[1:], sorted(HOSTS, reverse=True))
    inbox = MainThreadInbox()
    server = make_server(make_host(arguments.host, inbox.post), arguments)

    def stop() -> None:
        inbox.stop()
        server.guest.interrupt()

    on_signals(stop)
    server.start()
    announce(server, stdout)
    try:
        inbox.run()
    finally:
        server.stop()
    if arguments.host == "blender":
        # Blender's own exit sometimes hangs or crashes in a destructor.
        os._exit(0)


if __name__ == "__main__":
    main()
