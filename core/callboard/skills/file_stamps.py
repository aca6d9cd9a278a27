"""Checks whether a file is unchanged since it was read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

#: Time of the last change in ns, size in bytes, and inode, or None for a missing file.
Stamp = tuple[int, int, int] | None

MAX_FILES = 5000
#: The folder of vendored packages, which aren't the skill's own files, and the prefix of its
#: subfolders.
VENDORED = ("vendor", "py3")

# File systems date changes by a clock that ticks every few ms. So a file that changed a moment ago
# may change again without changing its stamp.
_SETTLED_NS = 100_000_000


def stamp(path: str | Path) -> Stamp:
    try:
        status = os.stat(path)  # noqa: PTH116  (half the time of Path.stat)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def settled(stamps: Iterable[Stamp], reading_began_ns: int) -> bool:
    """Return whether nothing has changed since shortly before ``reading_began_ns``, a value of
    ``time.time_ns``. If so, files with equal stamps are unchanged."""
    latest = reading_began_ns - _SETTLED_NS
    return all(one is None or one[0] < latest for one in stamps)


def tree_stamps(folder: Path) -> dict[str, Stamp]:
    """Return the stamp of every file below ``folder`` by relative path, without byte-code caches,
    hidden files and vendored packages. Stops at MAX_FILES."""
    stamps: dict[str, Stamp] = {}
    above = len(os.path.join(folder, ""))  # noqa: PTH118
    for path in _files(folder):
        if len(stamps) == MAX_FILES:
            break
        stamps[path[above:]] = stamp(path)
    return stamps


def _files(folder: Path) -> Iterator[str]:
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f != "__pycache__")
        if os.path.basename(root) == VENDORED[0]:  # noqa: PTH119
            folders[:] = [f for f in folders if not f.startswith(VENDORED[1])]
        for name in sorted(names):
            if not name.startswith(".") and not name.endswith(".pyc"):
                yield os.path.join(root, name)  # noqa: PTH118
