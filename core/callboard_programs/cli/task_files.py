"""The pictures, sounds and files of many tasks' results, as files of one folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from callboard.content import Json
from callboard.errors import CallboardError
from callboard.mapping.tasks import TaskResult
from callboard_programs.batch.artefacts import sha256
from callboard_programs.cli.result_files import files_in, keep_beside, require_folder, unkept
from callboard_programs.client.tool_call import failure, not_text


def described_place(folder: Path | None) -> Json:
    """What a report says of the folder: a run with another one, or with one for the first time,
    would else leave it empty where the tasks are done."""
    return {} if folder is None else {"out": str(folder.absolute())}


class TaskFiles:
    """What isn't text goes to the folder, called by the task's index and the tool; without one
    ``dropped`` says whether there was any."""

    def __init__(self, folder: Path | None, tool: str) -> None:
        """Makes the folder. Raises PeerError where it can't be made, or takes no file."""
        self._folder, self._tool = folder and folder.absolute(), tool
        self.dropped = False
        if self._folder is not None:
            require_folder(str(folder), self._folder)

    def keep(self, result: TaskResult) -> TaskResult:
        """The result with the files among its artefacts, and without their bytes. A failure where
        they are broken or can't be written."""
        if result.status == "failed":
            return result
        # A tool that answers with nothing for programs has its blocks as the value.
        value = result.value if isinstance(result.value, list) else []
        blocks = result.content or not_text(value)
        kept = replace(result, content=())
        if self._folder is None:
            self.dropped = self.dropped or bool(blocks)
            return kept
        try:
            written = self._written(self._folder, result.index, blocks)
        except CallboardError as error:
            return replace(kept, status="failed", value=failure(error))
        return replace(kept, artefacts={**result.artefacts, **written})

    def _written(self, folder: Path, index: int, blocks: Sequence[Json]) -> dict[str, str]:
        """The SHA-256 of each file by its path. Raises SkillError, HostError."""
        files, paths = files_in({"content": blocks}), list[Path]()
        try:
            for path in keep_beside(folder, f"{index:06}-{self._tool}", files):
                paths.append(path)
        except OSError as error:
            for path in paths:
                path.unlink(missing_ok=True)
            raise unkept(folder, error) from None
        return {str(path): sha256(str(path)) for path in paths}
