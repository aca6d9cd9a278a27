"""Reports of maps: how long they are kept, and what a later server reads from them."""

from __future__ import annotations

import json
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


def test_a_report_is_added_up_as_far_as_it_was_written(tmp_path: Path) -> None:
    reports = Reports(tmp_path, LOCAL)
    reports.begin("one", [{"index": index} for index in range(4)])
    lines = [
        {"index": 0, "status": "done"},
        {"index": 1, "status": "failed", "error": {"message": "no light"}},
        {"index": 2, "status": "done"},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    reports.report("one").write_text(text + '{"index": 3, "sta', encoding="utf-8")
    tally, total = reports.tally("one")
    assert (tally.done, tally.failed, tally.finished, total) == (2, 1, False, 4)
    assert tally.first_errors == [{"index": 1, "message": "no light"}]
