"""Scenes like those that studios make. Each result is either right or refused, and is marked
verified only if it is right.

Blender can't be unloaded and keeps what it read, so the cases run in one separate process and
each outcome is a test here.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hosts.blender_scenes import MODULES
from needed import need
from python_path import python_path

need("bpy")

# The first test waits for all cases.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(930)]
HERE = Path(__file__).parent
NAMES = [
    name
    for module in MODULES
    for name in re.findall(r"^def (test_\w+)", (HERE / f"{module}.py").read_text("utf-8"), re.M)
]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    done = subprocess.run(
        [sys.executable, str(HERE / "blender_scenes.py"), str(tmp_path_factory.mktemp("scenes"))],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": python_path()},
        timeout=900,
        check=False,
    )
    reasons = {one["name"]: one["why"] for one in map(json.loads, done.stdout.splitlines())}
    assert done.returncode == 0, done.stderr[-4000:]
    return reasons


@pytest.mark.parametrize("name", NAMES)
def test_case(name: str, outcomes: dict[str, str]) -> None:
    assert not outcomes[name], outcomes[name]
