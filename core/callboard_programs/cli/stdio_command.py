"""``callboard stdio``: runs a bridge for clients that support only stdio."""

from __future__ import annotations

import argparse
import logging
import sys

from callboard_programs import bridge as stdio
from callboard_programs.relay.finder import Finder, HostFinder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--instance", metavar="ID", help="an instance id, the start of one, or a host"
    )
    parser.add_argument(
        "--gateway",
        action="store_true",
        help="connect to all instances, or to the one that --instance names, through the gateway; "
        "starts the gateway if none is running",
    )
    parser.add_argument("--client", metavar="NAME", help="present this client's token")


def run(arguments: argparse.Namespace) -> int:
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s"
    )
    stdio.serve(_finder(arguments), arguments.client)
    return 0


def _finder(arguments: argparse.Namespace) -> Finder:
    """Return the finder that the arguments call for. Raises PeerError."""
    if not arguments.gateway:
        return HostFinder(arguments.instance)
    from callboard_programs.gateway.finder import GatewayFinder  # Only --gateway needs this.

    return GatewayFinder(arguments.instance)
