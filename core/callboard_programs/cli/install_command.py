"""``callboard install``: installs callboard into a host in the way that the host's users install
plug-ins."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from callboard.errors import HostError, PeerError
from callboard.ground.plain_text import plain_json
from callboard_programs.cli.progress_bar import meanwhile
from callboard_programs.install.hosts import HOSTS, Installer, installer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_host(parser)
    parser.add_argument(
        "--archive",
        metavar="FILE",
        type=Path,
        help="the archive to install; by default callboard's own, or one built from this checkout",
    )


def add_host(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that name the host and its folder."""
    parser.add_argument("host", choices=sorted(HOSTS), help="the application")
    parser.add_argument(
        "--dir",
        metavar="D",
        type=Path,
        help="the user folder of one version of the host, for 3ds Max an ApplicationPlugins"
        " folder; without it every version found",
    )
    parser.add_argument("--dry-run", action="store_true", help="only show what would be done")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def run(arguments: argparse.Namespace) -> int:
    return tell(
        arguments, lambda host, folder: host.install(folder, arguments.archive, arguments.dry_run)
    )


def tell(arguments: argparse.Namespace, work: Callable[[Installer, Path | None], list[str]]) -> int:
    """Run ``work`` with the host's module and the folder from the arguments, and print the lines
    that ``work`` returns. Raises HostError."""
    host = installer(arguments.host)
    folder = None if arguments.dir is None else arguments.dir.absolute()
    if folder is not None and folder.exists() and not folder.is_dir():
        raise PeerError(f"--dir {arguments.dir} is a file; give a folder")
    if not arguments.dry_run:
        meanwhile(f"finding {arguments.host} and starting it, which may take half a minute")
    try:
        lines = work(host, folder)
    except OSError as error:
        raise HostError(f"{error.strerror or error}: {error.filename}") from None
    if arguments.json:
        print(plain_json({"host": arguments.host, "dry_run": arguments.dry_run, "lines": lines}))
        return 0
    for line in lines or ["nothing to do"]:
        print(("would " if arguments.dry_run and lines else "") + line)
    return 0
