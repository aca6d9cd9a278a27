"""Ten recorded conversations become skills. Each skill repeats the work on its own host and on
another."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from needed import need
from python_path import python_path
from skills.recorded_runs import RUNS, SECRET

pytestmark = pytest.mark.slow
for needed in ("pxr", "bpy"):
    need(needed)

ENVIRONMENT = {**os.environ, "PYTHONPATH": python_path()}


def perform(*arguments: str, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**ENVIRONMENT, **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def skills(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for host in RUNS:
        perform(str(Path(__file__).with_name("recorded_runs.py")), host, str(folder))
    return folder


@pytest.mark.parametrize(
    ("host", "outcome"), [("openusd", "9 passed, 1 skipped"), ("blender", "10 passed")]
)
def test_the_skills_repeat_the_work(skills: Path, host: str, outcome: str) -> None:
    """A skill that sets keys doesn't run on a host without animation."""
    folders = [str(skills / each) for each in RUNS]
    options = ["-q", "-k", "does_again", "-W", "error", "-p", "no:cacheprovider"]
    printed = perform(
        *("-m", "pytest", *options, f"--rootdir={skills}", *folders), CALLBOARD_TEST_HOST=host
    )
    assert outcome in printed


def test_they_hold_no_secret_and_no_path_of_this_machine(skills: Path) -> None:
    files = [file for host in RUNS for file in (skills / host).rglob("*.*") if file.is_file()]
    texts = [file.read_text("utf-8") for file in files if file.suffix != ".pyc"]
    assert len([file for file in files if file.name == "SKILL.md"]) == 10
    assert not [text for text in texts if SECRET in text or str(skills) in text]
