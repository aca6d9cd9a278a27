"""The ``callboard`` command. Every subcommand is a module with ``add`` and ``run``."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

from callboard import __version__
from callboard.errors import CallboardError

COMMANDS = (
    *("serve", "list", "call", "stdio", "config", "lint", "new-skill", "report", "doctor"),
    *("install", "install-skill", "uninstall-skill", "skills"),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command. 0 on success, 1 when it failed, 2 when it was asked wrongly."""
    parser = argparse.ArgumentParser(
        prog="callboard", description="An MCP server inside Maya, 3ds Max, Houdini and Blender."
    )
    parser.add_argument("--version", action="version", version=f"callboard {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = importlib.import_module(f"callboard.cli.{name.replace('-', '_')}_command")
        module.add(commands)
    arguments = parser.parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except CallboardError as error:
        print(f"callboard: {error.message}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 1
