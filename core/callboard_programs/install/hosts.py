"""The applications that callboard can be put into."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

#: Host to the module that knows how.
HOSTS = {
    "blender": "callboard_programs.install.blender",
    "maya": "callboard_programs.install.maya",
    "houdini": "callboard_programs.install.houdini",
    "3dsmax": "callboard_programs.install.max",
}


class Installer(Protocol):
    """What such a module has. The lines say what was done, or what would be."""

    def install(self, folder: Path | None, archive: Path | None, dry_run: bool) -> list[str]:
        """Into the version whose user folder that is, or all that are there. Raises HostError,
        OSError."""

    def uninstall(self, folder: Path | None, dry_run: bool) -> list[str]:
        """Out of it again. Raises HostError, OSError."""

    def user_folders(self) -> dict[str, Path]:
        """The versions on this machine, by their name: the folder that is written to."""

    def rewritten(self, folder: Path) -> list[Path]:
        """The user's own files that the host writes again when callboard goes into it."""

    def made_elsewhere(self) -> list[Path]:
        """Folders besides these that the host makes whenever it starts, needed or not."""


def installer(host: str) -> Installer:
    """``host`` is one of HOSTS."""
    return cast(Installer, import_module(HOSTS[host]))
