"""The tables of the database and their migrations, and the conversion of records to journal lines
and rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any

from callboard.records.model import CallPlace, CallRecord
from callboard.records.redaction import Redactor

if TYPE_CHECKING:
    import sqlite3

DATABASE = "calls.db"

#: Names longer than any real one are cut, not replaced by a marker.
MAX_NAME = 256

COLUMNS = (
    "call_id",
    "started",
    "duration_ms",
    "tool",
    "outcome",
    "skill",
    "client_name",
    "client_version",
    "era",
    "session",
    "holder",
    "client",
    "host",
    "error_code",
    "error_message",
    "queue_ms",
    "main_thread_ms",
    "undo_id",
    "intent",
    "trace",
    "missing",
    "user",
    "machine",
    "app",
    "scene",
    "project",
    "arguments",
    "result",
)
_HOLDER, _CLIENT, _MISSING = map(COLUMNS.index, ("holder", "client", "missing"))

_FIRST_TABLE = """(
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    call_id TEXT NOT NULL UNIQUE,
    started REAL NOT NULL,
    duration_ms REAL NOT NULL,
    tool TEXT NOT NULL,
    outcome TEXT NOT NULL,
    skill TEXT, client_name TEXT, client_version TEXT, era TEXT, session TEXT, host TEXT,
    error_code INTEGER, error_message TEXT,
    queue_ms REAL, main_thread_ms REAL,
    undo_id TEXT, intent TEXT, trace TEXT,
    missing TEXT, arguments TEXT, result TEXT
)"""
#: The columns. A reader makes a temporary table with the same columns.
TABLE = (
    f"{_FIRST_TABLE[:-2]},\n    holder TEXT, client TEXT,\n"
    "    user TEXT, machine TEXT, app TEXT, scene TEXT, project TEXT\n)"
)
_ADDED = ("client", "user", "machine", "app", "scene", "project")

#: Step n migrates the schema from version n to n + 1. Steps are added, never changed.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        f"CREATE TABLE calls {_FIRST_TABLE}",
        "CREATE INDEX calls_started ON calls (started)",
    ),
    ("CREATE TABLE exports (target TEXT PRIMARY KEY, last_seq INTEGER NOT NULL)",),
    ("ALTER TABLE calls ADD COLUMN holder TEXT",),
    (
        *(f"ALTER TABLE calls ADD COLUMN {name} TEXT" for name in _ADDED),
        "CREATE INDEX calls_unfinished ON calls (call_id) WHERE outcome = 'unfinished'",
    ),
)
VERSION = len(MIGRATIONS)


@lru_cache(maxsize=64)
def insert(columns: tuple[int, ...], rows: int, table: str = "calls") -> str:
    """Return the statement that adds this many rows with these columns, which are given by their
    indices in :data:`COLUMNS`. A row whose call is already in the table is left out."""
    filled = ", ".join(COLUMNS[number] for number in columns)
    row = f"({', '.join('?' * len(columns))})"
    return f"INSERT OR IGNORE INTO {table} ({filled}) VALUES {', '.join([row] * rows)}"


class NewerSchema(Exception):
    """Raised when a newer callboard made this database; writing into it could damage it."""


def migrate(db: sqlite3.Connection) -> None:
    """Bring the tables to :data:`VERSION`, atomically, even if another process does so at the same
    time. ``db`` is in autocommit mode. Raises NewerSchema or sqlite3.Error."""
    if is_current(db):
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        version = _version(db)
        if version > VERSION:
            raise NewerSchema(f"the database has version {version}; only {VERSION} is supported")
        for step in MIGRATIONS[version:]:
            for statement in step:
                db.execute(statement)
        db.execute(f"PRAGMA user_version = {VERSION}")
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def is_current(db: sqlite3.Connection) -> bool:
    """Return whether the tables are those of this version."""
    return _version(db) == VERSION


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def to_line(call: CallRecord, redactor: Redactor, *, with_result: bool = True) -> bytes:
    """Return a call's journal line, with its newline. The line is redacted, bounded and ASCII. This
    runs before the call is answered, so parts that many calls share are encoded once."""
    message, intent, missing = call.error_message, call.intent, call.missing
    code, queue, main = call.error_code, call.queue_ms, call.main_thread_ms
    # None is handled here and not in the functions: calling a function that isn't in the
    # processor's cache costs more than the function's work.
    who = (
        call.client_name,
        call.client_version,
        call.era,
        call.session,
        call.holder,
        call.client,
        call.host,
    )
    place = (call.user, call.machine, call.app, call.scene, call.project)
    head = (
        f"[{_name(call.call_id)},{call.started!r},{call.duration_ms!r},"
        f"{names(call.tool, call.outcome, call.skill)},"
        f"{names(*who)},"
        f"{'null' if code is None else code},"
        f"{'null' if message is None else _encode(redactor.line(message))},"
        f"{'null' if queue is None else queue},{'null' if main is None else main},"
        f"{'null' if call.undo_id is None else _name(call.undo_id)},"
        f"{'null' if intent is None else _encode(redactor.line(intent))},"
        f"{'null' if call.trace is None else _name(call.trace)},"
        f"{f'[{names(*missing[:64])}]' if missing else 'null'},{names(*place)}]"
    )
    arguments = "" if call.arguments is None else redactor.json(call.arguments)
    result = redactor.json(call.result) if with_result and call.result is not None else ""
    # JSON contains no raw tabs, so the long parts can be split off and stored without being parsed.
    return f"{head}\t{arguments}\t{result}\n".encode("ascii")


def plain_middle(tool: Sequence[str | None], who: Sequence[str | None]) -> str:
    """Return the middle of the journal line of an ordinary call that succeeded. The middle is
    the same for every call to one tool by one client. ``tool`` is the tool's name and skill, and
    ``who`` is the columns from ``client_name`` to ``host``."""
    name, skill = tool
    return f"{names(name, 'ok', skill)},{names(*who)},null,null"


def plain_line(
    call_id: str,
    started: float,
    seconds: float,
    middle: str,
    queue_seconds: float,
    main_seconds: float,
    undo_id: str | None,
    place: str,
    arguments: str,
) -> bytes:
    """Return the journal line of a call with a :func:`plain_middle`, in a quarter of the time that
    :func:`to_line` takes. ``call_id`` is one of our own ids, ``place`` is a CallPlace's
    :func:`names`, and ``arguments`` comes from :meth:`Redactor.json`."""
    # Times are written as integers with an exponent, because floats take three times as long to
    # format.
    return (
        f'["{call_id}",{int(started * 1e6)}e-6,{int(seconds * 1e6)}e-3,{middle},'
        f"{int(queue_seconds * 1e6)}e-3,{int(main_seconds * 1e6)}e-3,"
        f"{'null' if undo_id is None else _name(undo_id)},null,null,null,{place}]"
        f"\t{arguments}\t\n"
    ).encode("ascii")


def _name(text: str | None) -> str:
    if text is None:
        return "null"
    return encode_basestring_ascii(text if len(text) <= MAX_NAME else text[:MAX_NAME] + "…")


def names(*texts: str | None) -> str:
    """Return the texts as JSON, joined by commas."""
    for text in texts:
        if text is not None and len(text) > MAX_NAME:
            # These aren't cached, because clients choose them and may choose many.
            return _join(*texts)
    return _join_known(*texts)


def _join(*texts: str | None) -> str:
    return ",".join(map(_name, texts))


_join_known = lru_cache(maxsize=512)(_join)


def to_row(line: bytes) -> list[Any] | None:
    """Return the columns of a journal line, or None when the line is damaged."""
    try:
        head, arguments, result = line.decode("ascii").rstrip("\n").split("\t")
        row = json.loads(head)
    except ValueError:
        return None
    if isinstance(row, list) and len(row) < len(COLUMNS) - 2 - len(CallPlace._fields):
        # The line is from a version whose records had no context and no client, or not even a
        # holder.
        if len(row) == len(COLUMNS) - 4 - len(CallPlace._fields):
            row.insert(_HOLDER, None)
        row.insert(_CLIENT, None)
        row += [None] * len(CallPlace._fields)
    if not isinstance(row, list) or len(row) != len(COLUMNS) - 2:
        return None
    if row[_MISSING] is not None:
        row[_MISSING] = _encode(row[_MISSING])
    if "\\ud" in head:
        # A client may send half a surrogate pair, but SQLite accepts only text that UTF-8 can
        # express.
        row = [
            item.encode("utf-8", "replace").decode() if isinstance(item, str) else item
            for item in row
        ]
    return [*row, arguments or None, result or None]


def to_record(row: Sequence[Any]) -> CallRecord:
    """Return the record of a row whose columns are in the order of :data:`COLUMNS`."""
    fields = dict(zip(COLUMNS, row, strict=True))
    for name in ("arguments", "result"):
        if fields[name] is not None:
            fields[name] = json.loads(fields[name])
    fields["missing"] = tuple(json.loads(fields["missing"])) if fields["missing"] else ()
    return CallRecord(**fields)
