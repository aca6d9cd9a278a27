"""Makes a farm's tasks from files, frames, or the rows of a table."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from glob import has_magic
from pathlib import Path
from typing import Any

from callboard.content import Json
from callboard.errors import PeerError
from callboard.ground.regular_file import refuse_special
from callboard.mapping.tasks import Task, tasks_of

_FRAMES = re.compile(r"(-?\d+)(?:-(-?\d+)(?:x(\d+))?)?")


class TooManyFrames(PeerError):
    """Raised when there are more frames than allowed. Their number isn't known, because the check
    stops at the limit."""


def tasks_over(over: Sequence[str], scene: str | None = None) -> list[Task]:
    """Return a task for each file that matches the patterns, each frame of ``1-100``, ``1-100x5``
    or ``1,7,9-12``, or each row of one ``.jsonl`` or ``.csv`` file. ``scene`` is the column with
    the path of the row's file. Every task has an idempotency key. Raises PeerError."""
    if len(over) == 1:
        frames = frames_of(over[0])
        if frames is not None:
            return keyed(Task(index, "", {"frame": frame}) for index, frame in enumerate(frames))
        path = Path(over[0])
        suffix = path.suffix.lower()
        if suffix in (".jsonl", ".csv") and (path.is_file() or not has_magic(over[0])):
            rows = _rows(path, suffix)
            return keyed(_task(index, row, scene) for index, row in enumerate(rows))
    return keyed(tasks_of(over))


def _task(index: int, row: Json, scene: str | None) -> Task:
    file = row.pop(scene, "") if scene is not None else ""
    if not isinstance(file, str):
        raise PeerError(f"row {index + 1}: {scene} must be the name of a file")
    return Task(index, str(Path(file).absolute()) if file else "", row)


def keyed(tasks: Iterable[Task]) -> list[Task]:
    """Return the tasks, each with a key that is the same in every run, at any position. Equal rows
    are numbered, so that their keys differ."""
    seen: Counter[str] = Counter()
    keyed = []
    for task in tasks:
        about = json.dumps([task.file, task.values], sort_keys=True)
        seen[about] += 1
        text = f"{seen[about]} {about}"
        keyed.append(replace(task, key=hashlib.sha256(text.encode()).hexdigest()[:32]))
    return keyed


def frames_of(text: str, most: float = math.inf) -> list[int] | None:
    """Return each frame once, in the order of ``text``, or None when ``text`` isn't a list of
    frames. Raises PeerError for a step of 0 and for a list without any frame, and TooManyFrames for
    more than ``most``."""
    parts = [_FRAMES.fullmatch(part) for part in text.split(",")]
    frames: dict[int, None] = {}  # A frame that is named twice is done once.
    for part in parts:
        if part is None:
            return None
        first, last, step = int(part[1]), int(part[2] or part[1]), int(part[3] or 1)
        if step == 0:
            raise PeerError(f"--over {text}: a step of 0 never ends; give 1 or more")
        if len(frames) + (last - first) // step >= most:
            raise TooManyFrames(f"{text} is more than {most:,} frames")
        frames.update(dict.fromkeys(range(first, last + 1, step)))
    if not frames:
        raise PeerError(
            f"--over {text} contains no frames; put the first before the last, as in 1-9"
        )
    return list(frames)


def _rows(path: Path, suffix: str) -> list[Json]:
    try:
        refuse_special(path)
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(_csv(file) if suffix == ".csv" else _jsonl(file))
    except (OSError, ValueError, csv.Error) as error:
        why = getattr(error, "strerror", None) or error
        raise PeerError(f"{path} can't be read: {why}") from None
    if not rows:
        raise PeerError(f"{path} has no rows")
    return rows


def _csv(file: Iterable[str]) -> Iterator[Json]:
    """Yield the values of each row, by the column names in the first line. Every value is a
    string."""
    reader = csv.DictReader(file, strict=True)
    for row in reader:
        if None in row or None in row.values():
            raise ValueError(f"line {reader.line_num} has more or fewer values than the first line")
        yield dict(row)


def _jsonl(file: Iterable[str]) -> Iterator[Json]:
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        try:
            row: Any = json.loads(line)
        except RecursionError:
            row = None
        if not isinstance(row, dict):
            raise ValueError(f"line {number} is not a JSON object")
        yield row
