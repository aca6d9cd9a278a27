"""What a run leaves besides its report: a log for each task, and copies of what was written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from callboard.content import Json
from callboard.errors import HostError
from callboard.mapping.tasks import TaskResult


class KeptFiles:
    """A folder for each, or None for none."""

    def __init__(self, logs: Path | None, artefacts: Path | None) -> None:
        self._logs, self._artefacts = logs, artefacts

    def keep(self, result: TaskResult, about: Json) -> None:
        """``about`` is ``{worker?, printed?, seconds?}``. Raises HostError."""
        try:
            if self._logs is not None:
                self._logs.mkdir(parents=True, exist_ok=True)
                log = self._logs / f"{result.index:06}.log"
                log.write_text(_told(result, about), encoding="utf-8")
            if self._artefacts is not None:
                self._artefacts.mkdir(parents=True, exist_ok=True)
                for path in map(Path, result.artefacts):
                    shutil.copyfile(path, self._artefacts / f"{result.index:06}-{path.name}")
        except OSError as error:
            raise HostError(f"task {result.index} is done, but not kept: {error}") from None


def _told(result: TaskResult, about: Json) -> str:
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
