"""Installs callboard as one of 3ds Max's application bundles, in one user folder for all
versions."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from callboard.errors import HostError
from callboard_programs.install.host_archive import HostArchive

ARCHIVE = HostArchive(
    host="3dsmax",
    name="3ds Max",
    ours="callboard",
    found_by="callboard/PackageContents.xml",
)


def install(folder: Path | None, archive: Path | None, dry_run: bool) -> list[str]:
    """Install into the given ApplicationPlugins folder, or into the user's own. Raises
    HostError."""
    return ARCHIVE.install([folder or _user_folder()], archive, dry_run)


def uninstall(folder: Path | None, dry_run: bool) -> list[str]:
    """Remove callboard from the given folder, or from the user's own. Raises HostError."""
    return ARCHIVE.uninstall([folder or _user_folder()], dry_run)


def user_folders() -> dict[str, Path]:
    """Return the one folder for all versions, if any version has been started on this machine."""
    local = os.environ.get("LOCALAPPDATA")
    if sys.platform != "win32" or not local or not (Path(local) / "Autodesk" / "3dsMax").is_dir():
        return {}
    return {ARCHIVE.name: _user_folder()}


def rewritten(folder: Path) -> list[Path]:
    """Return no files, because 3ds Max finds the bundle when it starts."""
    return []


def made_elsewhere() -> list[Path]:
    """Return no folders, because setup never starts 3ds Max."""
    return []


def _user_folder() -> Path:
    roaming = os.environ.get("APPDATA")
    if sys.platform != "win32" or not roaming:
        raise HostError("3ds Max runs on Windows; specify an ApplicationPlugins folder with --dir")
    return Path(roaming) / "Autodesk" / "ApplicationPlugins"
