"""Writes the files that a run over many tasks produces in addition to its report: the pictures,
sounds and files in the results, the logs, and copies of the files that the tasks wrote."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from callboard.content import Json
from callboard.errors import CallboardError, HostError
from callboard.ground.full_disk import in_words
from callboard.mapping.tasks import TaskResult
from callboard_programs.cli.result_files import files_in, keep_beside, require_folder, unkept
from callboard_programs.client.tool_call import failure, not_text
from callboard_programs.farm.artefacts import sha256
from callboard_programs.farm.orders import UNSAVED


def described_place(folder: Path | None) -> Json:
    """Return the folder for the report's description of the work. A run with a different folder is
    treated as different work, because the new folder would lack the files of tasks that are already
    done.
    """
    return {} if folder is None else {"out": str(folder.absolute())}


class TaskFiles:
    """Writes the files of each task, with one folder for each kind of file. A folder of None means
    that files of this kind aren't kept. The files of a result are named after the task's index and
    the tool."""

    def __init__(
        self,
        out: Path | None,
        tool: str,
        logs: Path | None = None,
        artefacts: Path | None = None,
    ) -> None:
        """Make the folder ``out``. Raises PeerError if it can't be made or written to."""
        self._tool, self._folder = tool, out and out.absolute()
        self._logs, self._artefacts = logs, artefacts
        #: Sentences to print for the user at the end of the run.
        self.remarks: dict[str, None] = {}
        if self._folder is not None:
            require_folder(str(out), self._folder)

    def keep(self, result: TaskResult) -> TaskResult:
        """Write the result's files. Return the result with these files among the artefacts, and
        without their bytes. Return a failure if the files are damaged or can't be written. Raises
        HostError if the log or the copies can't be written."""
        kept = self._with_files(result)
        if kept.about.get("unsaved"):
            self.remarks[UNSAVED] = None
        try:
            if self._logs is not None:
                self._logs.mkdir(parents=True, exist_ok=True)
                log = self._logs / f"{kept.index:06}.log"
                log.write_text(_log(kept), encoding="utf-8")
            if self._artefacts is not None:
                self._artefacts.mkdir(parents=True, exist_ok=True)
                for path in map(Path, result.artefacts):
                    shutil.copyfile(path, self._artefacts / f"{kept.index:06}-{path.name}")
        except OSError as error:
            raise HostError(
                f"task {kept.index} is done, but its result isn't saved: {in_words(error)}"
            ) from None
        return kept

    def _with_files(self, result: TaskResult) -> TaskResult:
        if result.status == "failed":
            return result
        # If a tool has no structured result, the value is the list of its content blocks.
        value = result.value if isinstance(result.value, list) else []
        blocks = result.content or not_text(value)
        kept = replace(result, content=())
        if self._folder is None:
            if blocks:
                dropped = "the answers contain pictures, sounds or files; --out FOLDER saves them"
                self.remarks[dropped] = None
            return kept
        try:
            written = self._written(self._folder, result.index, blocks)
        except CallboardError as error:
            return replace(kept, status="failed", value=failure(error))
        return replace(kept, artefacts={**result.artefacts, **written})

    def _written(self, folder: Path, index: int, blocks: Sequence[Json]) -> dict[str, str]:
        """Return the SHA-256 of each written file, by its path. Raises SkillError or HostError."""
        files, paths = files_in({"content": blocks}), list[Path]()
        try:
            for path in keep_beside(folder, f"{index:06}-{self._tool}", files):
                paths.append(path)
        except OSError as error:
            for path in paths:
                path.unlink(missing_ok=True)
            raise unkept(folder, error) from None
        return {str(path): sha256(str(path)) for path in paths}


def _log(result: TaskResult) -> str:
    about = result.about
    facts = {
        "file": result.file,
        "status": result.status,
        "attempts": result.attempts,
        "worker": about.get("worker"),
        "seconds": about.get("seconds"),
        "artefacts": json.dumps(list(result.artefacts)) if result.artefacts else None,
    }
    lines = [f"{name}: {value}" for name, value in facts.items() if value not in (None, "")]
    if result.status == "failed":
        lines += ["", result.value["message"]]
    for stream, text in about.get("printed", {}).items():
        lines += ["", f"--- {stream}", text.rstrip("\n")]
    return "\n".join(lines) + "\n"
