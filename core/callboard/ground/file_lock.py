"""A lock on an open file, which the system releases when the process that holds the lock is
gone."""

from __future__ import annotations

import os
import sys
import time


def lock(fd: int, patience: float = 0.0) -> None:
    """Lock an open file for as long as it is open and the process lives. Try for ``patience``
    seconds. Raises OSError when another process holds the lock."""
    deadline = time.monotonic() + patience
    while True:
        try:
            return _lock(fd)
        except OSError:
            if time.monotonic() >= deadline:
                raise
        time.sleep(0.005)


def _lock(fd: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        # The locked byte is far past the end of the file, because locks on Windows are mandatory
        # and would otherwise block readers.
        position = os.lseek(fd, 0, os.SEEK_CUR)
        os.lseek(fd, 2**40, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        finally:
            os.lseek(fd, position, os.SEEK_SET)
    else:
        import fcntl

        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
