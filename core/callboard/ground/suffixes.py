"""What kind of file a path names, by its ending."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from callboard.errors import HostError


def checked_suffix(path: str, allowed: Iterable[str], because: str = "") -> str:
    """The path's ending in lower case, ``.png``. Raises HostError unless it is allowed; ``because``
    is added to its words."""
    suffix = Path(path).suffix.lower()
    known = tuple(allowed)
    if suffix not in known:
        raise HostError(f"'{Path(path).name}' does not end in {', '.join(known)}{because}")
    return suffix
