"""Putting a file in another's place, also while a virus scanner reads that one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

#: Seconds to wait before each further try: about one in all.
_PAUSES = (0.01, 0.03, 0.06, 0.1, 0.2, 0.3, 0.3)
#: What Windows says of a file that somebody else has open: access denied, and a sharing violation.
_HELD = (5, 32)


def rename_over(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    folder: int | None = None,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """``source`` takes the place of ``target``; names are those in the open ``folder`` where there
    is one. Any thread; takes up to a second on Windows while another program has the target open.
    Raises OSError."""
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
