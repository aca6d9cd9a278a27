"""``callboard install``: into a host, as its users install things."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from callboard.errors import HostError

#: Host to the module that knows how: ``install(folder, archive, dry_run)`` and
#: ``uninstall(folder, dry_run)`` return the lines that say what was done.
HOSTS = {
    "blender": "callboard.install.blender",
    "maya": "callboard.install.maya",
    "houdini": "callboard.install.houdini",
    "3dsmax": "callboard.install.max",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_host(parser)
    parser.add_argument(
        "--archive",
        metavar="FILE",
        type=Path,
        help="what to install; without it, it is built from this checkout",
    )


def add_host(parser: argparse.ArgumentParser) -> None:
    """Which host, and where it is."""
    parser.add_argument("host", choices=sorted(HOSTS))
    parser.add_argument(
        "--dir",
        metavar="D",
        type=Path,
        help="the user folder of one version of the host, for 3ds Max an ApplicationPlugins"
        " folder; without it every version found",
    )
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")


def run(arguments: argparse.Namespace) -> int:
    return tell(
        arguments, lambda host, folder: host.install(folder, arguments.archive, arguments.dry_run)
    )


def tell(arguments: argparse.Namespace, work: Callable[[Any, Path | None], list[str]]) -> int:
    """Does the work with the host's module and the folder that the arguments name, and prints the
    lines that say what was done. Raises HostError."""
    host = import_module(HOSTS[arguments.host])
    folder = None if arguments.dir is None else arguments.dir.absolute()
    try:
        lines = work(host, folder)
    except OSError as error:
        raise HostError(f"{error.strerror or error}: {error.filename}") from None
    for line in lines or ["nothing to do"]:
        print(("would " if arguments.dry_run and lines else "") + line)
    return 0
