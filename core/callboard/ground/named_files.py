"""Files that a file names: a layer, a library, a texture, an output.

Under the ``strict`` policy, a call doesn't use any of these files outside its roots. Only the host
can determine which files a file names, so hosts call these functions before they read the file, and
before they write files next to the requested file. The context of a call contains its roots.
Outside a call, and without ``strict``, nothing is refused. Use it on the host's main thread.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from itertools import islice
from pathlib import Path

from callboard.errors import HostError

#: Returns whether the call may read (False) or write (True) the file at an absolute path.
may_use: ContextVar[Callable[[str, bool], bool] | None] = ContextVar("may_use", default=None)
#: Maximum number of names that an error lists.
_LISTED = 5
#: A placeholder for a number, and a number that may be the first of many.
_NUMBERED = re.compile(r"<[A-Za-z]+>|#+")
_FIRST = re.compile(r"<[A-Za-z]+>|#+|[0-9]+(?=\.[^./\\]*$)")
#: Maximum number of files that are considered for a name with a number in it.
_MANY = 10_000


def held_to_roots() -> bool:
    """Return whether this call may only use files in its roots."""
    return may_use.get() is not None


def outside(paths: Iterable[str], *, write: bool = False) -> list[str]:
    """Return the absolute paths that this call isn't allowed to use, each once."""
    allowed = may_use.get()
    if allowed is None:
        return []
    return [path for path in dict.fromkeys(paths) if not allowed(path, write)]


def refuse_outside(paths: Iterable[str], name: str, done: str) -> None:
    """Raise HostError if this call isn't allowed to read one of the absolute paths that ``name``
    uses. ``done`` is the refused action as a participle, such as "opened" or "rendered"."""
    leaving = outside(paths)
    if not leaving:
        return
    listed = ", ".join(f"'{path}'" for path in leaving[:_LISTED])
    more = f" and {len(leaving) - _LISTED} more" if len(leaving) > _LISTED else ""
    raise HostError(
        f"'{name}' uses files outside of the workspace, so it was not {done}: {listed}{more}. "
        "Ask the artist to add the folders as roots, or use a file that stays inside."
    )


def beginning(start: str) -> list[str]:
    """Return the paths in the same folder that begin with this path."""
    folder, name = Path(start).parent, Path(start).name
    try:
        alike = (each for each in folder.iterdir() if each.name.startswith(name))
        return [str(each) for each in islice(alike, _MANY)]
    except OSError:
        return []


def of_many(path: str, *, sequences: bool = False) -> list[str]:
    """Return the path and, if it is a pattern for numbered files, the existing files that may
    match. If ``sequences`` is true, a path whose name ends in a number is also a pattern."""
    numbered = (_FIRST if sequences else _NUMBERED).search(path)
    return [path, *beginning(path[: numbered.start()])] if numbered else [path]


def unreadable(path: str, why: str) -> HostError:
    """Return the error for a file when the files that it names matter but can't be determined."""
    return HostError(
        f"'{Path(path).name}' {why}, so callboard can't tell whether it stays inside the "
        "workspace, and didn't open it. Ask the artist to open it."
    )
