"""``callboard call``: makes one tool call from the shell."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from callboard.content import Json
from callboard.errors import PeerError
from callboard.ground.regular_file import refuse_special
from callboard_programs.cli.command_result import run_and_print, show
from callboard_programs.cli.instance import choose
from callboard_programs.cli.question_answers import ASKABLE, Answers
from callboard_programs.client import Client
from callboard_programs.client.tool_call import call_tool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_call_arguments(parser)
    parser.add_argument(
        "--wait",
        action="store_true",
        help="if a job starts, wait until it ends, and print its result",
    )
    parser.add_argument(
        "--instance", metavar="ID", help="an instance id, the start of one, or a host"
    )


def add_call_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the tool, its arguments, and the answers to its questions."""
    add_tool_arguments(parser)
    parser.add_argument(
        "--answer",
        metavar="JSON",
        action="append",
        default=[],
        help="the answer to a tool's question: true, false, or the form's fields; repeatable",
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="the file or folder in which to save the answer's pictures, sounds and files",
    )


def add_tool_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tool", help="`callboard tools` lists a running host's tools")
    parser.add_argument(
        "--json",
        metavar="ARGS",
        default="{}",
        dest="arguments",
        help="the arguments as JSON; - reads them from stdin, @FILE from a file",
    )


def run(arguments: argparse.Namespace) -> int:
    """Call the tool. The exit codes are in :data:`callboard_programs.cli.command_result.EXITS`."""

    went_out = False

    def work() -> Json:
        nonlocal went_out
        given, answers = given_arguments(arguments.arguments), Answers(arguments.answer)
        instance = choose(arguments.instance)
        token = instance.token
        client = Client(instance.url, token, capabilities=ASKABLE, asked=answers.asked, key=token)
        with client, answers.missing_sentence():
            went_out = True
            return call_tool(client, arguments.tool, given, show, wait=arguments.wait)

    try:
        return run_and_print(work, arguments.tool, arguments.out)
    except KeyboardInterrupt:
        became = (
            "the call is cancelled and its changes are undone, unless it is a job, which continues"
        )
        if not went_out:
            became = "the call wasn't sent, so nothing has run"
        print(f"\ncallboard: stopped; {became}", file=sys.stderr)
        raise


def given_arguments(text: str) -> dict[str, Any]:
    """Return the arguments from the command line, a pipe or a file. Raises PeerError."""
    try:
        # Read bytes, because PowerShell may pipe UTF-16 or begin with a byte order mark. The JSON
        # reader handles both.
        if text == "-":
            given = json.loads(sys.stdin.buffer.read())
        elif text.startswith("@"):
            path = Path(text[1:])
            refuse_special(path)
            given = json.loads(path.read_bytes())
        else:
            given = json.loads(text)
    except OSError as error:
        raise PeerError(
            f"--json {text} can't be read: {error.strerror}; use - to read from standard input"
        ) from None
    except ValueError as error:
        hint = "; some shells remove the quotes: give @FILE, or give - and pipe it in"
        raise PeerError(f"--json is not JSON: {error}{hint if text[:1] == '{' else ''}") from None
    if not isinstance(given, dict):
        raise PeerError('--json must be a JSON object, such as {"name": "cube"}')
    return given
