"""The ``callboard`` command. Every subcommand is a module with ``add_arguments`` and ``run``, which
is imported when that command is asked for, and only then."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from importlib import import_module

from callboard import __version__
from callboard.errors import CallboardError

#: What each does, in the order in which they are shown.
COMMANDS = {
    "serve": "run a headless host with the server",
    "list": "running instances on this machine",
    "call": "call one tool and print its result as JSON",
    "stdio": "bridge for clients that speak stdio only",
    "config": "print or write an MCP client's configuration",
    "clients": "who may connect; `clients revoke NAME`",
    "capabilities": "what an instance offers; `capabilities withdraw NAME`, `restore NAME`",
    "lint": "check skills",
    "new-skill": "write a skill to start from",
    "report": "top missing capabilities, calls, errors",
    "doctor": "what is installed, runs, and is wrong",
    "install": "put callboard into Maya, Blender, Houdini or 3ds Max",
    "uninstall": "take callboard out of it again",
    "install-skill": "install or upgrade a skill bundle",
    "uninstall-skill": "remove an installed skill bundle",
    "skills": "list skills and installed bundles",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command. 0 on success, 1 when it failed, 2 when it was asked wrongly."""
    words = sys.argv[1:] if argv is None else list(argv)
    _speak_utf8()
    parser = argparse.ArgumentParser(
        prog="callboard", description="An MCP server inside Maya, 3ds Max, Houdini and Blender."
    )
    parser.add_argument("--version", action="version", version=f"callboard {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    asked = next((word for word in words if not word.startswith("-")), None)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text)
        if name == asked:
            module = import_module(f"callboard.cli.{name.replace('-', '_')}_command")
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    arguments = parser.parse_args(words)
    try:
        return int(arguments.run(arguments))
    except CallboardError as error:
        print(f"callboard: {error.message}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 1


def _speak_utf8() -> None:
    """Into a pipe Windows writes in an old code page, which lacks most of the letters there are."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
