"""Every host passes the suite that is shipped for adapter authors.

OpenUSD runs in this process. Blender brings its own OpenUSD and can't be unloaded, so it runs once,
in a separate process, and each check's outcome is a test here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from callboard.host import ANIMATION, LOOK, MODELLING, RENDER, SCRIPT, VIEWPORT
from callboard_testing.checks.samples import DOCUMENT, LAYERED, LOCKED, OBJECT, REFERENCED
from callboard_testing.compliance import Bench, Check, checks
from needed import need
from python_path import python_path

ALL = list(checks())
#: A stage has no window and runs no code; Blender as a module has no window either. Each has only
#: one document. Samples for Blender are in blender_scenes_names.py.
NOT_IN_OPENUSD = {ANIMATION, DOCUMENT, LOOK, MODELLING, RENDER, SCRIPT, VIEWPORT}
NOT_IN_BLENDER = {DOCUMENT, LAYERED, LOCKED, OBJECT, REFERENCED, VIEWPORT}
IN_OPENUSD = [check for check in ALL if NOT_IN_OPENUSD.isdisjoint(check.needs)]
IN_BLENDER = [check.id for check in ALL if NOT_IN_BLENDER.isdisjoint(check.needs)]


@pytest.mark.parametrize("check", IN_OPENUSD, ids=lambda check: check.id)
def test_openusd(check: Check, tmp_path: Path) -> None:
    need("pxr")
    from callboard_openusd.host import OpenUsdHost
    from hosts.openusd_rig import SAMPLES

    bench = Bench(OpenUsdHost(lambda fn: None), tmp_path, SAMPLES)
    assert NOT_IN_OPENUSD.isdisjoint(bench.host.ports)
    assert bench.missing(check) == []
    bench.run(check)


@pytest.fixture(scope="module")
def blender_outcomes() -> dict[str, dict[str, str]]:
    need("bpy")
    done = subprocess.run(
        [sys.executable, "-m", "callboard_testing", "--host", "blender", "--json"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": python_path()},
        timeout=900,
        check=False,
    )
    outcomes = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(outcomes) == len(ALL), done.stderr[-4000:]
    skipped = {outcome["id"] for outcome in outcomes if outcome["outcome"] == "skipped"}
    assert skipped.isdisjoint(IN_BLENDER)
    return {outcome["id"]: outcome for outcome in outcomes}


@pytest.mark.slow
@pytest.mark.timeout(930)  # The first test waits for all checks.
@pytest.mark.parametrize("check_id", IN_BLENDER)
def test_blender(check_id: str, blender_outcomes: dict[str, dict[str, str]]) -> None:
    outcome = blender_outcomes[check_id]
    assert outcome["outcome"] == "ok", outcome["why"]
