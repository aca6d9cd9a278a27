"""The project's own modules, parsed once for every test that reads them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Everything that a module's text consists of, the module itself first."""
    return tuple(ast.walk(ast.parse(path.read_text("utf-8"), str(path))))
