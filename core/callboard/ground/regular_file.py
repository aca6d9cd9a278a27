"""Checks files that a person names, so that reading such a file can't block forever."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

_KINDS = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))


def refuse_special(path: Path) -> None:
    """Raise OSError for a folder, a pipe or a device; the error's ``strerror`` says which. A
    missing file is left to the code that opens it. Call it from any thread."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        kind = next((word for is_such, word in _KINDS if is_such(mode)), "a device")
        raise OSError(errno.EINVAL, f"it is {kind}, not a file")


def is_folder(path: Path) -> bool:
    """Return whether ``path`` is a folder that this user can see. Unlike Python's own check before
    3.14, it doesn't raise an error when a folder above it can't be entered."""
    return os.path.isdir(path)  # noqa: PTH112
