"""The option ``--json`` of a command with actions."""

from __future__ import annotations

import argparse


def add_json_after(*actions: argparse.ArgumentParser) -> None:
    """Let ``--json`` of the command also be given after each of its actions."""
    for action in actions:
        # Without SUPPRESS, the default would override a --json given before the action.
        action.add_argument(
            "--json",
            action="store_true",
            default=argparse.SUPPRESS,
            help="print JSON, for programs",
        )
