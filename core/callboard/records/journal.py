"""The append-only file that makes a record survive the process, before it is in the database.

One per process, one JSON array a line. Appending is one ``write`` to the operating system, which
outlives a killed process; folding into SQLite happens later and is idempotent by call id. The
owner holds a lock on the file, so an unlocked one belongs to a process that is gone.
"""

from __future__ import annotations

import errno
import os
import secrets
from pathlib import Path

from callboard.records.file_lock import lock

#: The first line. A file that begins otherwise is another version's and is left alone.
HEADER = b"callboard journal 1\n"
SUFFIX = ".journal"
#: A journal holds what the database hasn't taken yet, so it only grows where the database is stuck.
MAX_BYTES = 64 * 2**20


class Journal:
    """A journal that this process writes. The caller keeps threads apart."""

    def __init__(self, folder: Path) -> None:
        """Creates it. Raises OSError where the folder can't be written."""
        self.path = folder / f"{os.getpid()}-{secrets.token_hex(4)}{SUFFIX}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._fd = os.open(self.path, flags, 0o600)
        self.size = 0
        try:
            lock(self._fd, patience=0.2)
            # The header comes after the lock: a file with a header and no lock has lost its owner.
            self.append(HEADER)
        except OSError:
            self.close()
            self.path.unlink(missing_ok=True)
            raise

    def append(self, line: bytes) -> None:
        """Hands one line, with its newline, to the operating system, whole or not at all.
        Raises OSError."""
        if self.size + len(line) > MAX_BYTES:
            raise OSError(errno.EFBIG, "the journal is full: the database can't be written")
        written = os.write(self._fd, line)
        if written != len(line):
            os.ftruncate(self._fd, self.size)
            raise OSError(errno.ENOSPC, "the disk is full")
        self.size += written

    def close(self) -> None:
        """Gives up the file and its lock; the file stays."""
        os.close(self._fd)


def read_lines(path: Path, offset: int) -> tuple[list[bytes], int]:
    """The complete lines from ``offset`` on, and where they end. A line that a killed process left
    half written was never acknowledged and isn't returned. Raises OSError."""
    with path.open("rb") as file:
        if offset == 0:
            if file.read(len(HEADER)) != HEADER:
                return [], 0
            offset = len(HEADER)
        file.seek(offset)
        block = file.read()
    end = block.rfind(b"\n") + 1
    return block[:end].splitlines(), offset + end


def journals(folder: Path) -> list[Path]:
    """Every journal in the folder, oldest first."""
    return sorted(folder.glob(f"*{SUFFIX}"), key=_modified)


def is_abandoned(path: Path) -> bool:
    """Whether the process that wrote this journal is gone."""
    try:
        fd = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
    except OSError:
        return False
    try:
        lock(fd)
        return os.read(fd, len(HEADER)) == HEADER
    except OSError:
        return False
    finally:
        os.close(fd)


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
