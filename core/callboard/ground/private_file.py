"""Files that contain a secret. Only this user can read them, and they are written whole or not at
all."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from secrets import token_hex

from callboard.ground.patient_rename import rename_over


def write_private(path: Path, text: str) -> None:
    """Replace ``path``, with mode 0600. Its folder is made if needed, for this user alone. Raises
    OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.{token_hex(4)}")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        rename_over(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def read_private(path: Path, most: int) -> bytes:
    """Return the content of ``path``. Raises OSError, and ValueError when it isn't a file that
    belongs to this user and that only this user can write, or has more than ``most`` bytes."""
    # Opening a pipe that replaced the file must not block.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("it is not a file")
        if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
            raise ValueError("other users can write to it")
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"it has more than {most} bytes")
    return data
