"""What callboard logs, in a file that lasts: one for each running instance, its oldest half dropped
as it grows, the files of those that ended dropped as new ones come."""

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

#: Bytes after which a file is put aside as ``.1``, in place of the one before.
ROTATE = 2**20
#: Files of instances that are kept.
KEPT = 40
#: Characters of one record, and how many more are looked through for secrets.
RECORD_LIMIT, MARGIN = 20_000, 4_000
#: What a terminal obeys, beside tabs and the ends of lines.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def default_folder() -> Path:
    """The user's data folder for logs. Not created."""
    return data_folder() / "logs"


class LogFile(Listening):
    """Made once a server starts. ``clean`` takes secrets out of a text. Any thread; where the disk
    can't be written, the lines are lost and nothing else."""

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
            # The cut comes last: cut first, half a secret would no longer look like one.
            text = self._clean(text)[:RECORD_LIMIT]
        except Exception:  # whatever was logged, in whatever way
            text = f"{record.name}: a record that can't be written down"
        # No line of a message looks like a record of its own.
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
        with suppress(OSError):  # of an instance that still writes, on Windows
            file.unlink()
