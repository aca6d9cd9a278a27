"""The findings of ``callboard doctor`` when Blender would use the standard library of a different
Python."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from callboard_programs.cli import main

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it has its own Python")
Told = Callable[..., str]


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(0o755)
    return path


@pytest.fixture
def told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Told:
    """Return a function that puts folders on ``PATH``, and returns doctor's message about the
    ``python3`` found there, or an empty string."""
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    program(tmp_path / "usr/bin/python3.11")
    (tmp_path / "usr/bin/python3").symlink_to("python3.11")
    program(tmp_path / "pyenv/bin/python3")
    program(tmp_path / "pyenv/lib/python3.11/os.py")

    def ask(*folders: str) -> str:
        monkeypatch.setenv("PATH", ":".join(str(tmp_path / folder) for folder in folders))
        main(["doctor", "--json"])
        rows = json.loads(capsys.readouterr().out)
        return "".join(row["message"] for row in rows if "python3 on the path" in row["message"])

    return ask


def test_a_python_before_the_systems_is_told_with_a_command(told: Told, tmp_path: Path) -> None:
    program(tmp_path / "usr/bin/blender")
    line = told("pyenv/bin", "usr/bin")
    assert line.startswith(f"{tmp_path}/pyenv/bin/python3 is the first python3 on the path")
    assert "'undefined symbol'" in line
    assert line.endswith(f"`PATH={tmp_path}/usr/bin:$PATH blender`")
    assert told("usr/bin", "pyenv/bin") == ""


def test_a_virtual_environment_is_its_pythons(told: Told, tmp_path: Path) -> None:
    program(tmp_path / "usr/bin/blender")
    for name, python in (("own", "usr/bin/python3"), ("other", "pyenv/bin/python3")):
        (tmp_path / name / "bin").mkdir(parents=True)
        (tmp_path / name / "bin" / "python3").symlink_to(tmp_path / python)
    assert told("own/bin", "usr/bin") == ""
    assert told("other/bin", "usr/bin") != ""


def test_another_version_is_not_taken(told: Told, tmp_path: Path) -> None:
    program(tmp_path / "usr/bin/blender")
    (tmp_path / "pyenv/lib/python3.11").rename(tmp_path / "pyenv/lib/python3.12")
    assert told("pyenv/bin", "usr/bin") == ""


def test_a_blender_that_brings_its_python_is_fine(told: Told, tmp_path: Path) -> None:
    program(tmp_path / "blender-4.5/blender")
    assert told("pyenv/bin", "usr/bin", "blender-4.5") == ""
