"""The figures that a server process reports about itself: its start time and its memory."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter

#: A server imports this module first, so this is the moment when the bare interpreter is ready.
BEGAN = perf_counter()


def resident() -> int:
    """Return how many bytes of this process are in memory (Linux; elsewhere 0)."""
    if sys.platform != "linux":
        return 0
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


BARE = resident()


def announce(url: str, token: str | None = None) -> None:
    """Print the ready line."""
    ready = {
        "url": url,
        "token": token,
        "start_seconds": perf_counter() - BEGAN,
        "bare_bytes": BARE,
        "start_bytes": resident(),
    }
    print(json.dumps(ready), flush=True, file=sys.__stdout__)
