"""Writes a traceback for a skill's author. Its paths begin at the skill's folder, callboard's
frames are left out, and successive frames from Python itself are folded into one line."""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby, islice
from pathlib import Path

#: Maximum number of characters in a traceback that a client sees. The beginning of a longer one is
#: cut off.
TRACEBACK_LIMIT = 8_000
#: Maximum number of exceptions shown from a chain.
_LINKS = 3
#: Maximum number of folders between a script and its skill's folder.
_DEEP = 6
_SKILL_FILE = "SKILL.md"
_NAME = re.compile(r"""^name:[ \t]*["']?([A-Za-z0-9][A-Za-z0-9_.-]*)""", re.MULTILINE)
#: Characters at the beginning of SKILL.md in which its name is searched for.
_HEAD = 4_096

_CORE = str(Path(__file__).parent.parent)
_BUNDLED = str(Path(_CORE, "skills", "bundled"))
_PYTHON = str(Path(traceback.__file__).parent)
_PACKAGES = ("site-packages", "dist-packages")


def readable(error: BaseException) -> str | None:
    """Return the error's traceback and those of its causes, without this machine's folders. Return
    None when all frames are callboard's."""
    parts = [part for link in _chain(error) if (part := _one(link)) is not None]
    return "\n\n".join(reversed(parts))[-TRACEBACK_LIMIT:] or None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the exceptions, newest first."""
    link: BaseException | None = error
    for _ in range(_LINKS):
        if link is None:
            return
        yield link
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def _one(error: BaseException) -> str | None:
    frames = [
        (place, frame)
        for frame in traceback.extract_tb(error.__traceback__)
        if (place := _place(frame.filename)) is not None
    ]
    if not frames:
        return None
    lines = ["Traceback (most recent call last):"]
    for pythons, group in groupby(frames, lambda each: each[0] == ""):
        if pythons:
            folded = list(group)
            files = dict.fromkeys(Path(frame.filename).name for _, frame in folded)
            lines.append(f"  [{len(folded)} in Python's own: {', '.join(files)}]")
            continue
        for place, frame in group:
            lines.append(f'  File "{place}", line {frame.lineno}, in {frame.name}')
            if frame.line:
                lines.append(f"    {frame.line}")
    lines.extend(line.rstrip() for line in traceback.format_exception_only(type(error), error))
    text = "\n".join(lines)
    if isinstance(error, SyntaxError) and isinstance(error.filename, str):
        # The message already includes the file.
        place = _place(error.filename) or Path(error.filename).name
        text = text.replace(f'File "{error.filename}"', f'File "{place}"')
    return text


@lru_cache(maxsize=512)
def _place(filename: str) -> str | None:
    """Return the part of a file's path that is shown: None for callboard's files, an empty string
    for Python's own."""
    if filename.startswith(_CORE) and not filename.startswith(_BUNDLED):
        return None
    if filename.startswith("<frozen "):
        return ""
    path = Path(filename)
    if not path.is_absolute():
        return path.name
    packages = next((at for at, part in enumerate(path.parts) if part in _PACKAGES), None)
    if packages is not None:
        return Path(*path.parts[packages + 1 :]).as_posix()
    if filename.startswith(_PYTHON + os.sep):
        return ""
    for folder in islice(path.parents, _DEEP):
        if (folder / _SKILL_FILE).is_file():
            return f"{_skill(folder)}/{path.relative_to(folder).as_posix()}"
    return path.name


def _skill(folder: Path) -> str:
    """Return the skill's name, followed by its folder's name when that is a version."""
    try:
        with (folder / _SKILL_FILE).open(encoding="utf-8", errors="replace") as file:
            named = _NAME.search(file.read(_HEAD))
    except OSError:
        named = None
    name = folder.name if named is None else named[1]
    return f"{name}/{folder.name}" if folder.parent.name == name else name
