"""Each promise in docs/security.md names tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PAGE = (PROJECT / "docs" / "security.md").read_text(encoding="utf-8")
PROMISED, _, NOT_PROMISED = PAGE.partition("## What is not promised")
_TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")


def functions(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_each_promise_names_a_test() -> None:
    promises = [line for line in PROMISED.splitlines() if line.startswith("- ")]
    assert len(promises) > 30
    assert [line for line in promises if _TEST.search(line) is None] == []


def test_each_row_of_the_tables_names_a_test() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ")]
    assert len([row for row in rows if row.startswith("| MCP")]) == 10
    headings = ("| promise |", "| risk |")
    rows = [row for row in rows if not row.startswith(headings)]
    assert [row for row in rows if _TEST.search(row) is None] == []


def test_the_tests_are_there() -> None:
    named = _TEST.findall(PAGE)
    assert len(named) > 40
    for file, test in named:
        assert (PROJECT / file).is_file(), file
        assert not test or test in functions(PROJECT / file), f"{file}::{test}"


def test_what_is_not_promised_is_said() -> None:
    assert len([line for line in NOT_PROMISED.splitlines() if line.startswith("- ")]) > 5


def test_how_to_report_is_found_from_the_front_page() -> None:
    assert "SECURITY.md" in (PROJECT / "README.md").read_text(encoding="utf-8")
    assert "docs/security.md" in (PROJECT / "SECURITY.md").read_text(encoding="utf-8")
