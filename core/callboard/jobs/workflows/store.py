"""What is written down of every workflow run, so that a killed process leaves no run that seems
to go on."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
from pathlib import Path

from callboard.content import Json
from callboard.hosting.file_lock import lock
from callboard.hosting.replacing import replacing

#: Runs that are kept on disk.
KEPT = 200

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
INTERRUPTED = (
    "the process that ran it ended before the workflow did; look at the scene before running it "
    "again"
)


class RunStore:
    """One small file a run. Whoever writes holds a lock for as long as its process lives. Any
    thread, one at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._owner = secrets.token_hex(8)
        self._lock: int | None = None

    def save(self, run: Json) -> None:
        """Replaces the run's file, whole or not at all. Raises OSError, HostError."""
        if self._lock is None:
            self._open()
        with replacing(str(self._folder / f"{run['run_id']}.json")) as partial:
            text = json.dumps({**run, "owner": self._owner}, ensure_ascii=False)
            Path(partial).write_text(text, encoding="utf-8", errors="surrogatepass")

    def read(self, id: str) -> Json | None:
        """The run, or None where there is none. One whose process is gone is ``interrupted``."""
        if not _ID.fullmatch(id):
            return None
        return self._read(self._folder / f"{id}.json")

    def recent(self, limit: int) -> list[Json]:
        """The newest runs, newest first."""
        runs = (self._read(path) for path in self._files()[:limit])
        return [run for run in runs if run is not None]

    def close(self) -> None:
        """Gives up the lock: what is still said to run is interrupted from now on."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
            self._lock_file(self._owner).unlink(missing_ok=True)

    def _open(self) -> None:
        # Results may be anything; nobody else may read them.
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._lock_file(self._owner), os.O_RDWR | os.O_CREAT, 0o600)
        lock(descriptor)
        self._lock = descriptor
        for old in self._files()[KEPT:]:
            with contextlib.suppress(OSError):
                old.unlink()

    def _files(self) -> list[Path]:
        dated: list[tuple[float, Path]] = []
        for path in self._folder.glob("*.json"):
            with contextlib.suppress(OSError):
                dated.append((path.stat().st_mtime, path))
        return [path for _, path in sorted(dated, reverse=True)]

    def _read(self, path: Path) -> Json | None:
        try:
            run = json.loads(path.read_text(encoding="utf-8", errors="surrogatepass"))
            owner = run.pop("owner")
        except (OSError, ValueError, KeyError, AttributeError):
            return None
        if run.get("status") == "running" and not self._lives(str(owner)):
            run.update(status="interrupted", message=INTERRUPTED)
        return dict(run)

    def _lives(self, owner: str) -> bool:
        if owner == self._owner:
            return self._lock is not None
        try:
            descriptor = os.open(self._lock_file(owner), os.O_RDWR)
        except OSError:
            return False
        try:
            lock(descriptor)
        except OSError:
            return True
        finally:
            os.close(descriptor)
        with contextlib.suppress(OSError):
            self._lock_file(owner).unlink()
        return False

    def _lock_file(self, owner: str) -> Path:
        return self._folder / f"{_ID.fullmatch(owner) and owner}.lock"
