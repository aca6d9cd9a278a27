"""The files that a task wrote, as its result names them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from callboard.errors import SkillError

_CHUNK = 2**20


def artefacts_of(value: Any, since: float) -> dict[str, str]:
    """The SHA-256 of each file, by its path, that ``value`` names and somebody wrote ``since``:
    seconds, as files are stamped. Raises SkillError where one of them is empty."""
    written = {}
    for text in _texts(value):
        try:
            path = Path(text)
            if path.is_absolute() and path.is_file() and path.stat().st_mtime >= since:
                if not path.stat().st_size:
                    raise SkillError(
                        f"{text} was written and is empty, which is no result: see whether its "
                        "disk is full, and run the task again"
                    )
                written[text] = sha256(text)
        except (OSError, ValueError):
            continue
    return {path: sum for path, sum in written.items() if sum}


def sha256(path: str) -> str:
    """Of the file, in hexadecimal; empty where it can't be read."""
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
