"""``callboard config``: the configuration that connects an MCP client."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from callboard.cli.instance import choose
from callboard.errors import PeerError
from callboard.panel.client_files import (
    ClientFormat,
    bridge,
    bridge_entry,
    formats,
    own_token,
    planned,
)

NO_BRIDGE = (
    "this client starts the program 'callboard', which isn't installed for this user: install it "
    "with `pipx install FOLDER`, where FOLDER is callboard's source, then come back"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("client", choices=sorted(formats()))
    parser.add_argument("--name", help="what its token is called; by default, as the client")
    parser.add_argument("--instance", metavar="ID")
    parser.add_argument(
        "--http", action="store_true", help="address and token instead of the bridge"
    )
    parser.add_argument("--write", action="store_true", help="merge it into the client's file")


def run(arguments: argparse.Namespace) -> int:
    known, name = formats()[arguments.client], arguments.name or arguments.client
    if arguments.write and known.path is None:
        raise PeerError("that client's file isn't known; print the configuration and paste it")
    if arguments.http:
        entry = _http_entry(known, arguments)
        lacks_bridge = False
    else:
        lacks_bridge = bridge() is None
        if arguments.write and lacks_bridge:
            raise PeerError(NO_BRIDGE)
        own_token(name)
        entry = bridge_entry(name, arguments.instance)
    if arguments.write and known.path is not None:
        merge(known.path, known.key, entry)
        return 0
    print(json.dumps({known.key: {"callboard": entry}}, indent=2))
    if known.path is not None:
        print(f"# for {known.title}: {known.path}", file=sys.stderr)
    if lacks_bridge:
        print(f"# {NO_BRIDGE}", file=sys.stderr)
    return 0


def _http_entry(known: ClientFormat, arguments: argparse.Namespace) -> dict[str, Any]:
    """One instance's address, and the client's token."""
    if known.stdio:
        raise PeerError(f"{known.title} takes no local address; leave --http out")
    if arguments.write and known.shared:
        raise PeerError(
            f"{known.path} is shared with the project, and no place for a token; leave --http out, "
            "or leave --write out and paste it where only you read it"
        )
    instance = choose(arguments.instance)
    if instance.token is not None:
        token = own_token(arguments.name or arguments.client)
        instance = replace(instance, token=token)
    return known.entry(instance)


def merge(path: Path, key: str, entry: dict[str, Any]) -> None:
    """Puts the entry into the file, shows the difference, and touches nothing else in it."""
    change = planned(path, key, entry)
    sys.stderr.writelines(change.difference)
    change.write()
