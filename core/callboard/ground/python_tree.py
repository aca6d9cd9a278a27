"""``ast.parse`` with a retry, because CPython 3.11 sometimes fails when threads parse at once. Call
it from any thread."""

from __future__ import annotations

import ast

_TRIES = 20


def parse_python(source: str | bytes, file: str = "<unknown>") -> ast.Module:
    """Return the syntax tree. Raises the errors of ``ast.parse``. CPython 3.11 counts the depth of
    trees in one counter for all threads, so parsing in parallel sometimes fails with SystemError.
    In that case, the source is parsed again."""
    for _ in range(_TRIES):
        try:
            return ast.parse(source, file)
        except SystemError:
            continue
    return ast.parse(source, file)
