"""Reads files of one skill, and no others.

A reference is a path that a skill's author wrote. It is relative to the skill's folder, has forward
slashes, and may be a glob. It is resolved on the real path, so ``../``, absolute paths and symlinks
that lead out of the folder are refused before anything is opened.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path, PurePosixPath, PureWindowsPath

from callboard.skills.model import FailureKind

MAX_TEXT_BYTES = 1024 * 1024
MAX_GLOB_MATCHES = 1000

_GLOB_CHARACTERS = re.compile(r"[*?\[]")


class FileProblem(Exception):
    """A file of a skill can't be used. The message contains no absolute path."""

    def __init__(self, kind: FailureKind, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind
        self.message = message
        self.line = line


def is_glob(reference: str) -> bool:
    return _GLOB_CHARACTERS.search(reference) is not None


def resolve_inside(folder: Path, reference: str) -> Path:
    """Return the real path of ``reference``, which need not exist, inside ``folder`` (a real path).
    Raises FileProblem when it leaves the folder."""
    _refuse_what_leaves(reference)
    real = Path(os.path.realpath(folder / reference))
    if real != folder and folder not in real.parents:
        raise FileProblem("read", f"'{reference}' leads out of the skill's folder")
    return real


def expand(folder: Path, reference: str) -> tuple[list[Path], list[FileProblem]]:
    """Return the files that a reference names: one, or for a glob every match, sorted. A match that
    leads out of the folder is a problem of its own and hides no other match."""
    try:
        if is_glob(reference):
            return _matches(folder, reference)
        path = resolve_inside(folder, reference)
        if not _is_file(path):
            raise FileProblem("missing", f"'{reference}' doesn't exist")
        return [path], []
    except FileProblem as problem:
        return [], [problem]


def _matches(folder: Path, reference: str) -> tuple[list[Path], list[FileProblem]]:
    _refuse_what_leaves(reference)
    shown: list[str] = []
    try:
        for match in folder.glob(reference):
            if len(shown) == MAX_GLOB_MATCHES:
                raise FileProblem("glob", f"'{reference}' matches over {MAX_GLOB_MATCHES} files")
            if _is_file(match):
                shown.append(relative(folder, match))
    except (OSError, ValueError, NotImplementedError, IndexError) as error:
        raise FileProblem("glob", f"'{reference}' isn't a usable pattern: {_why(error)}") from None
    if not shown:
        raise FileProblem("glob", f"'{reference}' matches no file")
    paths: list[Path] = []
    problems: list[FileProblem] = []
    for name in sorted(shown):
        try:
            paths.append(resolve_inside(folder, name))
        except FileProblem as problem:
            problems.append(problem)
    return paths, problems


def read_text(folder: Path, path: Path, limit: int = MAX_TEXT_BYTES) -> str:
    """Return the text of a regular file, at most ``limit`` bytes of UTF-8. Raises FileProblem."""
    shown = relative(folder, path)
    handle = -1
    try:
        # Without O_NONBLOCK, opening a FIFO waits for a writer that may never come.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _BINARY)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise FileProblem("read", f"'{shown}' isn't a regular file")
        data = _read_up_to(handle, limit + 1)
    except FileNotFoundError:
        raise FileProblem("missing", f"'{shown}' doesn't exist") from None
    except OSError as error:
        raise FileProblem("read", f"'{shown}' can't be read: {_why(error)}") from None
    finally:
        if handle >= 0:
            os.close(handle)
    if len(data) > limit:
        raise FileProblem("read", f"'{shown}' is larger than {limit} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileProblem("read", f"'{shown}' isn't valid UTF-8", line) from None


def relative(folder: Path, path: Path) -> str:
    """Return a path for messages: relative to the skill, with forward slashes."""
    try:
        return path.relative_to(folder).as_posix()
    except ValueError:
        return path.name


def _read_up_to(handle: int, size: int) -> bytes:
    parts: list[bytes] = []
    while size > 0 and (part := os.read(handle, min(size, 1 << 20))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _refuse_what_leaves(reference: str) -> None:
    if not reference.strip() or "\0" in reference:
        raise FileProblem("metadata", "the reference is empty or contains a NUL")
    # Both flavors are checked, because a skill that was written on one system is read on another.
    if PureWindowsPath(reference).drive or reference.startswith(("/", "\\", "~")):
        raise FileProblem(
            "read", f"'{reference}' is absolute; it must be inside the skill's folder"
        )
    if ".." in PurePosixPath(reference.replace("\\", "/")).parts:
        raise FileProblem("read", f"'{reference}' leads out of the skill's folder")


def _is_file(path: Path) -> bool:
    # Path.is_file raises for a folder that this user can't search, but os.path.isfile returns
    # False.
    return os.path.isfile(path)  # noqa: PTH113


def _why(error: Exception) -> str:
    return (error.strerror or "unreadable") if isinstance(error, OSError) else str(error)


_BINARY = getattr(os, "O_BINARY", 0)
