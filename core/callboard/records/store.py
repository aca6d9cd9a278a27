"""The store of calls. By the time a call is answered, its record is safe even if the process is
killed. Storing a record is cheap, and can't make the call fail unless the ``records`` setting is
``required``.

:meth:`Store.record` appends one line to a journal and returns; one writer thread folds the journal
into SQLite. When neither can be written, records stay in memory until one can. Records that are
lost then, because there are too many or because the process ends, are counted and reported.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from callboard.ground.folders import data_folder
from callboard.guest.thread_pause import PausableEvent, PythonPermit, go_on
from callboard.records import schema
from callboard.records.journal import HEADER, Journal, JournalCut, is_abandoned, journals
from callboard.records.model import CallRecord
from callboard.records.redaction import Redactor
from callboard.records.retention import Retention

if TYPE_CHECKING:
    from callboard.records.database import Database
    from callboard.records.reader import Reader

_log = logging.getLogger(__name__)
T = TypeVar("T")

#: Number of seconds that the writer waits for more records before it folds, so that it wakes up at
#: most twice a second.
GATHER = 0.5
#: Maximum number of seconds that the writer waits while calls keep arriving, because folding slows
#: them down.
BUSY = 5.0
#: Maximum number of bytes that wait to be folded, however busy the server is.
BACKLOG = 2**19
#: Seconds between attempts while something can't be written.
RETRY = 30.0
#: A folded journal of this many bytes is replaced with an empty one.
ROTATE = 2**20
#: Maximum number of records kept while nothing can be written. The oldest are dropped first.
MEMORY = 10_000


def default_folder() -> Path:
    """The user's data folder for records. It isn't created."""
    return data_folder() / "records"


class Store:
    """The records of this process, in a folder shared with the other processes of this machine.

    If ``results`` is true, the results of calls are also kept, so that an exporter can send them.
    ``warn`` is called with a sentence when records can't be written to disk, on the thread that
    notices this.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        redactor: Redactor | None = None,
        retention: Retention | None = None,
        warn: Callable[[str], None] | None = None,
        results: bool = False,
        retry: float = RETRY,
    ) -> None:
        self.folder = folder or default_folder()
        self.degraded: str | None = None
        self._redactor = redactor or Redactor()
        self._retention = retention or Retention()
        self._warn = warn or _log.warning
        self._warned = False
        self.results = results
        self._retry = retry
        self._lock = threading.Lock()
        self._journal: Journal | None = None
        self._memory: deque[bytes] = deque(maxlen=MEMORY)
        #: The number of records that couldn't be kept.
        self._lost = 0
        self._writable = False
        #: True when the database was locked in the last round.
        self._late = False
        self._dirty = False
        self._wake = PausableEvent()
        self._hurry = PausableEvent()
        self._stopping = False
        self._folded = threading.Condition()
        # These count the rounds that have begun, and those that have finished.
        self._rounds = (0, 0)
        self._thread: threading.Thread | None = None
        self._permit = PythonPermit()
        self._database: Database | None = None

    def hiding(self, find: Callable[[str], T], own: str | None) -> Callable[[str], T]:
        """Return a wrapper of ``find``, the function that returns the holder of a token. The
        wrapper hides each token that has a holder in every later record, because tokens have no
        recognizable form. Also hides ``own``, this server's token. Call it where calls are
        recorded: on the server's loop."""
        if own is not None:
            self._redactor.hide(own)

        def original(token: str) -> T:
            known = find(token)
            if known is not None:
                self._redactor.hide(token)
            return known

        return original

    @property
    def redactor(self) -> Redactor:
        """The redactor that removes secrets from the records."""
        return self._redactor

    def open(self) -> None:
        """Create the journal and start the writer. Call it from any thread. Never raises, even if
        the disk can't be written to."""
        if self._thread is not None:
            return
        self._stopping = False
        with self._lock:
            self._revive()
        self._dirty = True  # The journals that other processes left behind are folded first.
        self._wake.set()
        self._thread = threading.Thread(
            target=self._permit.run, args=(self._run,), name="callboard-records", daemon=True
        )
        self._thread.start()

    def record(self, call: CallRecord) -> bool:
        """Keep a call. Return whether the call is now safe even if the process is killed. Call it
        from any thread. Never raises, never waits for the database."""
        try:
            with_result = self.results or call.outcome == "error"
            line = schema.to_line(call, self._redactor, with_result=with_result)
        except Exception:  # The call is answered even if its record can't be written.
            _log.exception("a call to %.80r could not be recorded", call.tool)
            return False
        return self._keep(line)

    def record_plain(
        self,
        call_id: str,
        started: float,
        seconds: float,
        middle: str,
        queue_seconds: float,
        main_seconds: float,
        undo_id: str | None,
        place: str,
        arguments: Any,
    ) -> bool:
        """Keep a call that succeeded and whose result isn't kept, in less time than :meth:`record`;
        see :func:`schema.plain_line`. Return whether it is safe."""
        try:
            text = self._redactor.plain(arguments) or self._redactor.json(arguments)
            line = schema.plain_line(
                call_id, started, seconds, middle, queue_seconds, main_seconds, undo_id, place, text
            )
        except Exception:
            _log.exception("call %.80r could not be recorded", call_id)
            return False
        return self._keep(line)

    def _keep(self, line: bytes) -> bool:
        with self._lock:
            kept = False
            if self._writable and self._journal is not None:
                try:
                    self._append(self._journal, line)
                    kept = True
                except OSError as error:
                    self._remember(line)
                    self._degrade(_reason(error))
            else:
                self._remember(line)
        if not self._dirty:
            self._dirty = True
            self._wake.set()
        return kept

    def _remember(self, line: bytes) -> None:
        self._lost += len(self._memory) == MEMORY
        self._memory.append(line)

    def can_keep(self) -> bool:
        """Return whether a record made now would be safe. If the store isn't writable, try to fix
        that before answering. Call it from any thread. Never raises."""
        if not self._writable:
            with self._lock:
                self._revive()
            self._dirty = True
            self._wake.set()
        return self._writable

    @property
    def trouble(self) -> str | None:
        """A sentence about the records that aren't kept on disk, or None. Read it from any
        thread."""
        if self.degraded is None:
            return None
        waiting = f"; {_are(len(self._memory))} in memory only" if self._memory else ""
        lost = f", and {_are(self._lost)} lost" if self._lost else ""
        return f"calls aren't recorded in {self.folder} ({self.degraded}){waiting}{lost}"

    def flush(self, timeout: float = 5.0) -> bool:
        """Wait until everything recorded so far is in the database. Return whether it is. Don't
        call it on the main thread."""
        if self._thread is None:
            return False
        with self._folded:
            wanted = self._rounds[0] + 1
            self._dirty = True
            self._hurry.set()
            self._wake.set()
            self._folded.wait_for(lambda: self._rounds[1] >= wanted, timeout)
            done = self._rounds[1] >= wanted
        return done and self.degraded is None and not self._late

    def close(self, timeout: float = 5.0) -> None:
        """Fold what is left and stop the writer. The next process that opens the folder folds
        whatever isn't folded in time."""
        thread = self._thread
        if thread is None:
            return
        self._stopping = True
        go_on()
        self._hurry.set()
        self._wake.set()
        thread.join(timeout)
        self._thread = None

    def reader(self) -> Reader:
        """Return a reader of every record, including those in memory."""
        from callboard.records.reader import Reader

        return Reader(self.folder, memory=self._in_memory)

    def _in_memory(self) -> list[bytes]:
        with self._lock:
            return list(self._memory)

    # The writer thread

    def _run(self) -> None:
        try:
            while True:
                waits = self.degraded or self._late
                self._permit.wait(self._wake, self._retry if waits else None)
                if not self._stopping:
                    self._gather()
                with self._folded:
                    self._hurry.clear()
                    self._wake.clear()
                    self._dirty = False
                    stopping = self._stopping
                    self._rounds = (self._rounds[0] + 1, self._rounds[1])
                done = self._round()
                with self._folded:
                    self._rounds = (self._rounds[0], self._rounds[0])
                    self._folded.notify_all()
                if stopping:
                    self._retire(done)
                    return
        finally:
            self._leave_database()

    def _gather(self) -> None:
        """Wait until no more calls are being recorded, or until a recorded call can't wait any
        longer."""
        deadline = monotonic() + BUSY
        size = self._size()
        while not self._permit.wait(self._hurry, GATHER):
            before, size = size, self._size()
            if size == before or size >= BACKLOG or monotonic() >= deadline:
                return

    def _size(self) -> int:
        """The number of bytes that wait to be folded."""
        journal = self._journal
        return 0 if journal is None else journal.size - journal.folded

    def _round(self) -> bool:
        """Fold this process's journal and abandoned ones. Return whether that worked."""
        # Imported here, because it loads SQLite, which the writer needs only after the server has
        # begun to answer.
        from callboard.records.database import StorageFailure, is_damaged, is_locked

        with self._lock:
            if not self._writable:
                self._revive()
            journal, writable = self._journal, self._writable
        try:
            self._fold_all(journal)
        except FileNotFoundError:
            self._begin_again()
            return False
        except schema.NewerSchema as error:
            reason = f"{error}; update callboard"
        except StorageFailure as error:
            if is_locked(error):  # The journal keeps the calls while a report is being made.
                self._late = True
                return False
            reason = _reason(error)
            if is_damaged(error):
                return self._replace_database()
        else:
            self._late = False
            if writable:
                self.degraded = None
            return writable
        with self._lock:
            self._degrade(reason)
        return False

    def _fold_all(self, journal: Journal | None) -> None:
        if self._database is None:
            from callboard.records.database import Database

            self._database = Database(self.folder, self._retention, self._permit)
        if journal is not None:
            journal.folded = self._database.fold(journal.path, journal.folded, journal.size)
        for path in journals(self.folder):
            if (journal is None or path != journal.path) and is_abandoned(path):
                self._database.fold(path, 0)
                path.unlink(missing_ok=True)
        if journal is not None:
            self._rotate(journal, self._database)
        self._database.retain()

    def _rotate(self, journal: Journal, database: Database) -> None:
        with self._lock:
            if journal is not self._journal or journal.folded < ROTATE:
                return
            self._journal = Journal(self.folder)
        try:
            database.fold(journal.path, journal.folded)
        finally:
            # If that failed, the next round finds it abandoned.
            journal.close()
        journal.path.unlink(missing_ok=True)

    def _replace_database(self) -> bool:
        """Set a damaged database aside. A new one then takes everything that the journal still
        holds."""
        from callboard.records.database import set_aside

        self._leave_database()
        try:
            set_aside(self.folder)
        except OSError as error:
            with self._lock:
                self._degrade(f"the database is damaged and can't be set aside: {error.strerror}")
            return False
        if self._journal is not None:
            self._journal.folded = 0
        self._warn("The records database was damaged. It was set aside, and a new one was begun.")
        self._wake.set()
        return False

    def _begin_again(self) -> None:
        """Start again after the user deleted the folder while it was in use."""
        self._leave_database()
        with self._lock:
            journal, self._journal, self._writable = self._journal, None, False
        if journal is not None:
            journal.close()
        self._wake.set()

    def _leave_database(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _retire(self, done: bool) -> None:
        with self._lock:
            if self._memory:
                self._revive()
            lost = self._lost + len(self._memory)
            journal, self._journal, self._writable = self._journal, None, False
        if lost:
            self._warn(f"{lost} calls are not in the records in {self.folder}: {self.degraded}.")
        if journal is None:
            return
        folded = done and journal.size == journal.folded
        journal.close()
        if folded:
            journal.path.unlink(missing_ok=True)

    # Called from any thread, with the lock held

    def _revive(self) -> None:
        """Make the journal writable again, and write the records in memory to it."""
        try:
            if self._journal is None:
                self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._journal = Journal(self.folder)
            while self._memory:
                self._append(self._journal, self._memory[0])
                self._memory.popleft()
            self._writable = True
        except OSError as error:
            self._degrade(_reason(error))

    def _append(self, journal: Journal, line: bytes) -> None:
        """Append a line, to a new journal if another program cut this one short. Raises OSError."""
        try:
            journal.append(line)
        except JournalCut:
            self._journal, self._writable = None, False
            journal.close()
            # The rest of the file is folded like another process's journal. A file without the
            # first line would never be folded or removed, so it is removed here.
            with suppress(OSError):
                if not _begins_well(journal.path):
                    journal.path.unlink()
            self._journal = Journal(self.folder)
            self._writable = True
            self._journal.append(line)

    def _degrade(self, reason: str) -> None:
        self._writable = self._journal is not None and not self._memory
        self.degraded = reason
        if not self._warned:
            self._warned = True
            self._warn(
                f"Calls can't be recorded ({reason}). They are kept in memory, and written once "
                f"recording works again."
            )


def _begins_well(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(HEADER)) == HEADER


def _are(count: int) -> str:
    return f"{count} {'is' if count == 1 else 'are'}"


def _reason(error: Exception) -> str:
    """Return only the reason for the error, because the full text of an OSError includes the
    path."""
    return getattr(error, "strerror", None) or str(error)
