"""``callboard uninstall-skill``: removes an installed bundle."""

from __future__ import annotations

import argparse

from callboard.errors import HostError
from callboard.ground.plain_text import plain_json
from callboard_programs.cli.bundle_place import add_place, place_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", metavar="NAME", help="the name that `callboard skills --installed` shows"
    )
    add_place(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def run(arguments: argparse.Namespace) -> int:
    try:
        place_of(arguments).uninstall(arguments.name)
    except OSError as error:
        message = f"'{arguments.name}' can't be removed: {error.strerror or error}"
        raise HostError(message) from None
    if arguments.json:
        print(plain_json({"name": arguments.name, "removed": True}))
        return 0
    print(f"{arguments.name} is removed. Running hosts drop it within seconds.")
    return 0
