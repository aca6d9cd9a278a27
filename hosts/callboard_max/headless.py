"""3ds Max without a GUI, under ``3dsmaxbatch``. Its main thread waits for posted functions and
runs them.

3dsmaxbatch runs a single script file and then exits. The bundle contains such a script. The
arguments that would be on the command line are in the environment, as ``CALLBOARD_ARGUMENTS``.
"""

from __future__ import annotations

import os
import shlex


def main() -> int:
    """Run the command line in ``CALLBOARD_ARGUMENTS``, or serve this 3ds Max if there is none."""
    from callboard.headless.command import main as command

    arguments = split(os.environ.get("CALLBOARD_ARGUMENTS", ""))
    return command(arguments or ["serve", "--host", "3dsmax"])


def split(words: str) -> list[str]:
    """Split the text like a command line. Quotes group words, and a backslash is part of a path."""
    lexer = shlex.shlex(words, posix=True)
    lexer.whitespace_split, lexer.escape, lexer.commenters = True, "", ""
    return list(lexer)
