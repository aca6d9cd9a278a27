"""Detects native windows of 3ds Max, which Qt doesn't report."""

from __future__ import annotations

import ctypes
from typing import Any


def window_takes_input(handle: int) -> bool:
    """Return False while a native dialog is open in front of that window, because Windows then
    disables the window. On other systems, always return True."""
    libraries: Any = getattr(ctypes, "windll", None)
    return libraries is None or bool(libraries.user32.IsWindowEnabled(ctypes.c_void_p(handle)))
