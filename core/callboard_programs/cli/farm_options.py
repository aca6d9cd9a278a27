"""Options shared by several of the farm's commands."""

from __future__ import annotations

import argparse
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from callboard.errors import PeerError
from callboard.headless.number_arguments import amount, count, size
from callboard.headless.stop_signals import end_with_stdin
from callboard.mapping.host_process import GOODBYE
from callboard_programs.farm.security import Certificates

#: Seconds that a supervisor has to end its host, and that a farm has to end its supervisors. Each
#: must be longer than the time that the process below it may take to end.
SUPERVISOR_GOODBYE, FARM_GOODBYE = GOODBYE + 4.0, GOODBYE + 8.0


def add_needs(parser: argparse.ArgumentParser) -> None:
    """Add the option for the amounts that a farm's hosts must offer."""
    parser.add_argument(
        "--need",
        dest="needs",
        metavar="NAME=N",
        type=amount,
        action="append",
        default=[],
        help="use only hosts that offer this: gpu, host:blender-4.5.1, license-karma",
    )


def add_certificates(parser: argparse.ArgumentParser) -> None:
    """Add the options for the certificates that protect a farm on several machines."""
    for name, what in (
        ("ca", "the authority to trust"),
        ("cert", "this program's certificate"),
        ("key", "its key"),
    ):
        parser.add_argument(f"--tls-{name}", metavar="PEM", type=Path, help=what)


def certificates_of(arguments: argparse.Namespace) -> Certificates | None:
    """Return the certificates, or None if none are given. Raises PeerError for an incomplete
    set."""
    given = (arguments.tls_ca, arguments.tls_cert, arguments.tls_key)
    if all(path is None for path in given):
        return None
    if any(path is None for path in given):
        raise PeerError("--tls-ca, --tls-cert and --tls-key go together; give all three")
    return Certificates(*given)


def add_wear(parser: argparse.ArgumentParser) -> None:
    """Add the options that decide when a fresh host replaces a worn one."""
    parser.add_argument(
        "--max-tasks", metavar="N", type=count, help="start a fresh host after this many tasks"
    )
    parser.add_argument(
        "--max-memory",
        metavar="BYTES",
        type=size,
        help="replace a host that uses this much memory, such as 4G; kill it at twice as much",
    )


def wear_options(arguments: argparse.Namespace) -> Sequence[str]:
    """Return the values of :func:`add_wear`'s options, as options for another command."""
    pairs = (("--max-tasks", arguments.max_tasks), ("--max-memory", arguments.max_memory))
    return [f"{name}={value}" for name, value in pairs if value is not None]


def add_attached(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--attached",
        action="store_true",
        help="end when stdin closes, for a program that starts this command",
    )


def end_attached(arguments: argparse.Namespace, stop: Callable[[], None], goodbye: float) -> None:
    """Call ``stop`` at the end of stdin, if :func:`add_attached`'s option is given."""
    if arguments.attached:
        threading.Thread(target=end_with_stdin, args=[stop, goodbye], daemon=True).start()
