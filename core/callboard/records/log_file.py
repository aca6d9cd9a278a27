"""Keeps callboard's log in files, one for each instance. A file that has grown too large loses its
oldest half. The oldest files are removed as new ones are made."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import gmtime

from callboard.calls.invisible import shown
from callboard.calls.recent_log import Listening
from callboard.ground.folders import data_folder

#: Bytes after which a file is renamed to ``.1``, which replaces the previous one.
ROTATE = 2**20
#: Maximum number of files that are kept.
KEPT = 40
#: Maximum number of characters of one record that are kept, and number of further characters that
#: are searched for secrets.
RECORD_LIMIT, MARGIN = 20_000, 4_000
#: Characters that control a terminal, except for tabs and line ends.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def default_folder() -> Path:
    """The user's data folder for logs. It isn't created."""
    return data_folder() / "logs"


class LogFile(Listening):
    """The log file of a server, made when it starts. ``clean`` removes secrets from a string. Call
    it from any thread. If the disk can't be written to, the lines are lost, without an error."""

    def __init__(self, name: str, clean: Callable[[str], str], folder: Path | None = None) -> None:
        super().__init__()
        self._folder = folder or default_folder()
        self.path = self._folder / f"{name}.log"
        self._clean = clean
        self._begun = False
        form = logging.Formatter("%(asctime)sZ %(levelname)s %(name)s: %(message)s")
        form.converter = gmtime
        form.default_msec_format = "%s.%03d"
        self.setFormatter(form)

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError):
            self._write(self._line(record))

    def _line(self, record: logging.LogRecord) -> bytes:
        try:
            text = _CONTROLS.sub("�", shown(self.format(record))[: RECORD_LIMIT + MARGIN])
            # The text is cut last, because half a secret would no longer look like a secret.
            text = self._clean(text)[:RECORD_LIMIT]
        except Exception:  # Any object may have been logged.
            text = f"{record.name}: a record that can't be formatted"
        # A message's further lines must not look like records.
        return (text.replace("\n", "\n    ") + "\n").encode("utf-8", "replace")

    def _write(self, line: bytes) -> None:
        if not self._begun:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _drop_old(self._folder)
            self._begun = True
        with open(self.path, "ab", opener=_private) as file:
            file.write(line)
            size = file.tell()
        if size > ROTATE:
            self.path.replace(f"{self.path}.1")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _drop_old(folder: Path) -> None:
    files = sorted(folder.glob("*.log*"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in files[KEPT:]:
        with suppress(OSError):  # On Windows, an instance may still write to the file.
            file.unlink()
