"""``callboard clients``: who may connect, and who may no more."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import datetime

from callboard.clients.book import ClientBook
from callboard.transport.revoking import revoke


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="for programs; without tokens")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    ending = actions.add_parser("revoke", help="let a client in no more; what it has open ends")
    ending.add_argument("name", metavar="NAME")


def run(arguments: argparse.Namespace) -> int:
    if arguments.action == "revoke":
        return _revoke(arguments.name)
    clients = ClientBook().all()
    if arguments.json:
        print(json.dumps([{"name": one.name, "made": one.made} for one in clients], indent=2))
        return 0
    if not clients:
        print("no client has a token; `callboard config CLIENT` makes one")
    for one in clients:
        print(f"{one.name:<24} since {datetime.fromtimestamp(one.made):%Y-%m-%d %H:%M}")
    return 0


def _revoke(name: str) -> int:
    for silent in revoke(name):
        print(
            f"# {silent.id} ({silent.kind}) does not answer now; it notices by itself once it does",
            file=sys.stderr,
        )
    print(f"{name} may connect no more")
    return 0
