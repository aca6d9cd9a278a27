"""The contents of the project's own modules, each parsed once for every test that reads them. The
trees aren't kept, because half a million more nodes would slow down each round of the garbage
collector.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent


@dataclass
class Facts:
    #: The number of lines.
    lines: int
    #: (line, level, module, name); ``import a.b`` has no module and no level.
    imports: list[tuple[int, int, str, str]] = field(default_factory=list)
    #: (name, lines) of each function, however deeply nested.
    functions: list[tuple[str, int]] = field(default_factory=list)
    #: Names of the classes at the module's top level.
    classes: list[str] = field(default_factory=list)
    #: (line, name) of each value or function that gets a name.
    names: list[tuple[int, str]] = field(default_factory=list)
    #: (line, name) of each function, class and value that is used, attributes and parameters
    #: included.
    own: list[tuple[int, str]] = field(default_factory=list)
    #: The string constants of one word, such as the name of a tool that a test calls.
    texts: set[str] = field(default_factory=set)


@cache
def facts(path: Path) -> Facts:
    text = path.read_text("utf-8")
    module = ast.parse(text, str(path))
    known = Facts(len(text.splitlines()))
    known.classes = [node.name for node in module.body if isinstance(node, ast.ClassDef)]
    for node in ast.walk(module):
        match node:
            case ast.Import(names=aliases, lineno=line):
                known.imports += [(line, 0, "", alias.name) for alias in aliases]
            case ast.ImportFrom(names=aliases, lineno=line):
                known.imports += [
                    (line, node.level, node.module or "", alias.name) for alias in aliases
                ]
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                assert node.end_lineno is not None
                known.functions.append((name, node.end_lineno - node.lineno + 1))
                known.names.append((node.lineno, name))
                known.own.append((node.lineno, name))
            case ast.ClassDef(name=name, lineno=line):
                known.own.append((line, name))
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                known.names.append((node.lineno, name))
                if isinstance(node, ast.Name):
                    known.own.append((node.lineno, name))
            case ast.Constant(value=str(word)) if word.replace("-", "_").isidentifier():
                known.texts.add(word)
            case ast.arg(arg=name):
                known.names.append((node.lineno, name))
    return known
