"""Every call that a client saw answered is in the records, no matter when the host was killed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from needed import need

need("mcp")

from e2e.killed_records import killed_once


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_was_acknowledged_survives_a_kill_once(tmp_path: Path, seed: int) -> None:
    outcome = killed_once(tmp_path, 600, random.Random(seed))
    assert 0 < outcome.acknowledged < 600
    assert outcome.lost == []
    assert outcome.doubled == []
