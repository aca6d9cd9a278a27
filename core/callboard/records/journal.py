"""The append-only file in which a record survives the process, before it is in the database.

There is one journal per process, with one JSON array per line. An appended line outlives a killed
process, because it is in the operating system's memory. Folding into SQLite happens later and is
idempotent by call id. The owner holds a lock on the file, so an unlocked journal belongs to a
process that is gone.

If the file system is known to keep reserved space, lines are copied into a memory mapping of the
file, which saves one system call per record. Otherwise, each line is one ``write``. The reserved
space after the last line is filled with zeros, which lines never contain.
"""

from __future__ import annotations

import errno
import mmap
import os
import secrets
import sys
from functools import cache
from hashlib import sha256
from pathlib import Path
from time import time

from callboard.ground.file_lock import lock
from callboard.transport.machine import this_machine

#: The first line. A file that begins differently is from another version and is left alone.
HEADER = b"callboard journal 2\n"
#: The first lines that can be read.
_READABLE = (HEADER, b"callboard journal 1\n")
SUFFIX = ".journal"
#: After this many seconds without a change, another machine's journal is considered abandoned. Not
#: every network file system shows one machine's locks to another.
_OTHERS_AGE = 86_400.0
#: Maximum number of bytes in a journal. A journal holds the records that aren't in the database
#: yet, so it grows this large only while the database can't be written.
MAX_BYTES = 64 * 2**20
#: Bytes by which the reserved space grows.
STEP = 2**18
#: File systems on which a reserved block can certainly be written. On file systems that copy on
#: write or are remote, a full disk would end the process instead of raising OSError.
_KEEPS_ROOM = frozenset({"ext3", "ext4", "xfs", "tmpfs"})


class JournalCut(OSError):
    """Raised when another program cut the file short while it was being written."""


class Journal:
    """A journal that this process writes. The caller makes sure that one thread at a time uses
    it."""

    def __init__(self, folder: Path) -> None:
        """Create the journal. Raises OSError when the folder can't be written to."""
        name = f"{_machine()}-{os.getpid()}-{secrets.token_hex(4)}{SUFFIX}"
        self.path = folder / name
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._fd = os.open(self.path, flags, 0o600)
        self._map: mmap.mmap | None = None
        self._mapped = _keeps_room(self._fd)
        self._room = 0
        self.size = 0
        #: The offset up to which the lines are in the database.
        self.folded = 0
        try:
            lock(self._fd, patience=0.2)
            # The header is written after the lock is taken, because a file with a header and no
            # lock has lost its owner.
            self.append(HEADER)
        except OSError:
            self.close()
            self.path.unlink(missing_ok=True)
            raise

    def append(self, line: bytes) -> None:
        """Write one line, with its newline, to the operating system, atomically. Raises JournalCut,
        and OSError when there is no space."""
        # Writing to a mapping past the end of its file ends the process.
        if os.lseek(self._fd, 0, os.SEEK_END) < (self.size if self._map is None else self._room):
            raise JournalCut(errno.EIO, "the journal was cut short")
        end = self.size + len(line)
        if end > self._room:
            self._make_room(end)
        if self._map is not None:
            self._map[self.size : end] = line
        else:
            self._write(line)
        # The size is updated last, because a concurrent fold must not read past the complete lines.
        self.size = end

    def _make_room(self, end: int) -> None:
        if end > MAX_BYTES:
            raise OSError(errno.EFBIG, "the journal is full: the database can't be written")
        if not self._mapped:
            self._room = MAX_BYTES
            return
        room = -(-end // STEP) * STEP
        os.posix_fallocate(self._fd, 0, room)
        if self._map is not None:
            self._map.close()
            self._map, self._room = None, 0
        self._map = mmap.mmap(self._fd, room)
        self._room = room

    def _write(self, line: bytes) -> None:
        written = os.write(self._fd, line)
        if written != len(line):
            os.ftruncate(self._fd, self.size)
            raise OSError(errno.ENOSPC, "the disk is full")

    def close(self) -> None:
        """Close the file and release its lock. The file stays."""
        if self._map is not None:
            self._map.close()
            self._map, self._room = None, 0
            os.ftruncate(self._fd, self.size)
        os.close(self._fd)


def _keeps_room(fd: int) -> bool:
    """Return whether lines may be written through a mapping."""
    if sys.platform != "linux":
        return False
    device = os.fstat(fd).st_dev
    wanted = f"{os.major(device)}:{os.minor(device)}"
    try:
        with Path("/proc/self/mountinfo").open(encoding="utf-8") as mounts:
            for mount in mounts:
                if mount.split(" ", 3)[2] == wanted:
                    return mount.partition(" - ")[2].split(" ", 1)[0] in _KEEPS_ROOM
    except (OSError, IndexError, ValueError):
        pass
    return False


def read_lines(path: Path, offset: int, block: int = -1) -> tuple[list[bytes], int]:
    """Return the complete lines from ``offset`` on, and the offset at which they end. ``block``
    is the number of bytes to read. It is doubled until a complete line has been read. An incomplete
    line isn't returned, because it hasn't been acknowledged. Raises OSError."""
    # Each system call releases the interpreter lock and acquires it again, so each one reads a
    # whole block.
    with path.open("rb", buffering=0) as file:
        if offset == 0:
            if file.read(len(HEADER)) not in _READABLE:
                return [], 0
            offset = len(HEADER)
        while True:
            file.seek(offset)
            data = file.read(block)
            # Zeros are reserved space, or the part of a line that isn't written yet.
            zero = data.find(b"\0")
            end = data.rfind(b"\n", 0, zero if zero >= 0 else len(data)) + 1
            if end or zero >= 0 or len(data) != block:
                return data[:end].splitlines(), offset + end
            block *= 2


def journals(folder: Path) -> list[Path]:
    """Return every journal in the folder, oldest first."""
    return sorted(folder.glob(f"*{SUFFIX}"), key=_modified)


@cache
def _machine() -> str:
    """Return eight characters that stand for this machine in a journal's name."""
    return sha256(this_machine().encode()).hexdigest()[:8]


def is_abandoned(path: Path) -> bool:
    """Return whether the process that wrote this journal is gone."""
    machine, _, rest = path.stem.partition("-")
    if "-" in rest and machine != _machine() and time() - _modified(path) < _OTHERS_AGE:
        return False
    try:
        fd = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
    except OSError:
        return False
    try:
        lock(fd)
        return os.read(fd, len(HEADER)) in _READABLE
    except OSError:
        return False
    finally:
        os.close(fd)


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
