"""Sends records from the database to a destination such as a file, a syslog or an ingest URL. It is
off unless it is configured.

The database remembers what was sent, so a restart neither loses nor repeats records. Only one
exporter per destination works at a time, however many processes share the records. A batch whose
answer got lost is sent again unchanged. The receiver can recognize duplicate records by their ids;
a sender alone can't prevent duplicates.
"""

from __future__ import annotations

import logging
import os
import random
import sqlite3
import threading
import time
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from callboard.ground.file_lock import lock
from callboard.guest.thread_pause import PausableEvent, PythonPermit, go_on
from callboard.records import schema
from callboard.records.model import CallRecord

_log = logging.getLogger(__name__)


class NotSent(Exception):
    """Raised by a sink that couldn't send. If ``hopeless`` is true, sending the same records again
    won't help."""

    def __init__(self, reason: str, *, hopeless: bool = False) -> None:
        super().__init__(reason)
        self.hopeless = hopeless


class Sink(Protocol):
    """A destination for records. ``key`` identifies it in the database. ``batch`` is the number of
    records sent at once. ``every`` is the number of seconds between two checks for new records, and
    ``longest_wait`` the maximum number of seconds between two attempts."""

    key: str
    batch: int
    every: float
    longest_wait: float

    def send(self, records: list[CallRecord]) -> None:
        """Send records, the oldest first. Runs on the exporter's thread. Raises OSError or
        NotSent."""


class Exporter:
    """Sends new records from ``folder`` to a sink, in its own thread. Records made before the first
    start are never sent. ``status`` is a short text for the panel; read it from any thread."""

    def __init__(self, folder: Path, sink: Sink) -> None:
        self.status = "not started"
        self._folder = folder
        self._sink = sink
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
        """Stop, waiting at most ``timeout`` seconds for a batch under way. If the batch takes
        longer, it is sent again next time."""
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
                wait = self._sink.every
            except (OSError, sqlite3.Error, NotSent) as error:
                failures += 1
                # Half of the wait is random, so that the machines of a studio don't all retry at
                # once.
                longest = min(self._sink.every * 2**failures, self._sink.longest_wait)
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
        name = sha256(self._sink.key.encode()).hexdigest()[:12]
        fd = os.open(self._folder / f"exporter-{name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
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
                while not self._stop.is_set() and (rows := _after(db, last, self._sink.batch)):
                    self._send(db, rows)
                    last = rows[-1][0]
        finally:
            os.close(fd)

    def _position(self, db: sqlite3.Connection) -> int:
        row = db.execute(
            "SELECT last_seq FROM exports WHERE target = ?", (self._sink.key,)
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
        db.execute("INSERT OR REPLACE INTO exports VALUES (?, ?)", (self._sink.key, last))

    def _send(self, db: sqlite3.Connection, rows: list[tuple[Any, ...]]) -> None:
        """Send a batch. A batch that is refused as wrong is halved until the wrong record is alone
        and can be left out. Raises OSError or NotSent when the rest must be tried again."""
        records = [schema.to_record(row[1:]) for row in rows]
        try:
            self._sink.send(records)
        except NotSent as refusal:
            if not refusal.hopeless:
                raise
            if len(rows) > 1:
                half = len(rows) // 2
                self._send(db, rows[:half])
                self._send(db, rows[half:])
                return
            _log.warning("export: call %s was not accepted (%s)", records[0].call_id, refusal)
        else:
            self.status = f"sent {len(rows)}"
        self._remember(db, rows[-1][0])


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", None)
    return str(reason or error)


def _after(db: sqlite3.Connection, last: int, count: int) -> list[tuple[Any, ...]]:
    return db.execute(
        f"SELECT seq, {', '.join(schema.COLUMNS)} FROM calls WHERE seq > ? ORDER BY seq LIMIT ?",
        (last, count),
    ).fetchall()
