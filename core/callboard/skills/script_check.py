"""What can be told of a tool's script without running it."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from pathlib import Path

from callboard.skills.model import ToolDeclaration

_EXITS = frozenset(("exit", "quit", "sys.exit", "os._exit", "os.abort"))


def check_script(source: str, tool: ToolDeclaration) -> Iterator[tuple[int, str]]:
    """Line and message of everything that would make the first call fail."""
    tree, error = _parse(source)
    if tree is None:
        yield error
        return
    for statement in tree.body:
        if isinstance(statement, ast.Raise):
            yield statement.lineno, "raises when it is imported"
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            called = ast.unparse(statement.value.func)
            if called in _EXITS:
                yield statement.lineno, f"calls {called}() when it is imported"
    own = tool.name.replace("-", "_").replace(".", "_")
    names = {"main", own, str(tool.extra.get("entry_point", own))}
    if not names & set(_defined(tree.body)):
        yield 1, f"tool '{tool.name}': defines neither main(**arguments) nor {own}(…)"


def parsed(source: str) -> ast.Module | None:
    """The script's syntax tree; None where it isn't Python."""
    return _parse(source)[0]


def syntax_error(path: Path) -> tuple[int, str] | None:
    """Line and message where a script isn't Python; None where it is, or can't be read."""
    try:
        tree, error = _parse(path.read_bytes())
    except OSError:
        return None
    return error if tree is None else None


def _parse(source: str | bytes) -> tuple[ast.Module | None, tuple[int, str]]:
    try:
        with warnings.catch_warnings():
            # Of the script's author, not of ours: an invalid escape, a comparison with `is`.
            warnings.simplefilter("ignore")
            return ast.parse(source), (0, "")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        return None, (line, f"can't be parsed: {getattr(error, 'msg', None) or error or 'deep'}")


def _defined(body: list[ast.stmt]) -> Iterator[str]:
    """Names bound at module level, also inside if, try and with."""
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield statement.name
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            for alias in statement.names:
                yield (alias.asname or alias.name).split(".")[0]
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                for node in ast.walk(target):
                    if isinstance(node, ast.Name):
                        yield node.id
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield statement.target.id
        elif isinstance(statement, (ast.If, ast.Try, ast.With)):
            for block in ("body", "orelse", "finalbody"):
                yield from _defined(getattr(statement, block, []))
            for handler in getattr(statement, "handlers", []):
                yield from _defined(handler.body)
