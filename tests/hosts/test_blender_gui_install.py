"""``callboard install blender`` runs in a fresh home. Then Blender is started as an artist starts
it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from blender_program import blender_in_a_window
from hosts.blender_gui_rig import DEADLINE, missing, screen
from waiting import until

if reason := missing():
    pytest.skip(reason, allow_module_level=True)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

Run = Callable[..., str]


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a user who has never started Blender."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "CALLBOARD_"))}
    sources = os.pathsep.join(path for path in sys.path if path)
    kept.update(HOME=str(tmp_path), PYTHONPATH=sources, LIBGL_ALWAYS_SOFTWARE="1")
    return kept


@pytest.fixture
def callboard(home: dict[str, str]) -> Run:
    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "callboard", *arguments],
            env=home,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        if "pip could not fetch" in done.stderr:
            pytest.skip(done.stderr)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def listed(callboard: Run, count: int) -> list[dict[str, Any]]:
    """Wait until ``callboard list`` shows ``count`` hosts that serve. Return all its entries."""

    def serving_now() -> list[dict[str, Any]] | None:
        listings.append(json.loads(callboard("list", "--json")))
        serving = [one for one in listings[-1] if one["state"] == "serving"]
        return listings[-1] if len(serving) == count else None

    listings: list[list[dict[str, Any]]] = []
    return until(serving_now, lambda: f"{count} that serve: {listings[-1]}", seconds=DEADLINE) or []


def test_two_plain_blenders_after_installing(callboard: Run, home: dict[str, str]) -> None:
    assert "would write" in callboard("install", "blender", "--dry-run")
    addon = next(Path(home["HOME"]).glob(".config/blender/*/scripts/addons/*"), None)
    assert addon is None
    assert "enable it" in callboard("install", "blender")
    with ExitStack() as stack:
        display = stack.enter_context(screen())
        first = stack.enter_context(blender_in_a_window(home, display))
        (one,) = listed(callboard, 1)
        assert (one["kind"], one["pid"]) == ("blender", first.pid)
        second = stack.enter_context(blender_in_a_window(home, display))
        assert {each["pid"] for each in listed(callboard, 2)} == {first.pid, second.pid}
        first.kill()
        first.wait(DEADLINE)
        assert [each["pid"] for each in json.loads(callboard("list", "--json"))] == [second.pid]
    callboard("uninstall", "blender")
    assert list(Path(home["HOME"]).glob(".config/blender/*/scripts/addons/callboard*")) == []
    assert "nothing to do" in callboard("uninstall", "blender")
