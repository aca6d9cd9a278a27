"""The skills and bundles that a studio's policy allows: those in named folders, and those whose
content has a named digest."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path

_MOST_BYTES = 2**28


class Origins:
    """Folders, as full paths, and digests, as ``sha256:`` with 64 digits. Use it from any
    thread."""

    def __init__(self, entries: Sequence[str] | None) -> None:
        """If ``entries`` is None, everything is allowed."""
        self._all = entries is None
        entries = entries or ()
        self._folders = [each for each in entries if not each.startswith("sha256:")]
        self._digests = {each for each in entries if each.startswith("sha256:")}

    def why_not(self, folder: Path) -> str | None:
        """Return why this skill or bundle may not be used, or None if it may. Its files are read
        only if it isn't in one of the folders."""
        if self._all:
            return None
        real = os.path.realpath(folder)
        if any(Path(real).is_relative_to(os.path.realpath(one)) for one in self._folders):
            return None
        digest = folder_digest(folder)
        if digest is not None and digest in self._digests:
            return None
        told = f"its digest is {digest}" if digest else "it has no digest: it has a link or is huge"
        return (
            f"the studio's policy doesn't let this in; {told}. Ask the person who maintains the "
            "policy"
        )


def folder_digest(folder: Path) -> str | None:
    """Return one digest of all files in the folder, including hidden files and caches, or None if
    it can't be computed."""
    total, size = hashlib.sha256(), 0
    try:
        for above, folders, names in os.walk(folder, onerror=_fail):
            folders.sort()
            for name in sorted([*folders, *names]):
                path = Path(above, name)
                mode = path.lstat()
                if not (stat.S_ISREG(mode.st_mode) or stat.S_ISDIR(mode.st_mode)):
                    return None
                if name not in names:
                    continue
                size += mode.st_size
                if size > _MOST_BYTES:
                    return None
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                total.update(f"{path.relative_to(folder).as_posix()}\0{content}\n".encode())
    except (OSError, UnicodeEncodeError):
        return None
    return f"sha256:{total.hexdigest()}"


def _fail(error: OSError) -> None:
    raise error
