"""The folder of this user's session, for files that can't be written to a broken home folder."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from hashlib import sha256
from pathlib import Path


def session_folder() -> Path | None:
    """Return callboard's folder for this session, or None if there is no folder that only this user
    can write to. The folder may not exist yet."""
    base = _runtime_folder()
    return None if base is None or not _is_own(base / _name(), missing=True) else base / _name()


def instead_of(folder: Path) -> Path | None:
    """Return the folder inside the session's folder that replaces ``folder`` when ``folder`` can't
    be written to, or None. The folder may not exist yet."""
    session = session_folder()
    if session is None:
        return None
    return session / f"{folder.name}-{sha256(str(folder).encode()).hexdigest()[:12]}"


def make_instead_of(folder: Path) -> Path:
    """Make the folder of :func:`instead_of`, for this user alone. Raises OSError."""
    made = instead_of(folder)
    if made is None:
        raise OSError("this session has no folder that only this user can write")
    made.parent.mkdir(mode=0o700, exist_ok=True)
    if not _is_own(made.parent):
        raise OSError(f"{made.parent} doesn't belong to this user alone")
    made.mkdir(mode=0o700, exist_ok=True)
    return made


def _runtime_folder() -> Path | None:
    """Return the system's folder for this user's session, or else its folder for temporary files,
    which on macOS and Windows is this user's own."""
    if sys.platform.startswith("linux"):
        for named in (os.environ.get("XDG_RUNTIME_DIR", ""), f"/run/user/{os.getuid()}"):
            if Path(named).is_absolute() and _is_own(Path(named)):
                return Path(named)
    temporary = Path(tempfile.gettempdir())
    return temporary if temporary.is_absolute() else None


def _name() -> str:
    # Other users of a shared temporary folder must be able to have such a folder too.
    return f"callboard-{os.getuid()}" if hasattr(os, "getuid") else "callboard"


def _is_own(folder: Path, *, missing: bool = False) -> bool:
    """Return whether this user owns the folder and nobody else can write to it. ``missing`` is the
    answer for a folder that doesn't exist."""
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return missing
    except OSError:
        return False
    if not stat.S_ISDIR(status.st_mode):
        return False
    return not hasattr(os, "getuid") or (
        status.st_uid == os.getuid() and not status.st_mode & 0o022
    )
