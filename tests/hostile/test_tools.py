"""Tests a few inputs for every tool that ships. ``python -m hostile.tools`` tests thousands."""

from __future__ import annotations

from pathlib import Path

import pytest

from hostile.tools import ToolsUnderFire
from needed import need

need("pxr")


@pytest.fixture
def fire(tmp_path: Path) -> ToolsUnderFire:
    from callboard_openusd.host import OpenUsdHost

    return ToolsUnderFire(OpenUsdHost(lambda fn: None), tmp_path)


@pytest.mark.slow
def test_bad_input_is_refused_in_a_sentence_and_changes_nothing(fire: ToolsUnderFire) -> None:
    for tool in sorted(fire.schemas):
        fire.check(tool, count=2, number=1)
    assert fire.outcomes["refused"] > 30


def test_a_refusal_that_leaves_something_behind_is_noticed(fire: ToolsUnderFire) -> None:
    fire.host.undo = None
    with pytest.raises(AssertionError, match="a refused call changed"):
        fire.fire("cameras__create", {"name": "Half", "clip": [5, 1]})
