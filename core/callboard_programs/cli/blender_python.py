"""A Blender on the system's Python, as Debian's is, takes the library of the first ``python3`` on
the path: one that was built otherwise doesn't fit it."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path


def findings() -> list[tuple[bool, str]]:
    """Whether that befalls a Blender that is started from here. From a menu it may have another
    path, so nothing need be wrong."""
    program, first = shutil.which("blender"), shutil.which("python3")
    if sys.platform != "linux" or program is None or first is None:
        return []
    blender = Path(program).resolve()
    # What is started by snap or Flatpak is called otherwise, and Blender's own builds bring Python.
    own = blender.parent / "python3"
    if not blender.name.startswith("blender") or not own.is_file():
        return []
    other, own = Path(first).resolve(), own.resolve()
    library = other.parent.parent / "lib" / own.name
    if other.parent == own.parent or not (library / "os.py").is_file():
        return []
    command = f"PATH={shlex.quote(str(blender.parent))}:$PATH blender"
    return [
        (
            True,
            f"{first} is the first python3 on the path: {program}, which runs on {own}, takes "
            f"{library} for its library, and add-ons may fail with 'undefined symbol'. Where they "
            f"do, deactivate that Python, or start it with `{command}`",
        )
    ]
