"""The files that maps leave on disk. A later map can continue from an earlier one's report."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from callboard.clients.holder import TokenHolder
from callboard.content import Json
from callboard.ground.private_file import write_private

#: Number of days for which reports are kept.
_KEPT = 30
#: Old reports are deleted once there are files from this many later days.
_DAYS = 3
#: Maximum number of failures that every status includes, and maximum number of characters of each.
_FIRST, _MOST_TEXT = 5, 500
#: Maximum number of bytes in one page, and in one result on it.
_PAGE, _RESULT = 256 * 1024, 32 * 1024


class Tally:
    """The numbers of completed and failed tasks in a run's report, and its first errors."""

    def __init__(self) -> None:
        self.done = self.failed = 0
        self.first_errors: list[Json] = []
        #: The reason why the map couldn't run at all.
        self.refused: str | None = None
        self.finished = False

    def take(self, line: Json) -> None:
        status, error = line.get("status"), line.get("error")
        if status == "done":
            self.done += 1
        elif status == "failed":
            self.failed += 1
            if len(self.first_errors) < _FIRST:
                message = str(_message(error))[:_MOST_TEXT]
                reported = {"index": line["index"], "message": message}
                self.first_errors.append(
                    reported | ({"file": line["file"]} if "file" in line else {})
                )
        elif error is not None:
            self.refused = str(_message(error))
        elif line.get("event") == "finished":
            self.finished = "left" not in line


class Reports:
    """The files of one client's runs. Call it from any thread that may wait for a disk."""

    def __init__(self, folder: Path, holder: TokenHolder) -> None:
        self._folder = folder / hashlib.sha256(holder.id.encode()).hexdigest()[:16]

    def report(self, run: str) -> Path:
        return self._folder / f"map-{run}.jsonl"

    def begin(self, run: str, rows: list[Json]) -> Path:
        """Write the tasks to a file and return its path. Remove old reports. Raises OSError."""
        path = self.tasks(run)
        write_private(path, "".join(json.dumps(row) + "\n" for row in rows))
        old = time.time() - _KEPT * 86_400
        written = {other: other.stat().st_mtime for other in self._folder.glob("map-*")}
        # After a clock has jumped ahead, the reports from all earlier days look old.
        if len({at // 86_400 for at in written.values() if at >= old}) >= _DAYS:
            for other in (other for other, at in written.items() if at < old):
                other.unlink(missing_ok=True)
        return path

    def begun(self, run: str) -> Json | None:
        """Return the report's first line, or None when there is no report."""
        return next(self._lines(self.report(run)), None)

    def tally(self, run: str) -> tuple[Tally, int]:
        """Return the tally of a run, and the number of its tasks."""
        tally = Tally()
        for line in self._lines(self.report(run)):
            tally.take(line)
        return tally, sum(1 for _ in self._lines(self.tasks(run)))

    def page(self, run: str, offset: int, limit: int, failed_only: bool) -> Json:
        """Return ``{results, next_offset?}``, in the order in which the results arrived."""
        results: list[Json] = []
        seen = size = 0
        for line in self._lines(self.report(run)):
            if line.get("status") not in (("failed",) if failed_only else ("done", "failed")):
                continue
            seen += 1
            if seen <= offset:
                continue
            if len(results) == limit or size > _PAGE:
                return {"results": results, "next_offset": seen - 1}
            reported = _reported(line)
            size += len(json.dumps(reported))
            results.append(reported)
        return {"results": results}

    def tasks(self, run: str) -> Path:
        # The beginning of the report names this file.
        return self._folder / f"map-{run}.tasks.jsonl"

    @staticmethod
    def _lines(path: Path) -> Iterator[Json]:
        try:
            with path.open(encoding="utf-8") as file:
                for text in file:
                    try:
                        line = json.loads(text)
                    except ValueError:
                        continue  # The line isn't complete yet.
                    if isinstance(line, dict):
                        yield line
        except FileNotFoundError:
            return


def _message(error: Any) -> Any:
    return error.get("message", error) if isinstance(error, dict) else error


def _reported(line: Json) -> Json:
    reported: Json = {
        name: line[name] for name in ("index", "status", "file", "attempts") if name in line
    }
    if "artefacts" in line:
        reported["artefacts"] = list(line["artefacts"])
    name = "result" if line["status"] == "done" else "error"
    size = len(json.dumps(line.get(name)))
    if size > _RESULT:
        left_out = f"left out: {size:,} bytes; have the tool write a file and return its path"
        return {**reported, name: left_out}
    return {**reported, name: line.get(name)}
