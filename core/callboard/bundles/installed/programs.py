"""Finds a bundle's program on the artist's own ``PATH``, and never in the host's folder.

Windows would search the folder of the starting application first, then the current folder. Its
``PATH`` contains aliases that open the Microsoft Store instead of Python. Windows also starts a
script such as ``npx.cmd`` only by its full name.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

#: Programs that have different names on some systems.
_ALSO = {"python": "python3", "python3": "python"}
_SHOP = ("microsoft", "windowsapps")


def as_called_here(
    command: list[str],
    environ: Mapping[str, str] = os.environ,
    *,
    windows: bool = os.name == "nt",
) -> list[str]:
    """Return ``command`` with the full path of its program, or unchanged if the program isn't
    found. In that case, starting the program reports the error. May wait for a disk."""
    name = command[0]
    if Path(name).is_absolute():
        return command
    for each in filter(None, (name, _ALSO.get(name))):
        program = _on_windows(each, environ) if windows else shutil.which(each)
        if program is not None:
            return [program, *command[1:]]
    return command


def _on_windows(name: str, environ: Mapping[str, str]) -> str | None:
    endings = [each for each in environ.get("PATHEXT", ".COM;.EXE;.BAT;.CMD").split(";") if each]
    names = [name + ending.lower() for ending in endings]
    if name.lower().endswith(tuple(each.lower() for each in endings)):
        names.insert(0, name)
    for folder in environ.get("PATH", "").split(";"):
        place = Path(folder.strip('"'))
        if not place.is_absolute() or _is_shop(folder):
            continue
        for each in names:
            if (place / each).is_file():
                return str(place / each)
    return None


def _is_shop(folder: str) -> bool:
    parts = folder.lower().replace("\\", "/").rstrip("/").split("/")
    return tuple(parts[-2:]) == _SHOP
