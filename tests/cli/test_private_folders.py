"""The findings of ``callboard doctor`` about the folder with the tokens."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from callboard_programs.cli import private_folders


def test_a_folder_of_the_users_own_is_fine(tmp_path: Path) -> None:
    folder = tmp_path / "instances"
    folder.mkdir(mode=0o700)
    assert list(private_folders.findings(folder)) == []
    assert list(private_folders.findings(tmp_path / "not there")) == []


def test_one_that_others_may_read_is_told_with_what_mends_it(tmp_path: Path) -> None:
    if sys.platform == "win32":
        folder = Path(os.environ["PUBLIC"])
    else:
        folder = tmp_path / "instances"
        folder.mkdir()
        folder.chmod(0o755)
    [(good, line)] = private_folders.findings(folder)
    assert not good
    assert str(folder) in line
    assert ("icacls" if sys.platform == "win32" else "chmod 700") in line


def test_the_shops_python_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prefix = (
        r"C:\Program Files\WindowsApps"
        r"\PythonSoftwareFoundation.Python.3.11_3.11.2544.0_x64__qbz5n2kfra8p0"
    )
    monkeypatch.setattr(sys, "base_prefix", prefix)
    [(good, line)] = private_folders.findings(tmp_path / "none")
    assert not good
    assert "python.org" in line
    assert not private_folders.from_the_shop(r"C:\Users\me\AppData\Local\Programs\Python\Python311")
