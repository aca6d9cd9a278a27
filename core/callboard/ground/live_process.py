"""Checks whether a process on this machine is still running."""

from __future__ import annotations

import os
from pathlib import Path


def is_process_alive(pid: int) -> bool:
    if os.name == "nt":
        return _alive_on_windows(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    # A process that has ended stays listed until its parent reads its status.
    return _fields(pid)[:1] != ["Z"]


def start_ticks(pid: int) -> int:
    """Return the time when a process started, in clock ticks since the machine started, or 0 if it
    is unknown. Only Linux reports this time. It doesn't change when the clock is set."""
    fields = _fields(pid)
    return int(fields[19]) if len(fields) > 19 else 0


def _fields(pid: int) -> list[str]:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return []
    # The name, in brackets, may itself contain brackets.
    return stat.rpartition(")")[2].split()


def _alive_on_windows(pid: int) -> bool:
    # On Windows, os.kill would end the process.
    import ctypes

    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore]
    handle = kernel.OpenProcess(0x1000, False, pid)
    if not handle:
        return False
    code = ctypes.c_ulong()
    kernel.GetExitCodeProcess(handle, ctypes.byref(code))
    kernel.CloseHandle(handle)
    return code.value == 259
