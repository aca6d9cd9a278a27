"""``callboard uninstall-skill``."""

from __future__ import annotations

import argparse

from callboard.cli.bundle_place import add_place, place_of
from callboard.errors import HostError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="as `callboard skills --installed` shows it")
    add_place(parser)


def run(arguments: argparse.Namespace) -> int:
    try:
        place_of(arguments).uninstall(arguments.name)
    except OSError as error:
        raise HostError(f"it can't be removed: {error.strerror or error}") from None
    print(f"{arguments.name} is removed. Hosts that run forget it within seconds.")
    return 0
