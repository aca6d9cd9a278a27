"""The plan of a map: a row for each task, with arguments that are valid for the tool and files
inside the workspace. Runs off the main thread, because it reads folders and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callboard.calls.json_schema import SchemaViolation
from callboard.calls.tools import Tool
from callboard.content import Json
from callboard.errors import InvalidParams, PeerError, WorkspaceResolveError
from callboard.mapping.task_sources import TooManyFrames, frames_of, tasks_over
from callboard.mapping.tasks import Task, filled, tasks_of
from callboard.workspace.containment import WorkspaceRoots
from callboard.workspace.fields import has_folder
from callboard.workspace.path_text import shown

#: The key under which a row has the file to open first. No argument can have this name.
SCENE = "(scene)"
_MOST_BYTES = 64 * 2**20


@dataclass(frozen=True)
class MapRequest:
    """The input of a map, in exactly one of the first four fields, and the options of its tasks."""

    files: Sequence[str] = ()
    frames: str | None = None
    rows: Sequence[Json] | None = None
    table: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    open: bool = True
    save: bool = False


def rows_of(asked: MapRequest, tool: Tool, roots: WorkspaceRoots | None, most: int) -> list[Json]:
    """Return the arguments of each task, with the file to open first under the key ``SCENE``.
    Raises InvalidParams or WorkspaceResolveError."""
    held = _Held(roots)
    try:
        tasks = _tasks(asked, held, most)
    except TooManyFrames:
        raise InvalidParams(_too_many(f"{asked.frames} is", most)) from None
    except WorkspaceResolveError:
        raise
    except PeerError as error:
        raise InvalidParams(error.message) from None
    if len(tasks) > most:
        raise InvalidParams(_too_many(f"{len(tasks):,} tasks are", most))
    return [_row(asked, tool, held, task) for task in tasks]


class _Held:
    """The workspace, in which all paths of a map must be, whatever the workspace's policy is."""

    def __init__(self, roots: WorkspaceRoots | None) -> None:
        self._roots = roots

    def admit(self, path: str, *, write: bool) -> str:
        roots = self._roots
        if roots is None or roots.first is None:
            raise WorkspaceResolveError(
                f"{shown(path)} isn't in a workspace, and a map's files must be in one: name a "
                "root in the client, or ask the artist to add one"
            )
        admitted = roots.admit(path, write=write)
        if not roots.contains(admitted):
            raise WorkspaceResolveError(
                f"{shown(path)} is outside the workspace, and the files of a map have to be "
                "inside; use a workspace:// path, or ask the artist to add its folder as a root"
            )
        return admitted


def _tasks(asked: MapRequest, held: _Held, most: int) -> list[Task]:
    given = [bool(asked.files), *(one is not None for one in (asked.frames, asked.rows))]
    if sum([*given, asked.table is not None]) != 1:
        raise InvalidParams("give exactly one of files, frames, rows and table")
    if asked.save and not (asked.files and asked.open):
        raise InvalidParams("save needs opened files: give files, and don't set open to false")
    if asked.files:
        return tasks_of([held.admit(one, write=asked.save) for one in asked.files])
    if asked.frames is not None:
        frames = frames_of(asked.frames, most)
        if frames is None:
            raise InvalidParams("frames are written as 1-100, 1-100x5 or 1,7,9-12")
        return [Task(index, "", {"frame": frame}) for index, frame in enumerate(frames)]
    if asked.rows is not None:
        return [Task(index, "", row) for index, row in enumerate(asked.rows)]
    return _table(held.admit(asked.table or "", write=False))


def _table(path: str) -> list[Task]:
    if Path(path).suffix.lower() not in (".jsonl", ".csv"):
        raise InvalidParams(f"the table {shown(path)} must end in .jsonl or .csv")
    try:
        size = Path(path).stat().st_size
    except OSError:
        size = 0  # Reading the file reports the reason.
    if size > _MOST_BYTES:
        raise InvalidParams(f"the table {shown(path)} has {size:,} bytes; split it")
    return tasks_over([path])


def _row(asked: MapRequest, tool: Tool, held: _Held, task: Task) -> Json:
    which = f"task {task.index}"
    arguments: Json = filled(asked.arguments, task) if asked.arguments else dict(task.values)
    try:
        tool.check(arguments)
    except SchemaViolation as wrong:
        raise InvalidParams(f"{which}: invalid arguments for {tool.name}: {wrong}") from None
    try:
        row: Json = tool.strict_paths.resolve(arguments, _admitting(tool, held))
        if task.file:
            # A pattern may lead out of the workspace through a link.
            file = held.admit(task.file, write=asked.save)
            row = {**row, SCENE: file} if asked.open else row
    except WorkspaceResolveError as error:
        raise WorkspaceResolveError(f"{which}: {error.message}") from None
    return row


def _admitting(tool: Tool, held: _Held) -> Callable[[str, bool], str]:
    def admit(path: str, only_read: bool) -> str:
        if not (tool.touches_files or has_folder(path)):
            return path
        return held.admit(path, write=tool.writes_files and not only_read)

    return admit


def _too_many(these: str, most: int) -> str:
    return (
        f"{these} more than the {most:,} tasks that one map may have: map fewer at a time, or "
        "have farm_limit (CALLBOARD_FARM_LIMIT) raised in callboard's settings"
    )
