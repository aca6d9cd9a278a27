"""Makes names that Blender can tell apart.

Up to 4.4, Blender numbers copies from the number after the last dot, and miscounts if it would
format that number differently. For example, once ``a.1`` is gone, a copy of ``a.001`` is called
``a.001`` too. If two objects share a name, the next undo loses one of them or crashes Blender. This
happens in 3.4, 4.2 and 4.3, but no longer in 4.5.
"""

from __future__ import annotations

import re
from typing import Any

import bpy

from callboard.errors import HostError

_COUNTS_WELL = (4, 5, 0)
#: From this number on, Blender doesn't increment the number. It shortens the name instead.
_TOO_MANY = 10**9
#: Maximum number of bytes in a name in Blender.
_ROOM = 63


def written(name: str) -> str:
    """Return the name with its number as Blender would write it. A name without a number stays as
    it is."""
    numbered = re.fullmatch(r"(.*)\.([0-9]+)", name, re.DOTALL)
    if numbered is None:
        return name
    stem, number = numbered[1], int(numbered[2])
    return f"{stem}.{number:03}" if 0 < number < _TOO_MANY else f"{stem}_{numbered[2]}"


def refuse_miscounted(name: str | None) -> None:
    """Raise HostError for a name that this Blender may confuse with others."""
    if name is None or bpy.app.version >= _COUNTS_WELL:
        return
    if (better := written(name)) != name:
        raise HostError(
            f"Blender {bpy.app.version_string} can mix up objects whose names end like '{name}',"
            f" and an undo may then lose one of them; use '{better}'"
        )


def keep_apart(copy: Any, original: Any) -> None:
    """Rename a fresh copy if it has the same name as the original."""
    if copy.name_full != original.name_full:
        return
    name = original.name
    copy.name = name.encode()[: _ROOM - 2].decode(errors="ignore") + "_2"
    # Blender now considers the copy's first name free, so the original takes it again.
    original.name = name
