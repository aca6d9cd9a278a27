"""The tasks of a batch or a farm, and their results."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from callboard.content import Json
from callboard.errors import PeerError

_PLACE = re.compile(r"\{(\w+)\}")
#: The words in braces that are filled in for every file.
PLACES = ("file", "folder", "stem", "index")
#: One word in single braces. Workflows use double braces.
_WORD = re.compile(r"(?<!\{)\{(\w+)\}(?!\})")


@dataclass(frozen=True)
class Task:
    """One task. ``index`` is its position among all tasks. A task has either a ``file``, as an
    absolute path, or ``values`` by name, such as a row of a table. In the second case, ``file`` is
    empty and ``key`` identifies the task."""

    index: int
    file: str
    values: Mapping[str, Any] = field(default_factory=dict)
    key: str = ""


@dataclass(frozen=True)
class TaskResult:
    """The outcome of a task. ``value`` is the tool's result, or the failure. ``stamp`` is the state
    of the file when the task was done. ``artefacts`` are the files that the task wrote, each with
    its SHA-256. If the file or one of the artefacts has changed since, a resumed run repeats the
    task. A report's lines leave out two fields: ``content``, the MCP blocks (pictures, sounds,
    files) that came with the value, and ``about``, ``{worker?, printed?, seconds?, unsaved?}``."""

    index: int
    file: str
    status: Literal["done", "failed"]
    value: Any
    attempts: int
    stamp: str
    key: str = ""
    artefacts: Mapping[str, str] = field(default_factory=dict)
    content: Sequence[Json] = ()
    about: Mapping[str, Any] = field(default_factory=dict)

    def line(self) -> Json:
        """Return ``{index, file?, status, result | error, attempts, stamp?, key?, artefacts?}``."""
        line = dict(vars(self))
        del line["content"], line["about"]
        value = line.pop("value")
        for name in ("file", "stamp", "key", "artefacts"):
            if not line[name]:
                del line[name]
        return {**line, "result" if self.status == "done" else "error": value}


def tasks_of(patterns: Sequence[str]) -> list[Task]:
    """Return a task for each file that matches, sorted. Raises PeerError when a pattern matches no
    file."""
    names: set[str] = set()
    for pattern in patterns:
        whole = Path(pattern).absolute()
        below = whole.relative_to(whole.anchor)
        matching = [path for path in Path(whole.anchor).glob(str(below)) if path.is_file()]
        if not matching:
            raise PeerError(f"no file matches {pattern}")
        names.update(map(str, matching))
    return [Task(index, name) for index, name in enumerate(sorted(names))]


def filled(given: Any, task: Task) -> Any:
    """Return the arguments of a task. In every string ``{file}``, ``{folder}``, ``{stem}`` and
    ``{index}`` are replaced with those of the file, and other names with the task's values. A
    string that consists of just one of these becomes the value itself, for instance a number.
    Unknown names stay as they are."""
    if isinstance(given, dict):
        return {key: filled(value, task) for key, value in given.items()}
    if isinstance(given, list):
        return [filled(value, task) for value in given]
    if not isinstance(given, str):
        return given
    values = {"index": str(task.index), **task.values}
    if task.file:
        path = Path(task.file)
        values |= {"file": task.file, "folder": str(path.parent), "stem": path.stem}
    whole = _PLACE.fullmatch(given)
    if whole and whole[1] in values:
        return values[whole[1]]
    return _PLACE.sub(lambda place: str(values.get(place[1], place[0])), given)


def unfilled(given: Any, places: Collection[str] = PLACES) -> list[str]:
    """Return the words in braces that aren't among ``places``, each once. They are probably
    mistakes."""
    if isinstance(given, dict):
        return unfilled(list(given.values()), places)
    if isinstance(given, list):
        return list(dict.fromkeys(word for value in given for word in unfilled(value, places)))
    words = _WORD.findall(given) if isinstance(given, str) else []
    return [word for word in dict.fromkeys(words) if word not in places]


def stamp_of(file: str) -> str:
    """Return a string that changes when the file changes. It is empty if ``file`` is."""
    if not file:
        return ""
    try:
        status = Path(file).stat()
    except OSError:
        return "gone"
    return f"{status.st_size}-{status.st_mtime_ns}"
