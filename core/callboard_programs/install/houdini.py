"""Installs callboard as one of Houdini's packages, in the preferences folder of each version."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from callboard.errors import HostError
from callboard_programs.install.documents import documents_folders
from callboard_programs.install.host_archive import HostArchive

ARCHIVE = HostArchive(
    host="houdini",
    name="Houdini",
    ours="packages/callboard",
    found_by="packages/callboard.json",
)
OLDEST = (20, 0)
#: The part of a path that Houdini replaces with its version.
_VERSION = "__HVER__"


def install(folder: Path | None, archive: Path | None, dry_run: bool) -> list[str]:
    """Install into the version with that preferences folder, or into all that are found. Raises
    HostError."""
    places = _places(folder)
    if not places:
        raise HostError(
            "no Houdini 20.0 or later has ever been started on this machine; specify its "
            "preferences folder with --dir"
        )
    return ARCHIVE.install(places, archive, dry_run)


def uninstall(folder: Path | None, dry_run: bool) -> list[str]:
    return ARCHIVE.uninstall(_places(folder), dry_run)


def user_folders() -> dict[str, Path]:
    """Return the folders of the versions that have been started on this machine."""
    return {f"Houdini in {place}": place for place in _places(None)}


def rewritten(folder: Path) -> list[Path]:
    """Return no files, because Houdini finds the package when it starts."""
    return []


def made_elsewhere() -> list[Path]:
    """Return no folders, because setup never starts Houdini."""
    return []


def _places(folder: Path | None) -> list[Path]:
    if folder is not None:
        return [folder]
    return sorted({place for pattern in _preferences() for place in _existing(pattern)})


def _existing(pattern: Path) -> Iterator[Path]:
    index = next((i for i, part in enumerate(pattern.parts) if _VERSION in part), None)
    if index is None:
        # All versions use this folder. The package itself states which versions it is for.
        yield from [pattern] if pattern.is_dir() else []
        return
    above = Path(*pattern.parts[:index])
    named = re.compile(re.escape(pattern.parts[index]).replace(_VERSION, r"(\d+)\.(\d+)"))
    for path in above.iterdir() if above.is_dir() else ():
        match = named.fullmatch(path.name)
        folder = path.joinpath(*pattern.parts[index + 1 :])
        if match and (int(match[1]), int(match[2])) >= OLDEST and folder.is_dir():
            yield folder


def _preferences() -> list[Path]:
    if named := os.environ.get("HOUDINI_USER_PREF_DIR"):
        return [Path(named)]
    if sys.platform == "darwin":
        return [Path.home() / "Library" / "Preferences" / "houdini" / _VERSION]
    homes = [Path.home()]
    if sys.platform == "win32":
        # Houdini keeps its preferences in HOME if the shell that started it sets HOME. Started from
        # the menu, it keeps them in the documents folder.
        named = os.environ.get("HOME")
        homes = [*([Path(named)] if named else []), *documents_folders()]
    return [home / f"houdini{_VERSION}" for home in dict.fromkeys(homes)]
