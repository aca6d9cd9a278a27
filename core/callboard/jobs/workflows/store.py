"""The files of workflow runs. They show which runs were interrupted because their process was
killed."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
from itertools import islice
from pathlib import Path

from callboard.clients.holder import LOCAL, token_hash
from callboard.clients.owner import Owner
from callboard.content import Json
from callboard.ground.atomic_write import replacing
from callboard.ground.file_lock import lock

#: Maximum number of runs that are kept on disk.
KEPT = 200

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
INTERRUPTED = (
    "the process that ran it ended before the workflow did; look at the scene before running it "
    "again"
)


class RunStore:
    """One small file for each run. Each process that writes runs holds a lock for as long as it
    lives. Call it from any thread, but only from one at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        #: The name of this process, under which its lock is held.
        self._process = secrets.token_hex(8)
        self._lock: int | None = None

    def save(self, run: Json, owner: Owner) -> None:
        """Replace the run's file atomically. Raises OSError or HostError."""
        if self._lock is None:
            self._open()
        with replacing(str(self._folder / f"{run['run_id']}.json")) as partial:
            kept = {**run, "owner": self._process, "client": _key(owner)}
            text = json.dumps(kept, ensure_ascii=False)
            Path(partial).write_text(text, encoding="utf-8", errors="surrogatepass")

    def read(self, id: str, asker: Owner) -> Json | None:
        """Return the asker's run, or None. A run whose process is gone is ``interrupted``."""
        if not _ID.fullmatch(id):
            return None
        return self._read(self._folder / f"{id}.json", asker)

    def recent(self, limit: int, asker: Owner) -> list[Json]:
        """Return the asker's newest runs, newest first."""
        runs = (self._read(path, asker) for path in self._files())
        return list(islice((run for run in runs if run is not None), limit))

    def close(self) -> None:
        """Release the lock. From now on, runs still marked as running are treated as
        interrupted."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
            self._lock_file(self._process).unlink(missing_ok=True)

    def _open(self) -> None:
        # Results may contain anything, so other users must not read them.
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._lock_file(self._process), os.O_RDWR | os.O_CREAT, 0o600)
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

    def _read(self, path: Path, asker: Owner) -> Json | None:
        try:
            run = json.loads(path.read_text(encoding="utf-8", errors="surrogatepass"))
            process, client = str(run.pop("owner")), run.pop("client", None)
        except (OSError, ValueError, KeyError, AttributeError):
            return None
        if asker.holder != LOCAL and not self._theirs(client, process, asker):
            return None
        if run.get("status") == "running" and not self._lives(process):
            run.update(status="interrupted", message=INTERRUPTED)
        return dict(run)

    def _theirs(self, client: object, process: str, asker: Owner) -> bool:
        """Return whether the run belongs to the asker. A run of a session whose process is gone
        belongs to every session of the same holder."""
        if not isinstance(client, list) or client[:1] != [asker.holder.id]:
            return False
        return client in (_key(asker), _key(Owner(asker.holder))) or not self._lives(process)

    def _lives(self, process: str) -> bool:
        if process == self._process:
            return self._lock is not None
        try:
            descriptor = os.open(self._lock_file(process), os.O_RDWR)
        except OSError:
            return False
        try:
            lock(descriptor)
        except OSError:
            return True
        finally:
            os.close(descriptor)
        with contextlib.suppress(OSError):
            self._lock_file(process).unlink()
        return False

    def _lock_file(self, process: str) -> Path:
        return self._folder / f"{_ID.fullmatch(process) and process}.lock"


def _key(owner: Owner) -> list[str]:
    # A session's id is a secret, so only its hash is stored.
    return [owner.holder.id, owner.session and token_hash(owner.session)]
