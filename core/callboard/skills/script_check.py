"""Checks a tool's script without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from callboard.skills.model import Failure, SkillMetadata, ToolDeclaration, own_name
from callboard.skills.skill_files import FileProblem, read_text
from callboard.skills.syntax_tree import parse

_EXITS = frozenset(("exit", "quit", "sys.exit", "os._exit", "os.abort"))


def check_script(source: str, tool: ToolDeclaration) -> Iterator[tuple[int, str]]:
    """Yield the line and message of everything that would make the first call fail."""
    tree, error = parse(source)
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
    if not {*tool.entry_names} & set(_defined(tree.body)):
        own = own_name(tool.name)
        yield 1, f"tool '{tool.name}': defines neither main(**arguments) nor {own}(…)"


def script_failures(skill: SkillMetadata) -> Iterator[Failure]:
    """Yield the problems of a skill's scripts in this Python, and of its workflows."""
    # Startup doesn't need these modules.
    from callboard.skills.lint_words import odd_in_workflows
    from callboard.skills.packages import missing_imports
    from callboard.skills.requirements import requirement_failures
    from callboard.skills.workflows.files import read_workflows

    yield from requirement_failures(skill)
    for tool in skill.tools:
        if tool.script is None:
            continue
        place = tool.script.relative_to(skill.path).as_posix()
        try:
            source = read_text(skill.path, tool.script)
        except FileProblem as problem:
            yield Failure(skill.name, place, "read", problem.message, problem.line)
            continue
        for line, message in check_script(source, tool):
            yield Failure(skill.name, place, "parse", message, line)
        for file, line, message in missing_imports(tool.script, skill):
            yield Failure(skill.name, file, "missing", message, line)
    yield from read_workflows(skill)[1]
    for file, line, message in odd_in_workflows(skill):
        yield Failure(skill.name, file, "metadata", message, line)


def _defined(body: list[ast.stmt]) -> Iterator[str]:
    """Yield the names bound at module level, even inside if, try and with."""
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
