"""The report on the records: missing capabilities, failures, slow calls, and call counts."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
import sqlite3
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from callboard.demand.intent import missing_capabilities
from callboard.demand.request_capability import TOOL_NAME
from callboard.demand.request_rows import RequestRows
from callboard.demand.request_wording import plain
from callboard.errors import CAPABILITY_MISSING, INVALID_PARAMS, UNKNOWN_TOOL
from callboard.records.reader import EVERYTHING, Reader

TOP = 20
EXAMPLES = 3
#: The sources of a capability, strongest first. A capability that was both requested and inferred
#: is reported as requested.
SOURCES = ("requested", "refused", "inferred")
_CONFIDENCE = {"requested": "high", "refused": "high", "inferred": "low"}


def build(
    reader: Reader,
    *,
    since: float | None = None,
    until: float | None = None,
    holder: str | None = None,
) -> dict[str, Any]:
    """Return the report on calls that started in [since, until), in Unix seconds. It contains JSON
    values only. ``holder`` is the id of the only client whose calls count, or None for all clients.
    Days are in local time. Reads every call of that period, so don't call it on the main thread.
    Raises sqlite3.Error."""
    until = time.time() if until is None else until
    rows = RequestRows(reader.folder)
    before, calls_before = _Missing(rows), 0
    with reader.connect() as db:
        missing, errors, tools, days, totals = (
            _Missing(rows),
            _Errors(),
            _Tools(),
            _Days(),
            _Totals(),
        )
        unknown = _Unknown()
        for call in _calls(db, since, until, holder):
            for part in (missing, errors, tools, days, totals, unknown):
                part.add(call)
        if since is not None:
            for call in _calls(db, max(0.0, 2 * since - until), since, holder):
                before.add(call)
                calls_before += 1
    more = (("topMissingCapabilities", missing), ("topErrors", errors), ("slowestTools", tools))
    return {
        "generatedAt": _iso(time.time()),
        "since": None if since is None else _iso(since),
        "until": _iso(until),
        **totals.result(),
        "topMissingCapabilities": missing.result(),
        "topErrors": errors.result(),
        "slowestTools": tools.result(),
        "callsPerDay": days.result(since, until),
        "unknownTools": unknown.result(),
        "refusedHere": missing.refused_here(),
        "changes": None if since is None else missing.changes(before, calls_before),
        "more": {name: max(0, len(part) - TOP) for name, part in more},
    }


class _Call(NamedTuple):
    """The columns that a report uses."""

    started: float
    duration_ms: float
    tool: str
    outcome: str
    session: str | None
    client_name: str | None
    error_code: int | None
    error_message: str | None
    queue_ms: float | None
    main_thread_ms: float | None
    intent: str | None
    missing: str | None
    arguments: str | None

    @property
    def day(self) -> dt.date:
        return dt.date.fromtimestamp(self.started)

    @property
    def is_unknown(self) -> bool:
        """True when there is no tool with the called name."""
        start = f"{UNKNOWN_TOOL}{self.tool[:200]}'"  # The tool of a workflow's step may be missing.
        return self.error_code == INVALID_PARAMS and (self.error_message or "").startswith(start)

    @property
    def visit(self) -> str:
        """The session, or else the client's name and the day, because not every protocol version
        has sessions."""
        return self.session or f"{self.client_name}, {self.day}"


def _calls(
    db: sqlite3.Connection, since: float | None, until: float, holder: str | None
) -> Iterable[_Call]:
    columns = [
        # Arguments are read only for calls to the reserved tool, where they are the request itself.
        "CASE WHEN tool = :tool THEN arguments END" if name == "arguments" else name
        for name in _Call._fields
    ]
    rows = db.execute(
        f"SELECT {', '.join(columns)} FROM {EVERYTHING} "
        "WHERE started >= :since AND started < :until AND (:holder IS NULL OR holder = :holder)",
        {
            "tool": TOOL_NAME,
            "since": 0.0 if since is None else since,
            "until": until,
            "holder": holder,
        },
    )
    return map(_Call._make, rows)


@dataclass
class _Need:
    spellings: Counter[str] = field(default_factory=Counter)
    sources: set[str] = field(default_factory=set)
    visits: set[str] = field(default_factory=set)
    examples: list[str] = field(default_factory=list)
    count: int = 0

    @property
    def name(self) -> str:
        """The most frequent spelling."""
        return self.spellings.most_common(1)[0][0]

    def other_wordings(self) -> list[str]:
        """Return other wordings, except those that differ only in case, punctuation or spaces."""
        by_words = {plain(spelling): spelling for spelling in reversed(self.spellings)}
        by_words.pop(plain(self.name), None)
        return list(reversed(by_words.values()))[:EXAMPLES]


class _Missing:
    def __init__(self, rows: RequestRows) -> None:
        self._rows = rows
        self._needs: dict[str, _Need] = defaultdict(_Need)

    def add(self, call: _Call) -> None:
        if call.tool == TOOL_NAME:
            arguments = _object(call.arguments)
            capability = arguments.get("capability")
            if capability not in (None, ""):
                spelling = capability if isinstance(capability, str) else json.dumps(capability)
                context = arguments.get("context")
                self._note(call, spelling, "requested", context if isinstance(context, str) else "")
        elif call.error_code == CAPABILITY_MISSING and call.missing:
            for capability in json.loads(call.missing):
                self._note(call, capability, "refused", f"refused: {call.tool}")
        if call.intent:
            for capability in missing_capabilities(call.intent):
                self._note(call, capability, "inferred", call.intent)

    def _note(self, call: _Call, capability: str, source: str, example: str) -> None:
        spelling = _line(capability)
        if not plain(spelling):
            return
        need = self._needs[self._rows.key(spelling)]
        need.count += 1
        need.spellings[spelling] += 1
        need.sources.add(source)
        need.visits.add(call.visit)
        example = _line(example)
        if example and example not in need.examples and len(need.examples) < EXAMPLES:
            need.examples.append(example)

    def __len__(self) -> int:
        return len(self._needs)

    def refused_here(self) -> list[str]:
        """Return the capabilities that a called tool needs, but that this host didn't offer or the
        artist withdrew. Nothing has to be built for these."""
        needs = self._needs.values()
        return sorted(need.name for need in needs if "refused" in need.sources)

    def changes(self, before: _Missing, calls: int) -> dict[str, Any]:
        """Compare this period with the one before it, which was equally long and had ``calls``
        calls."""
        new, gone = self._needs.keys() - before._needs.keys(), before._needs.keys() - self._needs
        return {
            "callsBefore": calls,
            "new": sorted(self._needs[key].name for key in new)[:TOP],
            "gone": sorted(before._needs[key].name for key in gone)[:TOP],
        }

    def result(self) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = []
        for need in self._needs.values():
            source = next(source for source in SOURCES if source in need.sources)
            entries.append(
                {
                    "capability": need.name,
                    "count": need.count,
                    "sessions": len(need.visits),
                    "source": source,
                    "confidence": _CONFIDENCE[source],
                    "examples": [*need.examples, *need.other_wordings()],
                }
            )
        entries.sort(
            key=lambda e: (-e["sessions"], -e["count"], SOURCES.index(e["source"]), e["capability"])
        )
        return entries[:TOP]


@dataclass
class _Fault:
    message: str
    outcome: str
    count: int = 0
    last: float = 0.0
    visits: set[str] = field(default_factory=set)


class _Unknown:
    """Tools that were called but don't exist."""

    def __init__(self) -> None:
        self._visits: dict[str, list[str]] = defaultdict(list)

    def add(self, call: _Call) -> None:
        if call.is_unknown:
            self._visits[_line(call.tool)].append(call.visit)

    def result(self) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = [
            {"tool": tool, "count": len(visits), "sessions": len(set(visits))}
            for tool, visits in self._visits.items()
        ]
        entries.sort(key=lambda e: (-e["sessions"], -e["count"], e["tool"]))
        return entries[:TOP]


class _Errors:
    def __init__(self) -> None:
        self._faults: dict[tuple[str, int | None, str], _Fault] = {}

    def __len__(self) -> int:
        return len(self._faults)

    def add(self, call: _Call) -> None:
        # A missing capability isn't an error of the tool: it is listed with the missing
        # capabilities.
        if call.outcome in ("ok", "cancelled") or call.error_code == CAPABILITY_MISSING:
            return
        if call.is_unknown:
            return
        message = _line(call.error_message or call.outcome)
        # The same mistake about a different object or number is treated as the same mistake.
        kind = re.sub(r"'[^']*'|\"[^\"]*\"|\d+", "…", message)
        fault = self._faults.setdefault(
            (call.tool, call.error_code, kind), _Fault(message, call.outcome)
        )
        fault.count += 1
        fault.last = max(fault.last, call.started)
        fault.visits.add(call.visit)

    def result(self) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = [
            {
                "tool": tool,
                "code": code,
                "outcome": fault.outcome,
                "message": fault.message,
                "count": fault.count,
                "sessions": len(fault.visits),
                "lastSeen": _iso(fault.last),
            }
            for (tool, code, _), fault in self._faults.items()
        ]
        entries.sort(key=lambda e: (-e["count"], e["tool"], e["message"]))
        return entries[:TOP]


class _Tools:
    def __init__(self) -> None:
        self._durations: dict[str, list[float]] = defaultdict(list)
        self._waits: dict[str, list[float]] = defaultdict(list)
        self._main: dict[str, list[float]] = defaultdict(list)

    def __len__(self) -> int:
        return len(self._durations)

    def add(self, call: _Call) -> None:
        if call.tool == TOOL_NAME or call.outcome not in ("ok", "error", "timeout"):
            return
        if call.is_unknown:
            return
        self._durations[call.tool].append(call.duration_ms)
        if call.queue_ms is not None:
            self._waits[call.tool].append(call.queue_ms)
        if call.main_thread_ms is not None:
            self._main[call.tool].append(call.main_thread_ms)

    def result(self) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = [
            {
                "tool": tool,
                "calls": len(durations),
                "medianMs": _rounded(statistics.median(durations)),
                "p95Ms": _percentile(durations, 0.95),
                "maxMs": _rounded(max(durations)),
                "queueP95Ms": _percentile(self._waits[tool], 0.95),
                "mainThreadP95Ms": _percentile(self._main[tool], 0.95),
            }
            for tool, durations in self._durations.items()
        ]
        entries.sort(key=lambda e: (-(e["p95Ms"] or 0.0), e["tool"]))
        return entries[:TOP]


class _Days:
    def __init__(self) -> None:
        self._days: dict[dt.date, Counter[str]] = defaultdict(Counter)

    def add(self, call: _Call) -> None:
        kind = {"ok": "ok", "refused": "refused"}.get(call.outcome, "errors")
        self._days[call.day][kind] += 1

    def result(self, since: float | None, until: float) -> list[dict[str, Any]]:
        """Return every day of the period, including days without calls, but at most a year."""
        if not self._days:
            return []
        first = min(self._days) if since is None else dt.datetime.fromtimestamp(since).date()
        last = max(dt.datetime.fromtimestamp(until).date(), max(self._days))
        first = max(first, last - dt.timedelta(days=366))
        days = [first + dt.timedelta(days=n) for n in range((last - first).days + 1)]
        return [
            {
                "date": day.isoformat(),
                "calls": sum(self._days[day].values()),
                "errors": self._days[day]["errors"],
                "refused": self._days[day]["refused"],
            }
            for day in days
        ]


class _Totals:
    def __init__(self) -> None:
        self._outcomes: Counter[str] = Counter()
        self._visits: set[str] = set()
        self._clients: set[str] = set()

    def add(self, call: _Call) -> None:
        self._outcomes[call.outcome] += 1
        self._visits.add(call.visit)
        if call.client_name:
            self._clients.add(_line(call.client_name))

    def result(self) -> dict[str, Any]:
        return {
            "calls": sum(self._outcomes.values()),
            "sessions": len(self._visits),
            "clients": sorted(self._clients)[:TOP],
            "outcomes": dict(sorted(self._outcomes.items())),
        }


def _percentile(values: list[float], share: float) -> float | None:
    """Return the smallest of the values such that at least ``share`` of them are no greater."""
    if not values:
        return None
    ordered = sorted(values)
    return _rounded(ordered[math.ceil(len(ordered) * share) - 1])


def _rounded(value: float) -> float:
    return round(value, 3)


def _line(text: str) -> str:
    """Return a string as one line for any terminal and file: without the control characters that
    affect a terminal, and without unpaired surrogates."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]", "�", " ".join(text.split()))[:300]


def _object(text: str | None) -> dict[str, Any]:
    value = json.loads(text) if text else None
    return value if isinstance(value, dict) else {}


def _iso(seconds: float) -> str:
    return dt.datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")
