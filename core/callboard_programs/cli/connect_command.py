"""``callboard connect``: connects a client's stdin and stdout to the gateway on another machine."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from pathlib import Path

from callboard.clients.kept_tokens import VARIABLE
from callboard.errors import PeerError
from callboard.ground.private_file import read_private
from callboard_programs import bridge as stdio
from callboard_programs.relay.address import AddressFinder

_MOST_BYTES = 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "address",
        metavar="ADDRESS",
        help="the address that `callboard gateway --listen` prints, including its # part",
    )
    parser.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help=f"the file with this client's token, which only you may read; or set {VARIABLE}",
    )


def run(arguments: argparse.Namespace) -> int:
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s"
    )
    stdio.serve(AddressFinder(arguments.address, _token(arguments.token_file)))
    return 0


def _token(file: Path | None) -> str:
    """Return the client's token. Raises PeerError."""
    if file is None:
        token = os.environ.get(VARIABLE, "")
    else:
        try:
            if os.name != "nt" and file.stat().st_mode & 0o077:
                raise PeerError(
                    f"other users can read {file}, and the token in it: chmod 600 {file}"
                )
            token = read_private(file, _MOST_BYTES).decode("ascii").strip()
        except (OSError, ValueError) as error:
            raise PeerError(f"the token in {file} can't be used: {error}") from None
    if not token:
        raise PeerError(
            f"a token is needed, in {VARIABLE} or --token-file; on the gateway's machine, "
            "`callboard config other --name NAME --gateway` prints one"
        )
    return token
