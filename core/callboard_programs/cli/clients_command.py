"""``callboard clients``: lists, approves and revokes the clients that may connect."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import datetime

from callboard.clients.book import ClientBook
from callboard.errors import PeerError
from callboard.ground.plain_text import plain, plain_json
from callboard.transport.revoke import revoke
from callboard_programs.cli.json_option import add_json_after


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON, without tokens")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    ending = actions.add_parser(
        "revoke", help="stop a client from connecting, and end its open sessions"
    )
    ending.add_argument("name", metavar="NAME", help="the name in `callboard clients`")
    approving = actions.add_parser("approve", help="let a client connect from other machines too")
    approving.add_argument("name", metavar="NAME", help="the name in `callboard clients`")
    add_json_after(ending, approving)


def run(arguments: argparse.Namespace) -> int:
    if arguments.action == "revoke":
        return _revoke(arguments.name, as_json=arguments.json)
    if arguments.action == "approve":
        return _approve(arguments.name, as_json=arguments.json)
    clients = ClientBook().all()
    if arguments.json:
        rows = [
            {"name": one.name, "made": one.made, "remote": one.remote, "asks_from": one.asks_from}
            for one in clients
        ]
        print(json.dumps(rows, indent=2))
        return 0
    if not clients:
        print("no client has a token; `callboard config CLIENT` makes one")
    for one in clients:
        where = ", from other machines too" if one.remote else ""
        if one.asks_from:
            command = f"`callboard clients approve {one.name}`"
            where = f", asks to connect from {plain(one.asks_from)}: {command}"
        print(f"{one.name:<24} since {datetime.fromtimestamp(one.made):%Y-%m-%d %H:%M}{where}")
    return 0


def _approve(name: str, *, as_json: bool) -> int:
    if ClientBook().approve(name) is None:
        raise PeerError(f"no client is called {name[:80]!r}; `callboard config CLIENT` adds one")
    if as_json:
        print(plain_json({"name": name, "approved": True}))
        return 0
    print(f"{name} may connect from other machines, through `callboard gateway --listen`")
    return 0


def _revoke(name: str, *, as_json: bool) -> int:
    unanswered = revoke(name)
    if as_json:
        silent_ids = [one.id for one in unanswered]
        print(plain_json({"name": name, "revoked": True, "silent": silent_ids}))
        return 0
    for silent in unanswered:
        print(
            f"# {silent.id} ({silent.kind}) isn't answering; the change takes effect there once "
            f"it answers",
            file=sys.stderr,
        )
    print(f"{name} can no longer connect")
    return 0
