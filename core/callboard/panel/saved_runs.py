"""Saves successful calls as a skill."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from callboard.errors import PeerError
from callboard.ports.host import Host
from callboard.records.reader import Reader
from callboard.skills.catalog import SkillCatalog
from callboard.skills.discovery import BUNDLED
from callboard.skills.new_folder import write_folder


@dataclass(frozen=True)
class SavedRun:
    """A saved skill. ``left_out`` has sentences about the calls that aren't in the skill.
    ``wanted`` has the inputs that the user of the skill must supply."""

    folder: Path
    steps: int
    left_out: Sequence[str]
    wanted: Sequence[str]


class SavedRuns:
    """Writes skills from one server's recorded calls. Use it from any thread except the main one,
    because it reads the records and writes files."""

    def __init__(
        self, reader: Reader, catalog: SkillCatalog, redact: Callable[[str], str], host: Host
    ) -> None:
        """``redact`` removes secrets from a string."""
        self._reader = reader
        self._catalog = catalog
        self._redact = redact
        self._host = host

    @property
    def folder(self) -> Path:
        """The folder for the user's own skills: the first writable search path, or else the home
        folder."""
        shipped = {BUNDLED, *map(Path, self._host.skill_paths)}
        for path in self._catalog.paths:
            if path not in shipped and path.is_dir() and os.access(path, os.W_OK):
                return path
        return Path.home()

    def save(self, ids: Sequence[str], name: str, parent: Path) -> SavedRun:
        """Write ``parent/name``. Raises CallboardError, and sqlite3.Error for damaged records."""
        # Imported here, because most panels never save a run.
        from callboard.skills.from_calls.skill_writer import make_skill

        calls = self._reader.several(ids)
        if not calls:
            raise PeerError("these calls are no longer kept; choose newer ones")
        skills = [known.skill for known in self._catalog.known]
        new = make_skill(name, calls, skills, self._redact)
        folder = write_folder(parent, name, new.files)
        return SavedRun(folder, len(new.draft.steps), new.left_out, new.draft.wanted)
