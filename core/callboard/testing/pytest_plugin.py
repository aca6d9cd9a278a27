"""Fixtures for a skill's own tests. In the ``conftest.py`` beside them:

    from callboard.testing.pytest_plugin import callboard_skill, callboard_skill_paths

Importing this imports nothing heavy; the server is imported by the first test that wants it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from callboard.testing.skill_bench import SkillBench

#: Where other skills, caches and records of the person who tests would come from.
_OUTSIDE = ("CALLBOARD_SKILL_PATHS", "DCC_MCP_SKILL_PATHS")


@pytest.fixture
def callboard_skill_paths() -> tuple[Path, ...]:
    """Folders with the skills that the tested one depends on. Override it to name some."""
    return ()


@pytest.fixture
def callboard_skill(
    request: pytest.FixtureRequest,
    callboard_skill_paths: tuple[Path, ...],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Iterator[SkillBench]:
    """The skill that the test file belongs to, on a fresh scene: an OpenUSD stage, or what
    ``CALLBOARD_TEST_HOST`` names."""
    from callboard.testing.skill_bench import SkillBench, host_for_tests, skill_folder

    for variable in _OUTSIDE:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / ".callboard"))
    folder = skill_folder(request.path)
    with SkillBench(folder, host=host_for_tests(), skill_paths=callboard_skill_paths) as bench:
        yield bench
