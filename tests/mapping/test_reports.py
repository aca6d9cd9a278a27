"""The time for which the reports of maps are kept."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from callboard.clients.holder import LOCAL
from callboard.mapping.reports import Reports


@pytest.mark.parametrize(("later_days", "kept"), [((), True), ((0, 1), True), ((0, 1, 2), False)])
def test_old_reports_go_and_a_clock_that_jumped_takes_none(
    tmp_path: Path, later_days: tuple[int, ...], kept: bool
) -> None:
    reports = Reports(tmp_path, LOCAL)
    old = reports.begin("old", [])
    os.utime(old, (0, time.time() - 40 * 86_400))
    for day in later_days[1:]:
        at = time.time() - day * 86_400
        os.utime(reports.begin(f"later-{day}", []), (0, at))
    reports.begin("new", [])
    assert old.exists() == kept
