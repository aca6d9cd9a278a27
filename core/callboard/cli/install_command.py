"""``callboard install`` and ``callboard uninstall``: into a host, as its users install things."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
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


def add(commands: Any) -> None:
    for name, text in (
        ("install", "put callboard into Maya, Blender, Houdini or 3ds Max"),
        ("uninstall", "take callboard out of it again"),
    ):
        parser = commands.add_parser(name, help=text)
        parser.add_argument("host", choices=sorted(HOSTS))
        parser.add_argument(
            "--dir",
            metavar="D",
            type=Path,
            help="the user folder of one version of the host, for 3ds Max an ApplicationPlugins"
            " folder; without it every version found",
        )
        parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
        if name == "install":
            parser.add_argument(
                "--archive",
                metavar="FILE",
                type=Path,
                help="what to install; without it, it is built from this checkout",
            )
        parser.set_defaults(run=install if name == "install" else uninstall)


def install(arguments: argparse.Namespace) -> int:
    host = importlib.import_module(HOSTS[arguments.host])
    with _clear_errors():
        told = host.install(_folder(arguments), arguments.archive, arguments.dry_run)
    return _tell(told, arguments)


def uninstall(arguments: argparse.Namespace) -> int:
    host = importlib.import_module(HOSTS[arguments.host])
    with _clear_errors():
        told = host.uninstall(_folder(arguments), arguments.dry_run)
    return _tell(told, arguments)


@contextmanager
def _clear_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise HostError(f"{error.strerror or error}: {error.filename}") from None


def _folder(arguments: argparse.Namespace) -> Path | None:
    return arguments.dir.absolute() if arguments.dir is not None else None


def _tell(lines: list[str], arguments: argparse.Namespace) -> int:
    for line in lines or ["nothing to do"]:
        print(("would " if arguments.dry_run and lines else "") + line)
    return 0
