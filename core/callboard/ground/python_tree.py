"""Python's own parser, from several threads at once. Any thread."""

from __future__ import annotations

import ast

_TRIES = 20


def parse_python(source: str | bytes, file: str = "<unknown>") -> ast.Module:
    """Raises what ``ast.parse`` does. CPython 3.11 counts with one number for all threads how deep
    a tree is, so one that is parsed beside another one fails now and then with SystemError; it is
    parsed again."""
    for _ in range(_TRIES):
        try:
            return ast.parse(source, file)
        except SystemError:
            continue
    return ast.parse(source, file)
