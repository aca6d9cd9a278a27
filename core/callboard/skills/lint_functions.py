"""A tool's function beside what ``tools.yaml`` says of it: parameters, and the host's ports."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from callboard.skills.model import ToolDeclaration
from callboard.skills.script_check import parsed

_Function = ast.FunctionDef | ast.AsyncFunctionDef
#: What callboard hands to whoever takes it.
_HANDED = frozenset({"ctx", "_workspace_roots"})


def check_function(source: str, tool: ToolDeclaration, own_file: bool) -> Iterator[tuple[int, str]]:
    """Line and message where the two don't fit. ``own_file``: no other tool has that script.
    A function that is decorated, or made in another way than by ``def``, isn't looked at."""
    function = _entered(_functions(source), tool, own_file)
    if function is not None and not function.decorator_list:
        yield from _parameters(function, tool)


def undeclared_ports(
    source: str, tool: ToolDeclaration, own_file: bool
) -> Iterator[tuple[int, str]]:
    """Line and name of each port that the function uses, by a literal name, and that the tool
    doesn't declare."""
    functions = _functions(source)
    function = _entered(functions, tool, own_file)
    for line, name in [] if function is None else sorted(_ports(function, functions)):
        if name not in tool.required_capabilities:
            yield line, name


def _functions(source: str) -> dict[str, _Function]:
    tree = parsed(source)
    body = [] if tree is None else tree.body
    return {each.name: each for each in body if isinstance(each, _Function)}


def takes_paths(schema: Any) -> bool:
    """Whether anything in it has ``format: workspace-path``."""
    if isinstance(schema, Mapping):
        if schema.get("format") == "workspace-path":
            return True
        return any(map(takes_paths, schema.values()))
    return isinstance(schema, (list, tuple)) and any(map(takes_paths, schema))


def _entered(
    functions: Mapping[str, _Function], tool: ToolDeclaration, own_file: bool
) -> _Function | None:
    """The function that a call enters, as :mod:`callboard.skills.scripts` chooses it."""
    own = tool.name.replace("-", "_").replace(".", "_")
    names = ["main", own] if own_file else [own, "main"]
    if isinstance(declared := tool.extra.get("entry_point"), str):
        names.insert(0, declared)
    return next((functions[name] for name in names if name in functions), None)


def _parameters(function: _Function, tool: ToolDeclaration) -> Iterator[tuple[int, str]]:
    arguments = function.args
    named = [*arguments.args, *arguments.kwonlyargs]
    taken = {each.arg for each in named}
    properties = tool.input_schema.get("properties", {})
    for name in properties:
        if arguments.kwarg is None and name not in taken:
            yield (
                function.lineno,
                f"tool '{tool.name}': its input_schema has '{name}', which {function.name}() "
                "doesn't take; add the parameter, or take it out of the schema",
            )
    plain = len(arguments.args) - len(arguments.defaults)
    needed = [each.arg for each in arguments.args[:plain]]
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    needed += [each.arg for each, default in pairs if default is None]
    for name in needed:
        if name in _HANDED:
            continue
        if name not in properties:
            if not properties and tool.input_schema.get("additionalProperties", True):
                continue  # nothing is said of its arguments
            wrong = f"{function.name}() needs '{name}', which its input_schema doesn't have; add it"
        elif name not in tool.input_schema.get("required", ()):
            wrong = f"{function.name}() needs '{name}', which may be left out; list it as required"
        else:
            continue
        yield (
            function.lineno,
            f"tool '{tool.name}': {wrong}, or give the parameter a default",
        )


def _ports(function: _Function, functions: Mapping[str, _Function]) -> set[tuple[int, str]]:
    """Line and name of each literal ``ctx.port("…")`` in the function, and in those of its file
    that it calls."""
    ports: set[tuple[int, str]] = set()
    waiting, seen = [function], {function.name}
    while waiting:
        for node in ast.walk(waiting.pop()):
            if not isinstance(node, ast.Call):
                continue
            if isinstance(node.func, ast.Name):
                called = functions.get(node.func.id)
                if called is not None and called.name not in seen:
                    seen.add(called.name)
                    waiting.append(called)
            elif isinstance(node.func, ast.Attribute) and node.func.attr == "port" and node.args:
                name = node.args[0]
                of_ctx = isinstance(node.func.value, ast.Name) and node.func.value.id == "ctx"
                if of_ctx and isinstance(name, ast.Constant) and isinstance(name.value, str):
                    ports.add((node.lineno, name.value))
    return ports
