"""``callboard config``: writes the configuration that connects an MCP client."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from callboard.content import Json
from callboard.errors import PeerError
from callboard.ground.plain_text import plain_json
from callboard.panel.client_files import (
    ClientFormat,
    bridge,
    formats,
    own_token,
    planned,
    require_allowed,
)
from callboard_programs.cli.install_link import install_link
from callboard_programs.cli.instance import choose
from callboard_programs.gateway.kept_address import gateway_url, instance_path
from callboard_programs.gateway.running_gateway import running_gateway, started_gateway

NO_BRIDGE = (
    "this client starts the program 'callboard', which isn't installed for this user: install it "
    "with `pipx install FILE`, where FILE is callboard's wheel or the folder of its source, then "
    "run this again"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "client",
        choices=sorted(formats()),
        help="other means any client that takes an address and a token",
    )
    parser.add_argument("--name", help="the token's name; by default the client's")
    parser.add_argument(
        "--instance", metavar="ID", help="an instance id, the start of one, or a host"
    )
    parser.add_argument(
        "--http", action="store_true", help="use the address and a token instead of the bridge"
    )
    parser.add_argument(
        "--gateway",
        action="store_true",
        help="use the gateway's fixed address; with --instance, that instance's",
    )
    parser.add_argument(
        "--user",
        action="store_true",
        help="use your own file, for all projects, not the project's",
    )
    parser.add_argument("--write", action="store_true", help="write it into the client's file")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def run(arguments: argparse.Namespace) -> int:
    known, name = require_allowed(arguments.client), arguments.name or arguments.client
    if arguments.user:
        known = known.users
    if arguments.write and known.path is None:
        raise PeerError(
            "callboard doesn't know that client's file; leave --write out, and paste the printed "
            "configuration into it"
        )
    by_address = arguments.http or (arguments.gateway and not known.stdio)
    if by_address:
        entry = _http_entry(known, arguments)
        needs_bridge = False
    else:
        if arguments.gateway:
            # This raises an error if the argument can't be an instance's name.
            instance_path(arguments.instance)
        needs_bridge = bridge() is None
        if arguments.write and needs_bridge:
            raise PeerError(NO_BRIDGE)
        own_token(name)
        entry = known.bridge(name, arguments.instance, gateway=arguments.gateway)
    shown = {
        "client": arguments.client,
        "path": known.path and str(known.path),
        "configuration": known.text(entry),
        "link": None if by_address else install_link(arguments.client, entry),
        "wrong": NO_BRIDGE if needs_bridge else None,
    }
    if not arguments.write or known.path is None:
        _show(known, {**shown, "written": False}, as_json=arguments.json)
        return 0
    change = planned(known, known.path, entry)
    sys.stderr.writelines(change.difference)
    if change.difference:
        change.write()
    if by_address and arguments.gateway:
        started_gateway()  # A bridge would start the gateway on its own.
    if arguments.json:
        _show(known, {**shown, "written": bool(change.difference)}, as_json=True)
    elif change.difference:
        print(f"# written to {known.path}; restart {known.title}", file=sys.stderr)
    else:
        print(f"# {known.path} already contains this configuration", file=sys.stderr)
    return 0


def _show(known: ClientFormat, shown: Json, *, as_json: bool) -> None:
    if as_json:
        print(plain_json(shown))
        return
    print(shown["configuration"], end="")
    if known.path is not None:
        print(f"# for {known.title}: {known.path}", file=sys.stderr)
    if shown["link"]:
        print(f"# or open {shown['link']}", file=sys.stderr)
    if shown["wrong"]:
        print(f"# {shown['wrong']}", file=sys.stderr)


def _http_entry(known: ClientFormat, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the client's entry: the address of one instance or of the gateway, and the client's
    token."""
    option = "--gateway" if arguments.gateway else "--http"
    if known.stdio:
        raise PeerError(f"{known.title} doesn't accept a local address; leave {option} out")
    if arguments.write and known.shared:
        raise PeerError(
            f"{known.path} is shared with the project, so a token must not go there; leave "
            f"{option} out, give --user for your own file, or leave --write out and paste it where "
            f"only you can read it"
        )
    name = arguments.name or arguments.client
    if arguments.gateway:
        running = running_gateway()  # Its port may differ from the saved one.
        path = instance_path(arguments.instance)
        url = gateway_url(arguments.instance) if running is None else running.url + path
        return known.entry(url, own_token(name))
    instance = choose(arguments.instance)
    return known.entry(instance.url, None if instance.token is None else own_token(name))
