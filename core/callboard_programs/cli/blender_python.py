"""Checks whether Blender would load the wrong Python library. A Blender that uses the system's
Python, such as Debian's, loads the library of the first ``python3`` on the path. Blender doesn't
work with a library that was built differently."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path


def findings() -> list[tuple[bool, str]]:
    """Return a warning if Blender, started from here, would load the wrong library. It is only a
    warning because the path may be different when Blender is started from a menu."""
    program, first = shutil.which("blender"), shutil.which("python3")
    if sys.platform != "linux" or program is None or first is None:
        return []
    blender = Path(program).resolve()
    # Snap's and Flatpak's programs have different names, and Blender's own builds include Python.
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
            f"{first} is the first python3 on the path, so {program}, which runs on {own}, would "
            f"load the library {library}, and add-ons may fail with 'undefined symbol'. If they "
            f"do, deactivate that Python, or start Blender with `{command}`",
        )
    ]
