"""Skips tests that need something this machine doesn't have: ``need("bpy")``.

It checks that each package can be loaded, because an installed one may still lack a system library.
Run as a program, it prints one line that names the tests that will be skipped here, and the command
that installs the missing packages. With ``--all`` it covers all tests.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec

import pytest

from callboard.host_kit.system_libraries import BLENDER_LINKS, is_there

#: The libraries that Qt's widgets link to, each with its package on Debian and on Fedora.
QT_LINKS = {
    "libglib-2.0.so.0": ("libglib2.0-0", "glib2"),
    "libEGL.so.1": ("libegl1", "libglvnd-egl"),
    "libGL.so.1": ("libgl1", "libglvnd-glx"),
    "libdbus-1.so.3": ("libdbus-1-3", "dbus-libs"),
    "libfontconfig.so.1": ("libfontconfig1", "fontconfig"),
    "libxkbcommon.so.0": ("libxkbcommon0", "libxkbcommon"),
}
#: The programs that tests start, each with its package on Debian and on Fedora.
PROGRAMS = {
    "openssl": ("openssl", "openssl"),
    "cc": ("gcc", "gcc"),
    "bash": ("bash", "bash"),
    "zsh": ("zsh", "zsh"),
    "fish": ("fish", "fish"),
    "curl": ("curl", "curl"),
    "node": ("nodejs", "nodejs"),
    "npm": ("npm", "nodejs-npm"),
    "chromium": ("chromium", "chromium"),
    "blender": ("blender", "blender"),
    "freecad": ("freecad", "freecad"),
    "Xvfb": ("xvfb", "xorg-x11-server-Xvfb"),
    "xdotool": ("xdotool", "xdotool"),
}
QUICK_PROGRAMS = ("openssl", "cc")


def need(*wanted: str) -> None:
    """Skip the test, or the module that is being imported, unless all of these are available:
    modules by their name, programs, ``qt``, or ``terminals``."""
    for each in wanted:
        if (reason := missing(each)) is not None:
            pytest.skip(reason, allow_module_level=True)


def needs(*wanted: str) -> pytest.MarkDecorator:
    """Return a mark that skips a test as ``need`` does."""
    reasons = list(filter(None, map(missing, wanted)))
    return pytest.mark.skipif(bool(reasons), reason="; ".join(reasons) or "all is here")


@cache
def missing(wanted: str) -> str | None:
    """Return why the requirement isn't available here, or None if it is."""
    if wanted == "terminals":
        return _no_terminals()
    if wanted in PROGRAMS:
        names = [wanted, *(["chromium-browser"] if wanted == "chromium" else [])]
        return None if any(map(shutil.which, names)) else f"{wanted} is not installed"
    if wanted == "bpy" and find_spec(wanted) is None:
        return "bpy is not installed"
    if wanted in LINKS and (libraries := _lacking(LINKS[wanted])):
        return f"{TOLD[wanted]} can't be loaded without {', '.join(libraries)}"
    # This package takes seconds to load, so only the tests that use it load it.
    if wanted == "bpy":
        return None
    try:
        for module in ("qtpy.QtWidgets", "pytestqt.plugin") if wanted == "qt" else (wanted,):
            import_module(module)
    except ImportError as error:
        return f"{TOLD.get(wanted, wanted)} can't be imported: {error}"
    return None


LINKS: Mapping[str, Mapping[str, tuple[str, str]]] = {"bpy": BLENDER_LINKS, "qt": QT_LINKS}
TOLD = {"bpy": "Blender as a module", "qt": "Qt"}


def _lacking(links: Iterable[str]) -> list[str]:
    return [name for name in links if sys.platform == "linux" and not is_there(name)]


def _no_terminals() -> str | None:
    try:
        for end in os.openpty():
            os.close(end)
    except (AttributeError, OSError) as error:
        return f"there are no pseudo-terminals here: {error}"
    return None


def advice(programs: Iterable[str]) -> str:
    """Return a sentence about the tests that will be skipped, with the command that installs the
    missing system packages."""
    lacked, packages = [], []
    for name in filter(missing, LINKS):
        if name == "bpy" and find_spec(name) is None:
            lacked.append(f"{TOLD[name]}, which isn't published for this Python")
        else:
            lacked.append(TOLD[name])
            packages += [LINKS[name][library] for library in _lacking(LINKS[name])]
    for program in programs:
        if missing(program):
            lacked.append(program)
            packages.append(PROGRAMS[program])
    if missing("terminals"):
        lacked.append("terminals (/dev/pts isn't mounted)")
    if not lacked:
        return ""
    fedora = shutil.which("dnf") is not None
    names = " ".join(dict.fromkeys(package[fedora] for package in packages))
    command = (
        f" To run them too: sudo {'dnf' if fedora else 'apt'} install {names}" if names else ""
    )
    return f"this machine skips the tests that need {'; '.join(lacked)}.{command}"


if __name__ == "__main__":
    print(advice(PROGRAMS if "--all" in sys.argv else QUICK_PROGRAMS))
