"""3ds Max without windows, under ``3dsmaxbatch``: the main thread is an inbox.

3dsmaxbatch runs one script file and ends; the bundle has that script. What would stand on the
command line is in the environment, as ``CALLBOARD_ARGUMENTS``.
"""

from __future__ import annotations

import os
import shlex


def main() -> int:
    """Runs the command line of ``CALLBOARD_ARGUMENTS``; without any, serves this 3ds Max."""
    from callboard.headless.command import main as command

    arguments = split(os.environ.get("CALLBOARD_ARGUMENTS", ""))
    return command(arguments or ["serve", "--host", "3dsmax"])


def split(words: str) -> list[str]:
    """As a command line: quotes hold words together, and a backslash is part of a path."""
    lexer = shlex.shlex(words, posix=True)
    lexer.whitespace_split, lexer.escape, lexer.commenters = True, "", ""
    return list(lexer)
