"""The libraries that Blender's Python module links to and that a Linux system without a desktop
doesn't have."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence

#: Each library, with the names of its packages on Debian and on Fedora.
BLENDER_LINKS = {
    "libX11.so.6": ("libx11-6", "libX11"),
    "libXrender.so.1": ("libxrender1", "libXrender"),
    "libXfixes.so.3": ("libxfixes3", "libXfixes"),
    "libXi.so.6": ("libxi6", "libXi"),
    "libxkbcommon.so.0": ("libxkbcommon0", "libxkbcommon"),
    "libSM.so.6": ("libsm6", "libSM"),
    "libICE.so.6": ("libice6", "libICE"),
    "libGL.so.1": ("libgl1", "mesa-libGL"),
}


def missing_for_blender() -> str | None:
    """Return a sentence on what to install before ``bpy`` can be imported, or None when no known
    library is missing. Loads libraries. Call it from any thread."""
    if sys.platform != "linux":
        return None
    missing = [name for name in BLENDER_LINKS if not is_there(name)]
    return what_to_install(missing) if missing else None


def what_to_install(libraries: Sequence[str]) -> str:
    debian, fedora = zip(*(BLENDER_LINKS[name] for name in libraries), strict=True)
    return (
        f"this system is missing {', '.join(libraries)}, which Blender needs. On Debian and "
        f"Ubuntu `sudo apt install {' '.join(debian)}`, on Fedora `sudo dnf install "
        f"{' '.join(fedora)}`"
    )


def is_there(library: str) -> bool:
    """Return whether the loader finds the library."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
