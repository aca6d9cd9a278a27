"""Tests each statement in docs/statements.md, as a user who installed callboard would."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from seeds import tries
from seeds.outside import Outside

PROJECT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| ([A-Z]\d+) \| (.+?) \| (.+) \|$", re.MULTILINE)
ROWS = {
    name: cells
    for name, *cells in ROW.findall((PROJECT / "docs" / "statements.md").read_text("utf-8"))
}
#: The rows that are expressions.
TRIED = {
    name: cell.strip("`")
    for name, (_, cell) in ROWS.items()
    if cell[0] == "`" and ".py::" not in cell
}


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    made = Outside(tmp_path_factory.mktemp("outside"))
    yield made
    made.end()


@pytest.mark.slow
@pytest.mark.parametrize("name", TRIED)
def test_it_holds(name: str, outside: Outside) -> None:
    says, expression = ROWS[name][0], TRIED[name]
    names = {**vars(tries), "o": outside}
    left, equals, right = expression.rpartition(" == ")
    if equals:
        assert eval(left, names) == eval(right, names), says
    else:
        assert eval(expression, names), says


def test_every_other_statement_names_a_test_or_a_reason() -> None:
    assert len(ROWS) > 180
    for name in ROWS.keys() - TRIED.keys():
        path, named, function = ROWS[name][1].strip("`").partition("::")
        if named:
            text = (PROJECT / "tests" / path).read_text("utf-8")
            assert f"def {function}(" in text, f"{name}: there is no test {path}::{function}"
        else:
            assert path.startswith("not ours: "), name
