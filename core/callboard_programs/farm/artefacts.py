"""Finds the files that a task wrote by the paths in the task's result."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from callboard.errors import SkillError

_CHUNK = 2**20


def artefacts_of(value: Any, since: float) -> dict[str, str]:
    """Return the SHA-256 of each file whose path is in ``value`` and that was written after
    ``since``, by path. ``since`` is in seconds since the epoch. Raises SkillError if such a file is
    empty."""
    written = {}
    for text in _texts(value):
        try:
            path = Path(text)
            if path.is_absolute() and path.is_file() and path.stat().st_mtime >= since:
                if not path.stat().st_size:
                    raise SkillError(
                        f"{text} was written but is empty, so it isn't a result: check whether "
                        "the disk is full, and run the task again"
                    )
                written[text] = sha256(text)
        except (OSError, ValueError):
            continue
    return {path: sum for path, sum in written.items() if sum}


def sha256(path: str) -> str:
    """Return a file's SHA-256 in hexadecimal, or an empty string if it can't be read."""
    digest = hashlib.sha256()
    try:
        with Path(path).open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except (OSError, ValueError):
        return ""
    return digest.hexdigest()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
