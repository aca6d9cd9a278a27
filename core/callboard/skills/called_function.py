"""Finds the function that a call to a tool runs, and reads its signature from the source of the
tool's script, without running anything."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from callboard.content import Json
from callboard.skills.annotated_types import AnnotatedTypes, any_of, last_name, literal
from callboard.skills.docstrings import parameters, summary
from callboard.skills.model import entry_names
from callboard.skills.skill_files import FileProblem, read_text
from callboard.skills.syntax_tree import parsed

Function = ast.FunctionDef | ast.AsyncFunctionDef
#: Parameters that callboard fills in if a function has them.
HANDED = frozenset({"ctx", "_workspace_roots"})
#: Return types of a function that yields. The last of three type arguments is the tool's answer.
_YIELDS = frozenset(("Generator", "Iterator", "Iterable"))


def functions_of(tree: ast.Module | None) -> dict[str, Function]:
    body = [] if tree is None else tree.body
    return {each.name: each for each in body if isinstance(each, Function)}


def entered(functions: Mapping[str, Function], names: Iterable[str]) -> Function | None:
    """Return the first of the named functions that exists."""
    return next((functions[name] for name in names if name in functions), None)


@dataclass(frozen=True)
class Signature:
    """A function's signature, as its source states it. ``unread`` has the annotations that couldn't
    be read."""

    function: str
    line: int
    summary: str
    input_schema: Json
    output_schema: Json | None
    unread: tuple[str, ...]


class Signatures:
    """The signatures of one skill's functions. Each script is read once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._trees: dict[Path, ast.Module | None] = {}

    def of(self, script: Path, tool: str, entry_point: object = None) -> Signature | None:
        """Return the signature, or None if there is no plain ``def`` for the tool, or if the script
        can't be read. Calls and lint report an unreadable script."""
        if script not in self._trees:
            try:
                self._trees[script] = parsed(read_text(self._folder, script))
            except FileProblem:
                self._trees[script] = None
        tree = self._trees[script]
        function = entered(functions_of(tree), entry_names(tool, script, entry_point))
        if tree is None or function is None or function.decorator_list or function.args.posonlyargs:
            return None
        types = AnnotatedTypes(tree)
        docstring = (ast.get_docstring(function) or "").encode(errors="replace").decode()
        takes, gives = _input(function, types, parameters(docstring)), _output(function, types)
        unread = tuple(dict.fromkeys(types.unread))
        return Signature(function.name, function.lineno, summary(docstring), takes, gives, unread)


def _input(function: Function, types: AnnotatedTypes, texts: Mapping[str, str]) -> Json:
    arguments = function.args
    given = len(arguments.args) - len(arguments.defaults)
    defaults = [*[None] * given, *arguments.defaults, *arguments.kw_defaults]
    properties: Json = {}
    required: list[str] = []
    pairs = zip([*arguments.args, *arguments.kwonlyargs], defaults, strict=True)
    for argument, default in pairs:
        if argument.arg in HANDED:
            continue
        schema = types.schema(argument.annotation)
        if default is None:
            required.append(argument.arg)
        for value in [] if default is None else literal(default):
            # `size: float = None` accepts None, whatever its annotation is.
            if value is None:
                schema = any_of([schema, {"type": "null"}])
            else:
                schema = {**schema, "default": value}
        if argument.arg in texts:
            schema = {"description": texts[argument.arg], **schema}
        properties[argument.arg] = schema
    schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return schema if arguments.kwarg is not None else {**schema, "additionalProperties": False}


def _output(function: Function, types: AnnotatedTypes) -> Json | None:
    """Return the result's schema, or None when the result isn't an object or its content isn't
    described."""
    returns = function.returns
    if isinstance(returns, ast.Subscript):
        name = last_name(returns.value)
        items = returns.slice.elts if isinstance(returns.slice, ast.Tuple) else [returns.slice]
        if name in _YIELDS:
            returns = items[2] if name == "Generator" and len(items) == 3 else None
    schema = types.schema(returns)
    says = schema.keys() & {"properties", "additionalProperties"}
    return schema if schema.get("type") == "object" and says else None
