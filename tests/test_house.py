"""What keeps the house readable: one name for one thing, modules and functions of a size that is
taken in at once."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from source_trees import PROJECT, nodes

MOST_LINES = 400
MOST_LINES_OF_A_FUNCTION = 60
#: They say how one came by a value, and not what it is.
EMPTY_NAMES = {"found", "said", "look"}
_EMPTY = re.compile(rf"\b_*(?:{'|'.join(sorted(EMPTY_NAMES))})\b")


def sources(*roots: str) -> list[Path]:
    return [path for root in roots for path in sorted((PROJECT / root).rglob("*.py"))]


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Each function's name and its lines."""
    for node in nodes(path):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert node.end_lineno is not None
            yield node.name, node.end_lineno - node.lineno + 1


def given_names(path: Path) -> Iterator[tuple[str, int]]:
    """Each name that a module gives to a value or a function, and its line."""
    for node in nodes(path):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name, node.lineno
            case ast.arg(arg=name):
                yield name, node.lineno
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, node.lineno


@pytest.mark.parametrize(
    "path", sources("core", "hosts", "ui"), ids=lambda path: str(path.relative_to(PROJECT))
)
def test_modules_and_functions_are_taken_in_at_once(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= MOST_LINES
    assert [each for each in functions(path) if each[1] > MOST_LINES_OF_A_FUNCTION] == []


def test_no_public_class_of_core_has_a_namesake() -> None:
    homes: defaultdict[str, list[str]] = defaultdict(list)
    for path in sources("core"):
        # Skill scripts are what a user would write.
        if "scripts" not in path.parts:
            module = nodes(path)[0]
            assert isinstance(module, ast.Module)
            for node in module.body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    homes[node.name].append(str(path.relative_to(PROJECT)))
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


@pytest.mark.parametrize("root", ["core", "hosts", "ui", "packaging", "benchmarks", "tests"])
def test_names_say_what_a_value_is(root: str) -> None:
    assert [
        f"{path.relative_to(PROJECT)}:{line}: {name}"
        for path in sources(root)
        for name, line in given_names(path)
        if name.lstrip("_") in EMPTY_NAMES
    ] == []
