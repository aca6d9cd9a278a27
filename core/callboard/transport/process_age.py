"""The start time of a process on this machine, when the system reports it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

from callboard.ground.live_process import start_ticks

#: Windows counts tenths of microseconds since 1601.
_TO_1970 = 11_644_473_600.0


def began_at(pid: int) -> float | None:
    """Return the start time in seconds since 1970, accurate to about a second, or None when
    unknown. May take a moment."""
    try:
        if sys.platform == "win32":
            return _on_windows(pid)
        if sys.platform == "linux":
            return _on_linux(pid)
        return _by_ps(pid)
    except (OSError, ValueError, IndexError, subprocess.SubprocessError):
        return None


def _on_linux(pid: int) -> float:
    if not (ticks := start_ticks(pid)):
        raise ValueError(f"no process {pid}")
    up = float(Path("/proc/uptime").read_text("ascii").split()[0])
    return time.time() - up + ticks / os.sysconf("SC_CLK_TCK")


def _by_ps(pid: int) -> float:
    command = ["/bin/ps", "-o", "lstart=", "-p", str(pid)]
    done = subprocess.run(
        command, capture_output=True, encoding="ascii", timeout=2, env={"LC_ALL": "C"}, check=True
    )
    return datetime.strptime(done.stdout.strip(), "%a %b %d %H:%M:%S %Y").timestamp()


def _on_windows(pid: int) -> float | None:
    import ctypes

    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore]
    kernel.OpenProcess.restype = ctypes.c_void_p
    handle = ctypes.c_void_p(kernel.OpenProcess(0x1000, False, pid))
    if not handle:
        return None
    times = [ctypes.c_uint64() for _ in range(4)]
    try:
        if not kernel.GetProcessTimes(handle, *map(ctypes.byref, times)):
            return None
    finally:
        kernel.CloseHandle(handle)
    return times[0].value / 1e7 - _TO_1970
