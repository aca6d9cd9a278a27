"""The applications that callboard can be installed into."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

#: The installer module of each host.
HOSTS = {
    "blender": "callboard_programs.install.blender",
    "maya": "callboard_programs.install.maya",
    "houdini": "callboard_programs.install.houdini",
    "3dsmax": "callboard_programs.install.max",
}


class Installer(Protocol):
    """The functions of a module that installs callboard into a host. The lines that they return say
    which steps were done or, with ``dry_run``, which steps would be done."""

    def install(self, folder: Path | None, archive: Path | None, dry_run: bool) -> list[str]:
        """Install into the version with that user folder, or into all that are found. Raises
        HostError or OSError."""

    def uninstall(self, folder: Path | None, dry_run: bool) -> list[str]:
        """Remove callboard from that version, or from all of them. Raises HostError or OSError."""

    def user_folders(self) -> dict[str, Path]:
        """Return the versions on this machine by name, each with the folder that callboard is
        installed into."""

    def rewritten(self, folder: Path) -> list[Path]:
        """Return the user's own files that the host writes when callboard is installed."""

    def made_elsewhere(self) -> list[Path]:
        """Return the folders outside the user folder that the host may make when it starts."""


def installer(host: str) -> Installer:
    """Return the module for ``host``, one of HOSTS."""
    return cast(Installer, import_module(HOSTS[host]))
