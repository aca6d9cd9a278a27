"""The report on many people's records: who called what, from which workstation, and how it ended.

It contains names and numbers only, never arguments or messages.
"""

from __future__ import annotations

import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from callboard.content import json_object
from callboard.errors import UNKNOWN_TOOL
from callboard.ground.plain_text import plain
from callboard.ground.regular_file import refuse_special
from callboard.records.journal import journals
from callboard.records.model import UNFINISHED
from callboard.records.reader import EVERYTHING, Reader
from callboard.records.redaction import Redactor
from callboard.records.schema import DATABASE

#: The columns by which calls are counted, each with its name in the report.
BY = {"user": "user", "machine": "workstation", "client": "client", "tool": "tool"}
#: The paths of the records below a home folder, or below a folder that CALLBOARD_HOME names.
_PLACES = (
    "",
    "records",
    ".local/share/callboard/records",
    "Library/Application Support/callboard/records",
    "AppData/Local/callboard/records",
)
#: Stands for what an older version didn't record, and for tools that don't exist, whose names
#: clients make up.
UNKNOWN, NO_SUCH_TOOL = "not recorded", "no such tool"
#: The outcomes of calls that failed, and of those that were refused.
FAILED, REFUSED = ("error", "timeout", "busy", "cancelled"), ("refused", "paused")
_SUCH = f"substr(coalesce(error_message, ''), 1, {len(UNKNOWN_TOOL) - 1}) = 'unknown tool '"
_QUERY = f"""
SELECT user, machine, client, CASE WHEN {_SUCH} THEN '{NO_SUCH_TOOL}' ELSE tool END,
 count(*), sum(outcome IN {FAILED}), sum(outcome IN {REFUSED}), sum(outcome = '{UNFINISHED}'),
 sum(duration_ms), max(started)
FROM {EVERYTHING} WHERE started >= ? AND started < ? GROUP BY 1, 2, 3, 4"""


class Row(NamedTuple):
    """The calls to one tool by one client of one user on one workstation, and how they ended."""

    user: str
    machine: str
    client: str
    tool: str
    calls: int
    failed: int
    refused: int
    unfinished: int
    milliseconds: float
    last: float


@dataclass
class _Sum:
    calls: int = 0
    failed: int = 0
    refused: int = 0
    unfinished: int = 0
    milliseconds: float = 0.0
    last: float = 0.0
    names: dict[str, set[str]] = field(default_factory=lambda: {column: set() for column in BY})

    def add(self, row: Row) -> None:
        self.calls += row.calls
        self.failed += row.failed
        self.refused += row.refused
        self.unfinished += row.unfinished
        self.milliseconds += row.milliseconds
        self.last = max(self.last, row.last)
        for column, names in self.names.items():
            names.add(getattr(row, column))

    def as_json(self) -> dict[str, Any]:
        last = datetime.fromtimestamp(self.last).astimezone().isoformat(timespec="seconds")
        return {
            "calls": self.calls,
            "failed": self.failed,
            "refused": self.refused,
            "unfinished": self.unfinished,
            "hours": round(self.milliseconds / 3_600_000, 3),
            **{f"{BY[column]}s": len(names) for column, names in self.names.items()},
            "lastSeen": last if self.calls else None,
        }


def build(
    paths: Sequence[Path], *, since: float | None = None, until: float | None = None
) -> dict[str, Any]:
    """Return the report on the calls in all ``paths``: homes, folders of records, databases, and
    files of JSON lines that the setting ``records_to`` made. Only calls that started in [since,
    until), in Unix seconds, count. Anything unreadable is listed in the report. Reads every call of
    the period."""
    begin, end = 0.0 if since is None else since, time.time() if until is None else until
    unread: list[dict[str, str]] = []
    total, sums = _Sum(), {column: defaultdict[str, _Sum](_Sum) for column in BY}
    for path in paths:
        try:
            rows = list(_rows(path, begin, end))
        except (OSError, ValueError, sqlite3.Error) as error:
            why = getattr(error, "strerror", None) or str(error)
            unread.append({"path": str(path), "why": why})
            continue
        for row in rows:
            total.add(row)
            for column, by_name in sums.items():
                by_name[getattr(row, column)].add(row)
    return {
        "since": None if since is None else datetime.fromtimestamp(since).astimezone().isoformat(),
        "sources": len(paths),
        "unread": unread,
        **total.as_json(),
        **{f"by{BY[column].title()}": _ranked(by_name) for column, by_name in sums.items()},
    }


def _ranked(by_name: dict[str, _Sum]) -> list[dict[str, Any]]:
    ranked = sorted(by_name.items(), key=lambda each: (-each[1].calls, each[0]))
    return [{"name": name, **one.as_json()} for name, one in ranked]


def _rows(path: Path, since: float, until: float) -> Iterator[Row]:
    """Yield the calls below a path. Raises OSError, sqlite3.Error or ValueError."""
    if path.is_file() and path.suffix != Path(DATABASE).suffix:
        yield from _of_lines(path, since, until)
        return
    folder = _records(path)
    with Reader(folder).connect() as db:
        for row in db.execute(_QUERY, (since, until)):
            yield _named(row)


def _records(path: Path) -> Path:
    """Return the folder of records that a path refers to. Raises ValueError."""
    if path.is_file():
        return path.parent
    for place in _PLACES:
        folder = path / place
        if (folder / DATABASE).exists() or (folder.is_dir() and journals(folder)):
            return folder
    raise ValueError("there are no records in it")


def _of_lines(path: Path, since: float, until: float) -> Iterator[Row]:
    refuse_special(path)
    began = 0
    #: A change may have two lines: one when it begins, and one when it ends.
    ended: dict[str, tuple[Any, ...]] = {}
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            one = json_object(line)
            if one is None or not isinstance(one.get("started"), (int, float)):
                continue
            began += 1
            if since <= one["started"] < until:
                outcome = str(one.get("outcome"))
                unknown = str(one.get("error_message", "")).startswith(UNKNOWN_TOOL)
                tool = NO_SUCH_TOOL if unknown else one.get("tool")
                counts = (1, *(outcome in those for those in (FAILED, REFUSED, (UNFINISHED,))))
                who = one.get("user"), one.get("machine"), one.get("client"), tool
                spent = one.get("duration_ms")
                spent = spent if isinstance(spent, (int, float)) else 0.0
                ended[str(one.get("call_id"))] = (*who, *counts, spent, one["started"])
    if not began:
        raise ValueError("there are no records in it")
    yield from map(_named, ended.values())


_redact = lru_cache(maxsize=4096)(Redactor(home="", user="").text)


def _named(row: Sequence[Any]) -> Row:
    """Return a row with names that are safe to show: clients choose some of them."""
    names = (UNKNOWN if each is None else " ".join(str(each).split())[:200] for each in row[:4])
    user, machine, client, tool = (_redact(plain(name)) for name in names)
    return Row(user, machine, client, tool, *row[4:])
