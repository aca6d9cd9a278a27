"""One run of the command line: ``python -m callboard``, and the script that 3dsmaxbatch starts."""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec

from callboard.errors import CallboardError
from callboard.ground.plain_text import plain, plain_json
from callboard.headless.parser import Parser

#: The package with the commands of a complete installation. An application's archive doesn't
#: contain it.
_PROGRAMS = "callboard_programs"


def main(argv: Sequence[str] | None = None) -> int:
    """Run any command if callboard is completely installed, otherwise only ``serve``."""
    if find_spec(_PROGRAMS) is not None:
        return int(import_module(f"{_PROGRAMS}.cli").main(argv))
    return run(argv, _serve_alone)


def run(
    argv: Sequence[str] | None, parser_of: Callable[[Sequence[str]], argparse.ArgumentParser]
) -> int:
    """Run one command. Return 0 on success, 1 on failure, 2 for wrong arguments."""
    words = sys.argv[1:] if argv is None else list(argv)
    _speak_utf8()
    try:
        arguments = parser_of(words).parse_args(words)
    except KeyboardInterrupt:  # Ctrl+C was pressed while a command's module was being imported.
        return 130
    try:
        status = int(arguments.run(arguments))
        if sys.stdout is not None:
            sys.stdout.flush()  # An unwritable stdout is reported here, not when Python ends.
        return status
    except CallboardError as error:
        return _failed(error.message, arguments)
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        _drop_unwritten()
        # For a pipe without a reader, Windows reports an invalid argument without a file's name.
        unread = os.name == "nt" and error.errno == errno.EINVAL and error.filename is None
        if not (unread or isinstance(error, BrokenPipeError)):
            named = "" if error.filename is None else f"{str(error.filename)[:200]!r}: "
            return _failed(f"{named}{error.strerror or error}", arguments)
        return 1


def _serve_alone(words: Sequence[str]) -> argparse.ArgumentParser:
    from callboard.headless import serve

    parser = Parser(
        prog="callboard",
        description=(
            "Run a host without a GUI. An application's archive contains only this command. For "
            "the others, install callboard's wheel into this Python."
        ),
    )
    commands = parser.add_subparsers(dest="command", metavar="serve", required=True)
    command = commands.add_parser("serve")
    serve.add_arguments(command)
    command.set_defaults(run=serve.run)
    return parser


def _failed(why: str, arguments: argparse.Namespace) -> int:
    """Report the failure in a sentence, and with ``--json`` also as JSON, in the form that commands
    for calling tools use."""
    print(f"callboard: {plain(why)}", file=sys.stderr)
    if getattr(arguments, "json", False):
        print(plain_json({"error": {"kind": "failed", "message": why}}))
    return 1


def _drop_unwritten() -> None:
    """Discard output that stdout doesn't accept, so that Python doesn't fail again when it
    exits."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _speak_utf8() -> None:
    """Write UTF-8, because the old code page that Windows uses for pipes has few characters."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
