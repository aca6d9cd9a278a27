"""Installs callboard into Maya, Houdini and 3ds Max. An archive is unpacked into a folder that the
host searches. The archive adds one folder there, which belongs to callboard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from callboard.errors import HostError
from callboard_programs.install.archive import built, contents
from callboard_programs.install.placed_files import place, remove


@dataclass(frozen=True)
class HostArchive:
    """One host's archive. Paths have forward slashes."""

    host: str
    #: The host's human-readable name.
    name: str
    #: The folder in the archive that is ours.
    ours: str
    #: The file in the archive by which the host finds our folder.
    found_by: str

    def install(self, folders: Sequence[Path], archive: Path | None, dry_run: bool) -> list[str]:
        """Install into each of the folders, and return a line for each change. Raises HostError."""
        chosen = archive or built(self.host)
        files = contents(chosen)
        strays = [
            name for name in files if name != self.found_by and not name.startswith(f"{self.ours}/")
        ]
        if self.found_by not in files or strays:
            raise HostError(f"{chosen.name} is not the archive for {self.name}")
        lines: list[str] = []
        for folder in folders:
            lines += place(folder, files, dry_run=dry_run, ours=self.ours, beside=self.found_by)
        return lines

    def uninstall(self, folders: Sequence[Path], dry_run: bool) -> list[str]:
        """Remove everything that ``install`` installed."""
        lines: list[str] = []
        for folder in folders:
            lines += remove(folder, dry_run=dry_run, ours=self.ours, beside=self.found_by)
        return lines
