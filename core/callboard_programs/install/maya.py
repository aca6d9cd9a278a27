"""Installs callboard as one of Maya's modules, in the user folder of each version."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from callboard.errors import HostError
from callboard_programs.install.documents import documents_folders
from callboard_programs.install.host_archive import HostArchive

ARCHIVE = HostArchive(host="maya", name="Maya", ours="callboard", found_by="callboard.mod")
OLDEST = 2024


def install(folder: Path | None, archive: Path | None, dry_run: bool) -> list[str]:
    """Install into the version with that user folder, or into all that are found. Raises
    HostError."""
    places = _places(folder)
    if not places:
        raise HostError(
            f"no Maya {OLDEST} or later has ever been started on this machine; specify its user "
            f"folder with --dir"
        )
    lines = ARCHIVE.install(places, archive, dry_run)
    if lines and not dry_run:
        lines.append("now tick callboard_plugin in Maya's Plug-in Manager, Loaded and Auto load")
    return lines


def uninstall(folder: Path | None, dry_run: bool) -> list[str]:
    return ARCHIVE.uninstall(_places(folder), dry_run)


def user_folders() -> dict[str, Path]:
    """Return the folders of the versions that have been started on this machine."""
    return {f"Maya {place.parent.name}": place.parent for place in _places(None)}


def rewritten(folder: Path) -> list[Path]:
    """Return no files, because Maya finds the module when it starts."""
    return []


def made_elsewhere() -> list[Path]:
    """Return no folders, because setup never starts Maya."""
    return []


def _places(folder: Path | None) -> list[Path]:
    if folder is not None:
        return [folder / "modules"]
    return [
        path / "modules"
        for user in _user_folders()
        for path in sorted(user.iterdir() if user.is_dir() else ())
        if re.fullmatch(r"\d{4}", path.name) and int(path.name) >= OLDEST and path.is_dir()
    ]


def _user_folders() -> list[Path]:
    if named := os.environ.get("MAYA_APP_DIR"):
        return [Path(named)]
    if sys.platform == "win32":
        return [documents / "maya" for documents in documents_folders()]
    if sys.platform == "darwin":
        return [Path.home() / "Library" / "Preferences" / "Autodesk" / "maya"]
    return [Path.home() / "maya"]
