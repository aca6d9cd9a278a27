"""The export of records to an mcpeye ingest URL; off unless it is configured.

The database remembers what was sent, so a restart neither loses nor repeats records. One exporter
works at a time, however many processes share the records. A batch whose answer got lost is sent
again unchanged. The receiver can recognize its records by their ``callId``; a sender alone can't
prevent duplicates.
"""

from __future__ import annotations

import http.client
import json
import logging
import os
import random
import sqlite3
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from callboard.config import ExportTarget
from callboard.ground.file_lock import lock
from callboard.guest.thread_pause import PausableEvent, PythonPermit, go_on
from callboard.records import schema

_log = logging.getLogger(__name__)

LOCK_FILE = "exporter.lock"
#: Answers that won't change on a retry: the batch is wrong or too large.
_HOPELESS = frozenset({400, 413, 422})


def target_from(environment: Mapping[str, str]) -> ExportTarget | None:
    """Return the target that ``CALLBOARD_EXPORT_URL``, ``…_PROJECT`` and ``…_SECRET`` name, or None
    if the first isn't set. Raises ValueError, which says what is wrong."""
    url = environment.get("CALLBOARD_EXPORT_URL")
    if not url:
        return None
    project = environment.get("CALLBOARD_EXPORT_PROJECT", "")
    return ExportTarget(url, project, environment.get("CALLBOARD_EXPORT_SECRET"))


class Exporter:
    """Sends new records from ``folder``, in its own thread. Records made before the first start are
    never sent. ``status`` is a short text for the panel; read it from any thread."""

    def __init__(self, folder: Path, target: ExportTarget) -> None:
        self.status = "not started"
        self._folder = folder
        self._target = target
        self._began = time.time()
        self._stop = PausableEvent()
        self._permit = PythonPermit()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start sending, in a thread. Never raises: after each failed attempt, the thread waits
        longer."""
        if self._thread is None:
            self._stop.clear()
            self._thread = threading.Thread(
                target=self._permit.run, args=(self._run,), name="callboard-export", daemon=True
            )
            self._thread.start()

    def close(self, timeout: float = 2.0) -> None:
        """Stop, waiting at most ``timeout`` seconds for a request under way. If the request takes
        longer, its batch is sent again next time."""
        go_on()
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout)
            self._thread = None

    def _run(self) -> None:
        failures = 0
        while not self._stop.is_set():
            try:
                self._export()
                failures = 0
                wait = self._target.every
            except _TRY_AGAIN as error:
                failures += 1
                # Half of the wait is random, so that a studio's machines don't come back all at
                # once.
                longest = min(self._target.every * 2**failures, self._target.longest_wait)
                wait = longest * random.uniform(0.5, 1.0)
                self.status = f"failed: {_reason(error)}; trying again in {wait:.0f} s"
                _log.info("export %s", self.status)
            self._permit.wait(self._stop, wait)
        self.status = "stopped"

    def _export(self) -> None:
        """Send batch after batch until nothing is left."""
        path = self._folder / schema.DATABASE
        if not path.exists():
            self.status = "nothing to send"
            return
        fd = os.open(self._folder / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            try:
                lock(fd)
            except OSError:
                self.status = "another process is sending"
                return
            with closing(sqlite3.connect(path, timeout=5.0, isolation_level=None)) as db:
                if not schema.is_current(db):
                    self.status = "nothing to send"  # The writer hasn't made the tables yet.
                    return
                last = self._position(db)
                while not self._stop.is_set() and (rows := _after(db, last, self._target.batch)):
                    self._send(db, rows)
                    last = rows[-1][0]
        finally:
            os.close(fd)

    def _position(self, db: sqlite3.Connection) -> int:
        row = db.execute(
            "SELECT last_seq FROM exports WHERE target = ?", (self._target.key,)
        ).fetchone()
        if row is not None:
            return int(row[0])
        (last,) = db.execute(
            "SELECT coalesce((SELECT min(seq) - 1 FROM calls WHERE started >= ?),"
            " (SELECT max(seq) FROM calls), 0)",
            (self._began,),
        ).fetchone()
        self._remember(db, last)
        return int(last)

    def _remember(self, db: sqlite3.Connection, last: int) -> None:
        db.execute("INSERT OR REPLACE INTO exports VALUES (?, ?)", (self._target.key, last))

    def _send(self, db: sqlite3.Connection, rows: list[tuple[Any, ...]]) -> None:
        """Send one POST. A batch that is refused as wrong is halved until the wrong record is alone
        and can be left out. Raises OSError or _Refused when the rest must be tried again."""
        events = [schema.to_record(row[1:]).as_event() for row in rows]
        try:
            self._post(events)
        except _Refused as refusal:
            if refusal.status not in _HOPELESS:
                raise
            if len(rows) > 1:
                half = len(rows) // 2
                self._send(db, rows[:half])
                self._send(db, rows[half:])
                return
            _log.warning("export: call %s was not accepted (%s)", events[0]["callId"], refusal)
        else:
            self.status = f"sent {len(rows)}"
        self._remember(db, rows[-1][0])

    def _post(self, events: list[dict[str, Any]]) -> None:
        body = {"projectId": self._target.project_id, "identity": {}, "events": events}
        headers = {"Content-Type": "application/json"}
        if self._target.secret:
            headers["x-mcpeye-secret"] = self._target.secret
        request = urllib.request.Request(
            self._target.endpoint, json.dumps(body).encode(), headers, method="POST"
        )
        try:
            # Once the answer begins, the batch has arrived; the rest of the answer doesn't matter.
            with (
                _OPENER.open(request, timeout=self._target.timeout) as answer,
                suppress(OSError, http.client.HTTPException),
            ):
                answer.read(65_536)
        except urllib.error.HTTPError as error:
            error.close()
            raise _Refused(error.code) from None


class _Refused(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(f"the ingest answered {status}")
        self.status = status


#: The errors of an ingest that can't be reached, or answers badly, and of a busy database.
_TRY_AGAIN = (OSError, sqlite3.Error, http.client.HTTPException, _Refused)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects, which would take records and the secret to an unknown host."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirects)


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", None)
    return str(reason or error)


def _after(db: sqlite3.Connection, last: int, count: int) -> list[tuple[Any, ...]]:
    return db.execute(
        f"SELECT seq, {', '.join(schema.COLUMNS)} FROM calls WHERE seq > ? ORDER BY seq LIMIT ?",
        (last, count),
    ).fetchall()
