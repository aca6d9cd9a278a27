"""Runs Python code from a string, as an interactive prompt would."""

from __future__ import annotations

import ast
import linecache
from typing import Any

from callboard.ground.python_tree import parse_python

_FILE = "<script>"


def run_python(code: str, names: dict[str, Any]) -> object:
    """Execute ``code`` with ``names`` as its globals. Its definitions remain in ``names``. Return
    the value of its last statement if that is an expression, and None otherwise. Raises the code's
    exceptions, with tracebacks that show the code's lines."""
    tree = parse_python(code, _FILE)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    linecache.cache[_FILE] = (len(code), None, code.splitlines(keepends=True), _FILE)
    names.setdefault("__name__", "__main__")
    exec(compile(tree, _FILE, "exec"), names)
    if not isinstance(last, ast.Expr):
        return None
    value: object = eval(compile(ast.Expression(last.value), _FILE, "eval"), names)
    return value
