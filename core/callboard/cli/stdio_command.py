"""``callboard stdio``: a bridge for clients that speak stdio only."""

from __future__ import annotations

import argparse
import logging
import sys

from callboard.transport import stdio


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--instance", metavar="ID", help="the id, its beginning, or the host")
    parser.add_argument("--client", metavar="NAME", help="whose token to present")


def run(arguments: argparse.Namespace) -> int:
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s"
    )
    stdio.serve(arguments.instance, arguments.client)
    return 0
