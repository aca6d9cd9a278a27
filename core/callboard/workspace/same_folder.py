"""Compares folders when two spellings may name the same folder, because the disks of macOS ignore
case and Unicode normalization. Call it from any thread; it may wait for the file system."""

from __future__ import annotations

import os
import posixpath
import sys

#: True when this system's paths must be compared by what they name, and not only as text.
FOLDS = sys.platform == "darwin"


def holds(base: str, path: str) -> bool:
    """Return whether ``path``, real and absolute, is ``base`` or below it. ``path`` needn't
    exist."""
    named = _identity(base)
    while named is not None:
        if _identity(path) == named:
            return True
        above = posixpath.dirname(path)
        if above == path:
            return False
        path = above
    return False


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return status.st_dev, status.st_ino
