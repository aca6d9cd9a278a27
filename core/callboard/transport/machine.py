"""The machine that this process runs on, for homes that several machines share."""

from __future__ import annotations

import socket
import sys
from functools import cache
from hashlib import sha256
from pathlib import Path


@cache
def this_machine() -> str:
    """Return the host's name and, when the system has an id, eight characters of the id's digest.
    On a Mac, return only the digest, because the name changes with the network."""
    name, id = socket.gethostname() or "localhost", _system_id()
    digest = sha256(id).hexdigest()[:8] if id else ""
    return f"mac {digest}" if digest and sys.platform == "darwin" else f"{name} {digest}".strip()


@cache
def this_boot() -> str:
    """Return a string that changes when the system restarts, or an empty string if the system
    doesn't provide one."""
    if sys.platform == "win32":
        return ""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except (OSError, ValueError):
        return ""


def _system_id() -> bytes:
    if sys.platform == "darwin":
        import ctypes  # Other systems don't need this module.

        id, at_once = ctypes.create_string_buffer(16), (ctypes.c_long * 2)()
        return b"" if ctypes.CDLL(None).gethostuuid(id, at_once) else id.raw
    if sys.platform == "win32":
        return _windows_id()
    try:
        return Path("/etc/machine-id").read_bytes().strip()
    except OSError:
        return b""


if sys.platform == "win32":

    def _windows_id() -> bytes:
        """Return the id that Windows got when it was installed."""
        import winreg

        key = r"SOFTWARE\Microsoft\Cryptography"
        view = winreg.KEY_READ | winreg.KEY_WOW64_64KEY
        try:
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key, 0, view) as opened:
                return str(winreg.QueryValueEx(opened, "MachineGuid")[0]).encode()
        except OSError:
            return b""
