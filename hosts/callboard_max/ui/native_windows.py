"""Windows of 3ds Max that Qt doesn't know."""

from __future__ import annotations

import ctypes
from typing import Any


def window_takes_input(handle: int) -> bool:
    """False while a dialog of Windows' own kind stands in front of that window: Windows disables
    the window below for as long. Elsewhere than on Windows always True."""
    libraries: Any = getattr(ctypes, "windll", None)
    return libraries is None or bool(libraries.user32.IsWindowEnabled(ctypes.c_void_p(handle)))
