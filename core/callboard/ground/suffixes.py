"""The kind of file that a path names, by its suffix."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from callboard.errors import HostError


def checked_suffix(path: str, allowed: Iterable[str], because: str = "") -> str:
    """Return the allowed suffix that the path ends in, in upper or lower case, such as ``.png``.
    Raises HostError when there is none; ``because`` is added to the message."""
    known = {suffix.lower(): suffix for suffix in allowed}
    suffix = known.get(Path(path).suffix.lower())
    if suffix is None:
        raise HostError(f"'{Path(path).name}' must end in {', '.join(known.values())}{because}")
    return suffix
