"""``callboard uninstall``: removes callboard from a host."""

from __future__ import annotations

import argparse

from callboard_programs.cli.install_command import add_host, tell


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_host(parser)


def run(arguments: argparse.Namespace) -> int:
    return tell(arguments, lambda host, folder: host.uninstall(folder, arguments.dry_run))
