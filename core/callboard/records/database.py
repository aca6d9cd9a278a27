"""The writer's side of the database: opens and migrates it, copies journals into it, and limits its
size."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import inf
from operator import itemgetter
from pathlib import Path
from typing import Any

from callboard.guest.thread_pause import PythonPermit
from callboard.records import retention as retaining
from callboard.records import schema
from callboard.records.journal import read_lines
from callboard.records.model import UNFINISHED
from callboard.records.retention import Retention

#: Raised by :class:`Database` when the disk or the file is at fault.
StorageFailure = (sqlite3.Error, OSError)
#: Bytes of a journal that are read at once, or about two hundred calls. A writer that held the
#: interpreter lock longer would delay the host.
BLOCK = 2**16
#: Bytes of a journal that are folded in one transaction. Call ids are random, so each transaction
#: writes about every page of their index.
TOGETHER = 2**19
#: Maximum number of values in one statement: SQLite before 3.32 accepts no more. Each statement
#: releases the interpreter lock and acquires it again, which slows down busy threads.
AT_ONCE = 999
_ID, _OUTCOME = schema.COLUMNS.index("call_id"), schema.COLUMNS.index("outcome")
_SOME_UNFINISHED = "SELECT 1 FROM calls WHERE outcome = 'unfinished' LIMIT 1"
#: Deletes the row made from the first line of a change, so that the last line can replace it.
_DELETE_UNFINISHED = "DELETE FROM calls WHERE outcome = 'unfinished' AND call_id = ?"
#: Retention runs again once this fraction of the allowed bytes has been folded, or after this many
#: seconds.
RETAIN_EVERY = 1 / 20
RETAIN_SECONDS = 3_600.0


class Database:
    """The writer's side of the database. Only one thread may use it. Methods raise
    StorageFailure."""

    def __init__(
        self, folder: Path, retention: Retention, permit: PythonPermit | None = None
    ) -> None:
        """Open and migrate the database, waiting up to 5 s for another process. A thread that has a
        ``permit`` stands still between two transactions only, because others would wait for the
        database. Raises NewerSchema."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _keep_private(folder)
        self._retention, self._permit = retention, permit or PythonPermit()
        self._until_retention = 0.0
        self._retain_at = 0.0
        self._db = sqlite3.connect(folder / schema.DATABASE, timeout=5.0, isolation_level=None)
        try:
            self._db.execute("PRAGMA auto_vacuum = INCREMENTAL")
            _leave_wal(self._db)
            # With NORMAL a killed process loses nothing; a power cut may cost the last commits.
            self._db.execute("PRAGMA synchronous = NORMAL")
            schema.migrate(self._db)
        except BaseException:
            self._db.close()
            raise

    def fold(self, path: Path, offset: int, size: float = inf) -> int:
        """Fold a journal's lines from ``offset`` on, and return the offset at which they end.
        Folding the same lines again adds nothing. ``size`` is the number of bytes to stop at, in a
        journal that still grows: whoever follows it to its end folds one line at a time."""
        while True:
            before, offset = offset, self._fold_some(path, offset, size)
            if offset == before or offset >= size:
                return offset
            self._permit.give_way()

    def _fold_some(self, path: Path, offset: int, size: float) -> int:
        """Fold lines in one transaction, and return the offset at which they end. The lines are
        read in blocks, because reading all the lines of a busy minute at once would permanently
        fragment the process's memory."""
        lines, end = read_lines(path, offset, BLOCK)
        if not lines:
            return end
        stop = min(size, offset + TOGETHER)
        with self._transaction():
            while lines:
                self._insert([row for line in lines if (row := schema.to_row(line))])
                self._until_retention -= end - offset
                offset = end
                if offset >= stop or self._permit.summoned:
                    break
                lines, end = read_lines(path, offset, BLOCK)
        return offset

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def _insert(self, rows: list[list[Any]]) -> None:
        rows = _last_lines(rows)
        if self._db.execute(_SOME_UNFINISHED).fetchone():
            self._db.executemany(_DELETE_UNFINISHED, [(row[_ID],) for row in rows])
        self._add(rows)

    def _add(self, rows: list[list[Any]]) -> None:
        """Add the rows. Columns that are empty in all of them are left out, because binding a None
        takes sqlite3 longer than storing a text."""
        if not rows:
            return
        filled = tuple(
            number
            for number, column in enumerate(zip(*rows, strict=True))
            if number < 2 or column[0] is not None or column.count(None) < len(column)
        )
        values_of = itemgetter(*filled)
        step = AT_ONCE // len(filled)
        whole = len(rows) - len(rows) % step
        for first in range(0, whole, step):
            part = rows[first : first + step]
            values = [value for row in part for value in values_of(row)]
            self._db.execute(schema.insert(filled, step), values)
        self._db.executemany(schema.insert(filled, 1), map(values_of, rows[whole:]))

    def retain(self) -> None:
        """Delete the records that exceed the limits: at the first call, and from time to time after
        that."""
        now = time.monotonic()
        if self._until_retention <= 0 or now >= self._retain_at:
            self._until_retention = self._retention.max_bytes * RETAIN_EVERY
            self._retain_at = now + RETAIN_SECONDS
            retaining.apply(self._db, self._retention)

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def _last_lines(rows: list[list[Any]]) -> list[list[Any]]:
    """Return the rows, leaving out the first line of each change whose last line is among them."""
    if all(row[_OUTCOME] != UNFINISHED for row in rows):
        return rows
    ended = {row[_ID] for row in rows if row[_OUTCOME] != UNFINISHED}
    return [row for row in rows if row[_OUTCOME] != UNFINISHED or row[_ID] not in ended]


def _keep_private(folder: Path) -> None:
    """Create the database file before SQLite does, because SQLite would let every user of this
    machine read it. Also restrict access to the files that an older version left behind. Raises
    OSError."""
    path = folder / schema.DATABASE
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    for suffix in ("", "-wal", "-shm"):
        # Not every file system has file modes.
        with suppress(OSError):
            Path(f"{path}{suffix}").chmod(0o600)


def _leave_wal(db: sqlite3.Connection) -> None:
    """Switch from WAL mode, which an earlier version used and which doesn't work on network file
    systems. While a process running that version has the database open, the database stays in WAL
    mode."""
    with suppress(sqlite3.OperationalError):
        db.execute("PRAGMA journal_mode = DELETE").fetchone()


def is_damaged(error: Exception) -> bool:
    """Return whether the error means that the file is no longer a valid database, and not that it
    is locked, full or inaccessible."""
    return (
        isinstance(error, sqlite3.DatabaseError)
        and not isinstance(error, sqlite3.OperationalError)
        and any(word in str(error) for word in ("malformed", "not a database"))
    )


def is_locked(error: Exception) -> bool:
    """Return whether the error means that another process, such as one that is making a report, has
    kept the database locked for longer than a writer waits."""
    return isinstance(error, sqlite3.OperationalError) and "locked" in str(error)


def set_aside(folder: Path) -> None:
    """Rename a damaged database, so that a new one can be made and the old one examined. Raises
    OSError."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for suffix in ("", "-journal", "-wal", "-shm"):
        path = folder / f"{schema.DATABASE}{suffix}"
        if path.exists():
            path.rename(folder / f"damaged-{stamp}-{schema.DATABASE}{suffix}")
