"""Finds out whether macOS slows a host down in the background (App Nap)."""

from __future__ import annotations

import plistlib
import shlex
import subprocess
import sys
from pathlib import Path, PurePosixPath
from xml.parsers.expat import ExpatError

SLOWS = sys.platform == "darwin"
#: The identifier of a Python without a GUI, which macOS doesn't slow down.
_WITHOUT_WINDOWS = "org.python.python"


def advice(pid: int) -> str | None:
    """Return the command that keeps the process's application awake, or None if nothing slows it
    down."""
    application = _application(pid)
    if application is None:
        return None
    try:
        with (application / "Contents" / "Info.plist").open("rb") as file:
            described = plistlib.load(file)
        name = str(described["CFBundleIdentifier"])
    except (OSError, ValueError, KeyError, TypeError, ExpatError):
        return None
    if name == _WITHOUT_WINDOWS or described.get("LSAppNapIsDisabled"):
        return None
    for whose in (name, "-g"):
        if _ask("/usr/bin/defaults", "read", whose, "NSAppSleepDisabled") == "1":
            return None
    return f"defaults write {shlex.quote(name)} NSAppSleepDisabled -bool YES"


def _application(pid: int) -> Path | None:
    """Return the folder of the application whose program the process runs."""
    program = PurePosixPath(_ask("/bin/ps", "-o", "comm=", "-p", str(pid)))
    return next((Path(each) for each in program.parents if each.suffix == ".app"), None)


def _ask(*command: str) -> str:
    """Return a system program's output, or an empty string if the program failed."""
    try:
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="replace", timeout=5, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
