"""Reads records from the database, from the journals that aren't folded yet, and from memory.

Reading changes no records, so any process may read at any time, even after a crash. At most, it
rolls back a half-finished commit that a killed process left behind.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from callboard.records import schema
from callboard.records.journal import journals, read_lines
from callboard.records.model import UNFINISHED, CallRecord, Outcome

_ALL = tuple(range(len(schema.COLUMNS)))
_OUTCOME = schema.COLUMNS.index("outcome")
#: The view with every record, on a connection from :meth:`Reader.connect`.
EVERYTHING = "everything"
MAX_PAGE = 500


@dataclass(frozen=True)
class Filter:
    """A filter for calls. ``since`` and ``until`` are Unix seconds. ``text`` is searched for in the
    tool, arguments, error message and intent, ignoring case."""

    tool: str | None = None
    outcomes: Sequence[Outcome] = ()
    session: str | None = None
    client: str | None = None
    host: str | None = None
    since: float | None = None
    until: float | None = None
    text: str | None = None


@dataclass(frozen=True)
class Page:
    """One page of calls, newest first. ``cursor`` is for requesting the next page. None means that
    this is the last page."""

    calls: tuple[CallRecord, ...]
    cursor: str | None


class Reader:
    """Reads the records in ``folder``. Call it from any thread but the main one: every method opens
    what it needs, which takes milliseconds. Raises sqlite3.Error on a damaged database."""

    def __init__(self, folder: Path, memory: Callable[[], list[bytes]] = list) -> None:
        self.folder = folder
        self._memory = memory

    def recent(
        self, where: Filter | None = None, *, limit: int = 100, cursor: str | None = None
    ) -> Page:
        """Return at most ``limit`` calls that match, after ``cursor``. Raises ValueError for a
        cursor that isn't ours."""
        limit = max(1, min(limit, MAX_PAGE))
        conditions, values = _conditions(where or Filter())
        if cursor is not None:
            started, call_id = _parse(cursor)
            conditions.append("(started, call_id) < (?, ?)")
            values += [started, call_id]
        with self.connect() as db:
            rows = db.execute(
                f"SELECT {', '.join(schema.COLUMNS)} FROM {EVERYTHING} {_where(conditions)} "
                "ORDER BY started DESC, call_id DESC LIMIT ?",
                (*values, limit + 1),
            ).fetchall()
        calls = tuple(schema.to_record(row) for row in rows[:limit])
        more = len(rows) > limit
        return Page(calls, f"{calls[-1].started!r}:{calls[-1].call_id}" if more else None)

    def get(self, call_id: str) -> CallRecord | None:
        """Return one call, or None."""
        with self.connect() as db:
            row = db.execute(
                f"SELECT {', '.join(schema.COLUMNS)} FROM {EVERYTHING} WHERE call_id = ?",
                (call_id,),
            ).fetchone()
        return schema.to_record(row) if row else None

    def several(self, call_ids: Sequence[str]) -> list[CallRecord]:
        """Return the given calls that are still kept, the oldest first."""
        calls = [call for id in dict.fromkeys(call_ids) if (call := self.get(id)) is not None]
        return sorted(calls, key=lambda call: (call.started, call.call_id))

    def count(self, where: Filter | None = None) -> int:
        """Return how many calls match."""
        conditions, values = _conditions(where or Filter())
        with self.connect() as db:
            query = f"SELECT count(*) FROM {EVERYTHING} {_where(conditions)}"
            return int(db.execute(query, values).fetchone()[0])

    @contextmanager
    def connect(self) -> Iterator[sqlite3.Connection]:
        """Return a connection on which ``everything`` holds every record."""
        # Journals are read first. A call that is folded in between is then read twice and
        # recognized by its id, instead of being missed.
        lines = [line for path in journals(self.folder) for line in _lines(path)] + self._memory()
        db = self._open()
        try:
            # An empty database of the right shape can be read before the first record.
            db.execute(f"CREATE TEMP TABLE waiting {schema.TABLE}")
            rows = [row for line in lines if (row := schema.to_row(line))]
            # A change's last line takes precedence over its first one, wherever each of them is.
            rows.sort(key=lambda row: row[_OUTCOME] == UNFINISHED)
            db.executemany(schema.insert(_ALL, 1, "temp.waiting"), rows)
            db.execute(
                "DELETE FROM waiting WHERE call_id IN (SELECT call_id FROM main.calls"
                f" WHERE outcome <> '{UNFINISHED}' OR waiting.outcome = '{UNFINISHED}')"
            )
            columns = ", ".join(schema.COLUMNS)
            db.execute(
                f"CREATE TEMP VIEW {EVERYTHING} AS SELECT {_kept_columns(db)} FROM main.calls "
                f"WHERE outcome <> '{UNFINISHED}'"
                " OR call_id NOT IN (SELECT call_id FROM temp.waiting) "
                f"UNION ALL SELECT {columns} FROM temp.waiting"
            )
            yield db
        finally:
            db.close()

    def _open(self) -> sqlite3.Connection:
        path = self.folder.absolute() / schema.DATABASE
        # ``rw`` rolls back a half-finished commit that a killed process left. ``immutable`` is for
        # a read-only disk, on which neither a rollback nor the shared memory of an older WAL can be
        # written.
        for mode in ("mode=ro", "mode=rw", "mode=ro&immutable=1"):
            try:
                db = sqlite3.connect(f"{path.as_uri()}?{mode}", uri=True, isolation_level=None)
            except sqlite3.OperationalError:
                continue
            try:
                db.execute("SELECT 1 FROM calls LIMIT 1").fetchone()
            except BaseException as error:
                db.close()
                # A database that is being written must not be read as an immutable one.
                if not isinstance(error, sqlite3.OperationalError) or "locked" in str(error):
                    raise
            else:
                return db
        db = sqlite3.connect(":memory:", isolation_level=None)
        schema.migrate(db)
        return db


def _kept_columns(db: sqlite3.Connection) -> str:
    """Return the columns, with NULL for those that an older database doesn't have."""
    kept = {row[1] for row in db.execute("PRAGMA main.table_info(calls)")}
    return ", ".join(c if c in kept else f"NULL AS {c}" for c in schema.COLUMNS)


def _lines(path: Path) -> list[bytes]:
    try:
        return read_lines(path, 0)[0]
    except OSError:
        return []  # The journal's owner has just folded and removed it.


def _where(conditions: list[str]) -> str:
    return f"WHERE {' AND '.join(conditions)}" if conditions else ""


def _conditions(where: Filter) -> tuple[list[str], list[object]]:
    conditions: list[str] = []
    values: list[object] = []
    equal = (
        ("tool", where.tool),
        ("session", where.session),
        ("client_name", where.client),
        ("host", where.host),
    )
    for column, wanted in equal:
        if wanted is not None:
            conditions.append(f"{column} = ?")
            values.append(wanted)
    if where.outcomes:
        conditions.append(f"outcome IN ({', '.join('?' * len(where.outcomes))})")
        values += where.outcomes
    if where.since is not None:
        conditions.append("started >= ?")
        values.append(where.since)
    if where.until is not None:
        conditions.append("started < ?")
        values.append(where.until)
    if where.text:
        plain, in_json = _like(where.text), _like(json.dumps(where.text)[1:-1])
        columns = {"tool": plain, "error_message": plain, "intent": plain, "arguments": in_json}
        conditions.append("(" + " OR ".join(f"{c} LIKE ? ESCAPE '\\'" for c in columns) + ")")
        values += columns.values()
    return conditions, values


def _like(text: str) -> str:
    """Return a LIKE pattern that finds ``text`` anywhere."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def _parse(cursor: str) -> tuple[float, str]:
    started, colon, call_id = cursor.partition(":")
    try:
        if colon:
            return float(started), call_id
    except ValueError:
        pass
    raise ValueError("the cursor doesn't come from an earlier page; start without one")
