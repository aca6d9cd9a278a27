"""The ``callboard`` command. Every subcommand is a module with ``add_arguments`` and ``run``, which
is imported when that command is asked for, and only then."""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from callboard import __version__
from callboard.cli.examples import show_examples
from callboard.cli.parser import Parser
from callboard.cli.plain_text import plain, plain_json
from callboard.errors import CallboardError

#: What each does, in the order in which they are shown.
COMMANDS = {
    "setup": "put callboard into what is on this machine, or all back as it was",
    "serve": "run a headless host with the server",
    "list": "running instances on this machine",
    "tools": "what a running host's tools are, and what one takes",
    "call": "call one tool and print its result as JSON",
    "gateway": "one address for all instances of this machine",
    "run": "start a host, call one tool on one scene, and end it",
    "batch": "call one tool on many files, by several hosts",
    "farm": "one tool over any number of tasks, by hosts of many machines",
    "stdio": "bridge for clients that speak stdio only",
    "connect": "bridge to the gateway of another machine",
    "config": "print or write an MCP client's configuration",
    "clients": "who may connect; `clients revoke NAME`, `approve NAME`",
    "capabilities": "what an instance offers; `capabilities withdraw NAME`, `restore NAME`",
    "lint": "check skills and bundles",
    "vendor": "put the packages that a skill requires into its folder",
    "new-skill": "write a skill to start from, or one of recorded calls",
    "new-bundle": "write a bundle with a server to start from",
    "pack": "check a bundle and make one file of it",
    "report": "top missing capabilities, calls, errors",
    "doctor": "what is installed, runs, and is wrong",
    "install": "put callboard into Maya, Blender, Houdini or 3ds Max",
    "uninstall": "take callboard out of it again",
    "install-skill": "install or upgrade a skill bundle",
    "uninstall-skill": "remove an installed skill bundle",
    "skills": "list skills and installed bundles",
    "completion": "what has your shell complete these commands",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command. 0 on success, 1 when it failed, 2 when it was asked wrongly."""
    words = sys.argv[1:] if argv is None else list(argv)
    _speak_utf8()
    try:
        arguments = parser_of(words).parse_args(words)
    except KeyboardInterrupt:  # while a command's module was imported
        return 130
    try:
        status = int(arguments.run(arguments))
        if sys.stdout is not None:
            sys.stdout.flush()  # what can't be written is told, not thrown when Python ends
        return status
    except CallboardError as error:
        return _failed(error.message, arguments)
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        _drop_unwritten()
        # What Windows says of a pipe that nobody reads is an invalid argument without a name.
        unread = os.name == "nt" and error.errno == errno.EINVAL and error.filename is None
        if not (unread or isinstance(error, BrokenPipeError)):
            named = "" if error.filename is None else f"{str(error.filename)[:200]!r}: "
            return _failed(f"{named}{error.strerror or error}", arguments)
        return 1


def parser_of(words: Sequence[str]) -> argparse.ArgumentParser:
    """What reads those words: with the options of the one command that they name."""
    parser = Parser(
        prog="callboard", description="An MCP server inside Maya, 3ds Max, Houdini and Blender."
    )
    parser.add_argument("--version", action="version", version=f"callboard {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    asked = next((word for word in words if not word.startswith("-")), None)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        if name == asked:
            module = import_module(f"callboard.cli.{name.replace('-', '_')}_command")
            module.add_arguments(command)
            show_examples(command, name)
            command.set_defaults(run=module.run)
    return parser


def _failed(why: str, arguments: argparse.Namespace) -> int:
    """Says so in a sentence, and to programs as the commands that call a tool do."""
    print(f"callboard: {plain(why)}", file=sys.stderr)
    if getattr(arguments, "json", False):
        print(plain_json({"error": {"kind": "failed", "message": why}}))
    return 1


def _drop_unwritten() -> None:
    """Python would fail a second time at what stdout doesn't take."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _speak_utf8() -> None:
    """Into a pipe Windows writes in an old code page, which lacks most of the letters there are."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
