"""Whether a folder holds a path, where two spellings may name one file: macOS' disks take capital
for small letters, and composed for decomposed ones. Any thread; may wait for the file system."""

from __future__ import annotations

import os
import posixpath
import sys

#: Whether paths of this system are compared by what they name, and not to the letter alone.
FOLDS = sys.platform == "darwin"


def holds(base: str, path: str) -> bool:
    """Whether ``path``, real and absolute, is ``base`` or below it; it need not exist itself."""
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
