"""Compares a tool's function with ``tools.yaml``: the parameters, and the host's ports that the
function uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from callboard.ports.capability_names import SCENE_MUTATE, SCENE_READ
from callboard.skills.called_function import HANDED, Function, entered, functions_of
from callboard.skills.model import ToolDeclaration
from callboard.skills.syntax_tree import parsed

#: ``ctx.stage`` needs one of two capabilities.
STAGE = "stage"
#: The methods of a coroutine's ``ctx`` that have to be awaited.
_AWAITED = ("on_main_thread", "elicit", "elicit_url", "sample", "ask_all", "read_resource")


def check_function(source: str, tool: ToolDeclaration) -> Iterator[tuple[int, str]]:
    """Yield the line and message of each mismatch. A function that is decorated, or that isn't
    defined with ``def``, isn't checked."""
    function = entered(functions_of(parsed(source)), tool.entry_names)
    if function is not None and not function.decorator_list:
        yield from _parameters(function, tool)


def undeclared_ports(source: str, tool: ToolDeclaration) -> Iterator[tuple[int, str]]:
    """Yield the line and name of each port that the function uses by a literal name but the tool
    doesn't declare."""
    functions = functions_of(parsed(source))
    function = entered(functions, tool.entry_names)
    for line, name in [] if function is None else sorted(_ports(function, functions)):
        if name != STAGE and name not in tool.required_capabilities:
            yield line, name
        if name == STAGE and not {SCENE_READ, SCENE_MUTATE} & {*tool.required_capabilities}:
            yield line, SCENE_READ


def unawaited(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and message of each statement like ``ctx.on_main_thread(…)`` whose coroutine
    isn't awaited."""
    tree = parsed(source)
    for function in () if tree is None else ast.walk(tree):
        for line in ast.walk(function) if isinstance(function, ast.AsyncFunctionDef) else ():
            if not (isinstance(line, ast.Expr) and isinstance(line.value, ast.Call)):
                continue
            called = line.value.func
            if not (isinstance(called, ast.Attribute) and _is_ctx(called.value)):
                continue
            if called.attr in _AWAITED:
                how = f"ctx.{called.attr}(…)"
                yield line.lineno, f"{how} does nothing until it is awaited; write `await {how}`"


def check_variables(
    source: str, variables: Sequence[str], reads: ToolDeclaration
) -> Iterator[tuple[int, str]]:
    """Yield the line and message of each mismatch between a resource's function and its URI's
    variables."""
    function = entered(functions_of(parsed(source)), reads.entry_names)
    if function is None or function.decorator_list:
        return
    arguments = function.args
    named = [*arguments.args, *arguments.kwonlyargs]
    for name in variables:
        if arguments.kwarg is None and name not in {each.arg for each in named}:
            yield (
                function.lineno,
                f"resource '{reads.name}': its uri has '{{{name}}}', which {function.name}() "
                "doesn't take; add the parameter",
            )
    for name in _needed(arguments):
        if name not in (*HANDED, *variables):
            yield (
                function.lineno,
                f"resource '{reads.name}': {function.name}() needs '{name}', which its uri doesn't "
                f"have; write {{{name}}} there, or give the parameter a default",
            )


def takes_paths(schema: Any) -> bool:
    """Return whether anything in the schema has ``format: workspace-path``."""
    if isinstance(schema, Mapping):
        if schema.get("format") == "workspace-path":
            return True
        return any(map(takes_paths, schema.values()))
    return isinstance(schema, (list, tuple)) and any(map(takes_paths, schema))


def _parameters(function: Function, tool: ToolDeclaration) -> Iterator[tuple[int, str]]:
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
    for name in _needed(arguments):
        if name in HANDED:
            continue
        if name not in properties:
            if not properties and tool.input_schema.get("additionalProperties", True):
                continue  # The schema doesn't describe any arguments.
            wrong = f"{function.name}() needs '{name}', which its input_schema doesn't have; add it"
        elif name not in tool.input_schema.get("required", ()):
            wrong = f"{function.name}() needs '{name}', which may be left out; list it as required"
        else:
            continue
        yield (
            function.lineno,
            f"tool '{tool.name}': {wrong}, or give the parameter a default",
        )


def _needed(arguments: ast.arguments) -> list[str]:
    """Return the parameters without a default."""
    plain = len(arguments.args) - len(arguments.defaults)
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    by_name = [each.arg for each, default in pairs if default is None]
    return [*(each.arg for each in arguments.args[:plain]), *by_name]


def _ports(function: Function, functions: Mapping[str, Function]) -> set[tuple[int, str]]:
    """Return the line and name of each literal ``ctx.port("…")`` in the function, and in the
    functions in its file that it calls. ``ctx.stage`` is treated as STAGE."""
    ports: set[tuple[int, str]] = set()
    waiting, seen = [function], {function.name}
    while waiting:
        for node in ast.walk(waiting.pop()):
            if isinstance(node, ast.Attribute) and node.attr == STAGE and _is_ctx(node.value):
                ports.add((node.lineno, STAGE))
            if not isinstance(node, ast.Call):
                continue
            if isinstance(node.func, ast.Name):
                called = functions.get(node.func.id)
                if called is not None and called.name not in seen:
                    seen.add(called.name)
                    waiting.append(called)
            elif isinstance(node.func, ast.Attribute) and node.func.attr == "port" and node.args:
                name = node.args[0]
                if (
                    _is_ctx(node.func.value)
                    and isinstance(name, ast.Constant)
                    and isinstance(name.value, str)
                ):
                    ports.add((node.lineno, name.value))
    return ports


def _is_ctx(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "ctx"
