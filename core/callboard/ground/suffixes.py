"""The kind of file that a path names, by its suffix."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from callboard.errors import HostError


def checked_suffix(path: str, allowed: Iterable[str], because: str = "") -> str:
    """Return the path's suffix in lower case, such as ``.png``. Raises HostError unless it is
    allowed; ``because`` is added to the message."""
    suffix = Path(path).suffix.lower()
    known = tuple(allowed)
    if suffix not in known:
        raise HostError(f"'{Path(path).name}' must end in {', '.join(known)}{because}")
    return suffix
