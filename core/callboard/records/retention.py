"""Enforces the limits on the age and the size of records."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3

#: Rows deleted in one transaction. There are few enough that another process never waits long.
BATCH = 500


#: The number of later days with records that is needed to trust the clock.
DAYS = 3


class Retention(NamedTuple):
    """Records older than ``days`` are deleted once there are records from three later days. The
    oldest records are also deleted while all records together take more than ``max_bytes``."""

    days: float = 90.0
    max_bytes: int = 256 * 2**20


def apply(db: sqlite3.Connection, retention: Retention) -> None:
    """Delete the records that exceed the limits, and return the space to the disk. Raises
    sqlite3.Error, in which case earlier deletions remain."""
    oldest = time.time() - retention.days * 86_400
    gone = _delete(db, "WHERE started < ?", oldest, None) if _is_usual(db, retention, oldest) else 0
    if (excess := _used(db) - retention.max_bytes) > 0:
        # Delete to a little below the limit. Otherwise, every call at the limit would delete.
        excess += retention.max_bytes // 10
        (count,) = db.execute("SELECT count(*) FROM calls").fetchone()
        gone += _delete(db, "WHERE ? ORDER BY seq", 1, -(-count * excess // _used(db)))
    if gone:
        # ``execute`` steps a statement without columns just once, which frees one page.
        db.executescript("PRAGMA incremental_vacuum")


def _is_usual(db: sqlite3.Connection, retention: Retention, oldest: float) -> bool:
    """Return whether there are records from several days since ``oldest``. After a clock has jumped
    ahead, the records from all earlier days look old, and the clock may be set right the next
    day."""
    which = "SELECT count(DISTINCT CAST(started / 86400 AS INT)) FROM calls WHERE started >= ?"
    (days,) = db.execute(which, (oldest,)).fetchone()
    return int(days) >= min(DAYS, retention.days)


def _delete(db: sqlite3.Connection, which: str, value: float, most: int | None) -> int:
    """Delete in batches, and return how many rows were deleted."""
    gone = 0
    while most is None or gone < most:
        limit = BATCH if most is None else min(BATCH, most - gone)
        batch = db.execute(
            f"DELETE FROM calls WHERE seq IN (SELECT seq FROM calls {which} LIMIT ?)",
            (value, limit),
        ).rowcount
        if not batch:
            break
        gone += batch
    return gone


def _used(db: sqlite3.Connection) -> int:
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    (free,) = db.execute("PRAGMA freelist_count").fetchone()
    (size,) = db.execute("PRAGMA page_size").fetchone()
    return int((pages - free) * size)
