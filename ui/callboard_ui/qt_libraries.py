"""The missing system libraries that Qt needs to open a window on X11, and how to install them.

Qt itself always names libxcb-cursor0, no matter which library is missing. This module doesn't
import Qt, which is loaded in a separate process.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence

_SECONDS = 30.0
#: Libraries that Qt's plug-in for X11 needs and that few systems have by default, with their
#: packages on Fedora and Arch.
_SELDOM_THERE = {
    "libxcb-cursor.so.0": "xcb-util-cursor",
    "libxcb-icccm.so.4": "xcb-util-wm",
    "libxcb-image.so.0": "xcb-util-image",
    "libxcb-keysyms.so.1": "xcb-util-keysyms",
    "libxcb-render-util.so.0": "xcb-util-renderutil",
    "libxcb-util.so.1": "xcb-util",
}
_WHERE = """
import sys
sys.path[:] = sys.argv[1:]
from PySide6.QtCore import QLibraryInfo
print(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath) + "/platforms/libqxcb.so")
"""
#: The linker reports one missing library at a time, so the usual ones are checked too.
_LOAD = """
import ctypes, json, sys
def lacks(path):
    try: ctypes.CDLL(path)
    except OSError as error: return str(error).partition(": cannot open shared object file")
found = lacks(sys.argv[1])
names = [found[0]] if found and found[1] and found[0] != sys.argv[1] else []
print(json.dumps(names + [name for name in sys.argv[2:] if names and lacks(name)]))
"""


def advice(path: Sequence[str]) -> str | None:
    """Return what to install so that the PySide6 on this Python ``path`` can open a window on X11.
    Return None when no library is missing, or when that can't be determined. Takes up to a second.
    Call it from any thread."""
    plugin = _output_of([sys.executable, "-I", "-c", _WHERE, *path])
    missing = missing_libraries(plugin.strip()) if plugin else []
    return what_to_install(missing) if missing else None


def missing_libraries(plugin: str) -> list[str]:
    """Return the missing libraries, such as ``libxcb-icccm.so.4``, that keep ``plugin`` from
    loading."""
    output = _output_of([sys.executable, "-I", "-c", _LOAD, plugin, *_SELDOM_THERE])
    return list(dict.fromkeys(json.loads(output))) if output else []


def what_to_install(libraries: Sequence[str]) -> str:
    """Return sentences that tell the artist what to install."""
    one = len(libraries) == 1
    debian = " and ".join(debian_package(name) for name in libraries)
    other = " and ".join(_SELDOM_THERE.get(name, f"what has {name}") for name in libraries)
    return (
        f"Qt needs {'a library that is' if one else 'libraries that are'} missing here. "
        f"Install the {'package' if one else 'packages'} {debian} (Debian, Ubuntu) or {other} "
        "(Fedora, Arch), then try again."
    )


def debian_package(library: str) -> str:
    """Return the library's Debian package, which is named after the library and its version."""
    name, _, version = library.partition(".so.")
    return (name + ("-" if name[-1:].isdigit() else "") + version).lower()


def _output_of(command: Sequence[str]) -> str | None:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout
