"""Serves an example's tools, prompts and resources, on an empty OpenUSD stage, until Ctrl+C."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable

from callboard.app import Callboard
from callboard.guest.inbox import MainThreadInbox
from callboard.host_kit.headless import make_host


def serve(add: Callable[[Callboard], None]) -> None:
    """Start a server, and call ``add``, which can register tools, prompts and resources. Print the
    server's address as one line of JSON."""
    # This thread is the host's main thread: it runs the functions that are posted to it.
    inbox = MainThreadInbox()
    server = Callboard(make_host("openusd", inbox.post))
    add(server)
    server.start()

    def stop(number: int, frame: object) -> None:
        inbox.stop()
        server.guest.interrupt()

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    ready = {"event": "ready", "url": server.url, "token": server.token}
    # What tools print is captured, so write the ready line to the real stdout.
    print(json.dumps(ready), file=sys.__stdout__, flush=True)
    try:
        inbox.run()
    finally:
        server.stop()
