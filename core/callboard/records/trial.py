"""Checks whether records can be kept in a folder."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path

from callboard.records import schema
from callboard.records.database import Database
from callboard.records.journal import STEP, Journal
from callboard.records.retention import Retention

#: The number of bytes to write: as many as a server's first record reserves.
_BYTES = STEP


def record_trouble(folder: Path) -> str | None:
    """Return why a server couldn't keep records in ``folder``, or None. This writes a file as a
    server would, and then removes the file and each folder that it made for it."""
    absent: list[Path] = []
    try:
        absent += [each for each in (folder, *folder.parents) if not each.exists()]
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        journal = Journal(folder)
        try:
            journal.append(b"-" * (_BYTES - 1) + b"\n")
        finally:
            journal.close()
            with suppress(OSError):
                journal.path.unlink()
        if (folder / schema.DATABASE).exists():
            Database(folder, Retention()).close()
    except (OSError, sqlite3.Error) as error:
        return getattr(error, "strerror", None) or str(error)
    except schema.NewerSchema as error:
        return f"{error}; update callboard"
    finally:
        with suppress(OSError):  # A server may have begun to keep records there.
            for each in absent:
                each.rmdir()
    return None
