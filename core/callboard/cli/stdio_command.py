"""``callboard stdio``: a bridge for clients that speak stdio only."""

from __future__ import annotations

import argparse
import logging
import sys
from typing import Any

from callboard.transport import stdio


def add(commands: Any) -> None:
    parser = commands.add_parser("stdio", help="bridge for clients that speak stdio only")
    parser.add_argument("--instance", metavar="ID", help="the id, its beginning, or the host")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s"
    )
    stdio.serve(arguments.instance)
    return 0
