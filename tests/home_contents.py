"""Reads the contents of a user's home folder, so that tests can compare them."""

from __future__ import annotations

import os
from pathlib import Path

#: The content and mode of each file, the target of each link, and None for a folder.
Home = dict[str, tuple[bytes, int] | str | None]


def contents(home: Path) -> Home:
    held: Home = {}
    for place, folders, files in os.walk(home):
        for name in [*folders, *files]:
            path = Path(place, name)
            key = path.relative_to(home).as_posix()
            if path.is_symlink():
                held[key] = str(path.readlink())
            elif path.is_dir():
                held[key] = None
            else:
                held[key] = (path.read_bytes(), path.stat().st_mode)
    return held
