"""Messages for file system errors, with advice for a full disk."""

from __future__ import annotations

import errno

_FULL = (errno.ENOSPC, errno.EDQUOT)


def is_full(error: BaseException) -> bool:
    return type(error) is OSError and error.errno in _FULL


def in_words(error: OSError) -> str:
    """Return the reason, with advice if the disk is full."""
    if not is_full(error):
        return str(error)
    where = f": {error.filename}" if isinstance(error.filename, str) else ""
    return f"{error.strerror}{where}; free some space there and repeat it"
