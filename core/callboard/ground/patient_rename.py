"""Replaces a file, even while a virus scanner reads the old one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

#: Seconds to wait before each further try. Together they are about one second.
_PAUSES = (0.01, 0.03, 0.06, 0.1, 0.2, 0.3, 0.3)
#: The errors that Windows reports for a file that another program has open: access denied, and a
#: sharing violation.
_HELD = (5, 32)


def rename_over(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    folder: int | None = None,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Replace ``target`` with ``source``. Names are relative to the open ``folder`` if there is
    one. Call it from any thread. Takes up to a second on Windows while another program has the
    target open. Raises OSError."""
    for seconds in _PAUSES:
        try:
            os.replace(source, target, src_dir_fd=folder, dst_dir_fd=folder)
        except PermissionError as error:
            if getattr(error, "winerror", None) not in _HELD:
                raise
            pause(seconds)
        else:
            return
    os.replace(source, target, src_dir_fd=folder, dst_dir_fd=folder)
