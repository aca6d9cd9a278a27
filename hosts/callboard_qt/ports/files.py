"""Checks for foreseeable failures before an application opens or saves a scene. Most applications
drop the open scene before they read the new one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from stat import S_IMODE

from callboard.errors import HostError
from callboard.host import checked_suffix, mode_to_keep, require_folder

#: The reason for refusing other suffixes.
OTHERS = "; other formats are imported or exported"


def openable(
    path: str, starts: Mapping[str, tuple[bytes, ...]], what: str, because: str = OTHERS
) -> Path:
    """Return the file if it exists and begins as its suffix requires. Otherwise raise HostError,
    which says that the file isn't ``what``."""
    file = Path(path)
    wanted = starts[checked_suffix(path, starts, because)]
    if not file.is_file():
        raise HostError(f"there is no file '{file.name}' at that path")
    with file.open("rb") as stream:
        if not stream.read(max(map(len, wanted))).startswith(wanted):
            raise HostError(f"'{file.name}' is not {what}")
    return file


def saveable(path: str | None, suffixes: Iterable[str], because: str = OTHERS) -> Path:
    """Return the file to save to. ``path`` is None for a scene that has no file yet. Raises
    HostError if the file can't be saved there."""
    if not path:
        raise HostError("this scene has never been saved; give a path")
    file = Path(path)
    checked_suffix(path, suffixes, because)
    require_folder(file)
    if file.is_dir():
        raise HostError(f"'{file.name}' is a folder; give the name of a file")
    if file.exists():
        mode_to_keep(file.name, S_IMODE(file.stat().st_mode))
    return file
