"""Writes the folder of a new skill, or of a new bundle."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from callboard.errors import PeerError

#: A skill's name as agentskills.io defines it.
_NAME = re.compile(r"(?=.{1,64}\Z)[a-z0-9]+(-[a-z0-9]+)*")


def write_folder(parent: Path, name: str, files: Mapping[str, str], what: str = "skill") -> Path:
    """Write ``parent/name`` atomically, and return it. Raises PeerError."""
    if not _NAME.fullmatch(name):
        raise PeerError(
            f"'{name[:80]}' can't be a {what}'s name; use lower-case letters and digits, with "
            "hyphens in between, at most 64"
        )
    folder = parent / name
    if folder.exists():
        raise PeerError(f"{folder} already exists; choose another name")
    if not parent.is_dir():
        raise PeerError(f"{parent} is not a folder; create it first")
    try:
        with tempfile.TemporaryDirectory(dir=parent, prefix=f".new-{what}-") as partial:
            made = Path(partial, name)
            for path, text in files.items():
                target = made / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
            shutil.move(made, folder)
    except OSError as error:
        raise PeerError(f"{folder} can't be written: {error.strerror or error}") from None
    return folder
