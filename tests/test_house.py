"""What keeps the house readable: one name for one thing, modules and functions of a size that is
taken in at once."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from source_trees import PROJECT, facts

MOST_LINES = 400
MOST_LINES_OF_A_FUNCTION = 60
#: They say how one came by a value, and not what it is.
EMPTY_NAMES = {"found", "said", "look"}
_EMPTY = re.compile(rf"\b_*(?:{'|'.join(sorted(EMPTY_NAMES))})\b")


def sources(*roots: str) -> list[Path]:
    return [path for root in roots for path in sorted((PROJECT / root).rglob("*.py"))]


@pytest.mark.parametrize("root", ["core", "hosts", "ui"])
def test_modules_and_functions_are_taken_in_at_once(root: str) -> None:
    long = [
        f"{path.relative_to(PROJECT)}: {name}, {lines} lines"
        for path in sources(root)
        for name, lines, most in [
            ("the module", facts(path).lines, MOST_LINES),
            *((name, lines, MOST_LINES_OF_A_FUNCTION) for name, lines in facts(path).functions),
        ]
        if lines > most
    ]
    assert long == []


def test_no_public_class_of_core_has_a_namesake() -> None:
    homes: defaultdict[str, list[str]] = defaultdict(list)
    for path in sources("core"):
        # Skill scripts are what a user would write.
        if "scripts" not in path.parts:
            for name in facts(path).classes:
                if not name.startswith("_"):
                    homes[name].append(str(path.relative_to(PROJECT)))
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


@pytest.mark.parametrize("root", ["core", "hosts", "ui", "packaging", "benchmarks", "tests"])
def test_names_say_what_a_value_is(root: str) -> None:
    assert [
        f"{path.relative_to(PROJECT)}:{line}: {name}"
        for path in sources(root)
        # Whoever never writes such a word gives no such name: most modules need no parsing.
        if _EMPTY.search(path.read_text("utf-8"))
        for line, name in facts(path).names
        if name.lstrip("_") in EMPTY_NAMES
    ] == []
