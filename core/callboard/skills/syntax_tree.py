"""A script's syntax tree. Runs nothing."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

from callboard.ground.python_tree import parse_python


def parse(source: str | bytes) -> tuple[ast.Module | None, tuple[int, str]]:
    """Return the syntax tree, or else the line and message of the error."""
    try:
        with warnings.catch_warnings():
            # These warnings are about the author's code, not ours: an invalid escape, for example,
            # or a comparison with `is`.
            warnings.simplefilter("ignore")
            return parse_python(source), (0, "")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        return None, (line, f"can't be parsed: {getattr(error, 'msg', None) or error or 'deep'}")


def parsed(source: str) -> ast.Module | None:
    """Return the script's syntax tree, or None when it isn't Python."""
    return parse(source)[0]


def syntax_error(path: Path) -> tuple[int, str] | None:
    """Return the line and message of a script's syntax error, or None if there is none, or the
    script can't be read."""
    try:
        tree, error = parse(path.read_bytes())
    except OSError:
        return None
    return error if tree is None else None
