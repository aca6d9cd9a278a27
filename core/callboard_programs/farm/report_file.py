"""The report of a batch or a farm. It is a file of JSON lines, each written to disk immediately. A
later run can continue from the report."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from callboard.content import Json, json_object
from callboard.errors import HostError, PeerError
from callboard.ground.full_disk import in_words
from callboard.ground.private_file import write_private
from callboard.ground.regular_file import refuse_special
from callboard.mapping.tasks import Task, TaskResult, stamp_of
from callboard_programs.farm.artefacts import sha256


class ReportFile:
    """A report: ``{"event": "begun", …}``, a line for each result, and ``{"event": "finished",
    "done", "failed", "left"?}``."""

    def __init__(self, path: Path, begun: Json) -> None:
        """``begun`` describes the work. A file with a different description belongs to another
        batch."""
        self._path = path
        self._begun = {"event": "begun", **begun}
        self._out: TextIO | None = None

    def kept(self, tasks: Iterable[Task]) -> list[TaskResult]:
        """Return the results of those tasks that the report lists as done and whose file and
        artefacts haven't changed since. Raises PeerError if the report belongs to another batch or
        can't be read."""
        try:
            refuse_special(self._path)
            lines = self._path.read_text("utf-8").splitlines()
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise PeerError(f"{self._path} can't be read: {why}") from None
        # A killed process may leave a half-written line.
        values = [value for value in map(json_object, lines) if value is not None]
        others = bool(lines) and (not values or values[0] != self._begun)
        began = bool(values) and values[0].get("event") == "begun"
        nothing_done = began and not any("status" in value for value in values)
        if others and not nothing_done:
            raise PeerError(
                f"{self._path} is the report of a run with a different tool, host, files, "
                "arguments or --out, or isn't a report; name another file, or remove this one"
            )
        done = {_name(value): value for value in values if _writes_progress(value)}
        return [
            TaskResult(
                task.index,
                task.file,
                "done",
                line["result"],
                line["attempts"],
                line.get("stamp", ""),
                task.key,
                line.get("artefacts", {}),
            )
            for task in tasks
            if (line := done.get(task.key or task.file)) is not None
            and line.get("stamp", "") == stamp_of(task.file)
            and all(sha256(path) == sum for path, sum in line.get("artefacts", {}).items())
        ]

    def open(self, kept: Iterable[TaskResult]) -> None:
        """Replace the report with a new one that contains only the kept results. Raises
        HostError."""
        with self._writing():
            self._write([self._begun, *(result.line() for result in kept)])
            self._out = self._path.open("a", encoding="utf-8")

    def add(self, result: TaskResult) -> None:
        """Write a result to disk, so that it survives the end of this process. Raises HostError."""
        assert self._out is not None
        with self._writing():
            self._out.write(json.dumps(result.line()) + "\n")
            self._out.flush()

    def close(self, finished: Json, *, ordered: bool = False) -> None:
        """Write the last line and close the report. If ``ordered`` is true, sort the results, which
        requires loading all of them into memory. Raises HostError."""
        assert self._out is not None
        with self._writing():
            self._out.write(json.dumps(finished) + "\n")
            self._out.close()
            if ordered:
                lines = map(json.loads, self._path.read_text("utf-8").splitlines()[1:-1])
                results = sorted(lines, key=lambda line: int(line["index"]))
                self._write([self._begun, *results, finished])

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise HostError(
                f"{self._path} can't be written: {in_words(error)}; its content is kept for the "
                "next run"
            ) from None

    def _write(self, lines: Iterable[Json]) -> None:
        write_private(self._path, "".join(json.dumps(line) + "\n" for line in lines))


def _name(line: Json) -> Any:
    """Return the key that identifies a line's task."""
    return line.get("key") or line.get("file")


def _writes_progress(line: Json) -> bool:
    artefacts = line.get("artefacts", {})
    return (
        line.get("status") == "done"
        and isinstance(_name(line), str)
        and type(line.get("attempts")) is int
        and "result" in line
        and isinstance(artefacts, dict)
    )
