"""The locations that are searched for a Python interpreter."""

from __future__ import annotations

from pathlib import Path

import pytest

import find_python


def test_windows_installers_and_its_new_manager(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find_python, "WINDOWS", True)
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "Local"))
    monkeypatch.setenv("PROGRAMFILES", str(tmp_path / "Program Files"))
    looked = {Path(command[0]) for command in find_python.commands_for("3.12")}
    assert {
        tmp_path / "Local" / "Programs" / "Python" / "Python312" / "python.exe",
        tmp_path / "Local" / "Python" / "pythoncore-3.12-64" / "python.exe",
        tmp_path / "Program Files" / "Python312" / "python.exe",
    } <= looked
