"""``callboard config``: the configuration that connects an MCP client."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from callboard.cli.instance import choose
from callboard.errors import PeerError
from callboard.panel.client_files import bridge, formats, planned

NO_BRIDGE = (
    "this client starts the program 'callboard', which isn't installed for this user: install it "
    "with `pipx install FOLDER`, where FOLDER is callboard's source, then come back"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("client", choices=sorted(formats()))
    parser.add_argument("--instance", metavar="ID")
    parser.add_argument("--write", action="store_true", help="merge it into the client's file")


def run(arguments: argparse.Namespace) -> int:
    known = formats()[arguments.client]
    instance = None if known.stdio else choose(arguments.instance)
    addition = {known.key: {"callboard": known.entry(instance)}}
    lacks_bridge = known.stdio and bridge() is None
    if not arguments.write:
        print(json.dumps(addition, indent=2))
        if known.path is not None:
            print(f"# for {known.title}: {known.path}", file=sys.stderr)
        if lacks_bridge:
            print(f"# {NO_BRIDGE}", file=sys.stderr)
        return 0
    if lacks_bridge:
        raise PeerError(NO_BRIDGE)
    if known.path is None:
        raise PeerError("that client's file isn't known; print the configuration and paste it")
    merge(known.path, known.key, known.entry(instance))
    return 0


def merge(path: Path, key: str, entry: dict[str, Any]) -> None:
    """Puts the entry into the file, shows the difference, and touches nothing else in it."""
    change = planned(path, key, entry)
    sys.stderr.writelines(change.difference)
    change.write()
