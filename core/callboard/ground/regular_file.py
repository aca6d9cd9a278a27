"""Files that a person names: nothing that could be waited for without end."""

from __future__ import annotations

import errno
import stat
from pathlib import Path

_KINDS = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))


def refuse_special(path: Path) -> None:
    """Raises OSError, whose ``strerror`` says what it is, for a folder, a pipe or a device; what
    isn't there is left to who opens it. Any thread."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        kind = next((word for is_such, word in _KINDS if is_such(mode)), "a device")
        raise OSError(errno.EINVAL, f"it is {kind}, and no file")
