"""Qt is tested in another process, whose output may be in any code page."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from callboard.errors import HostError
from callboard_blender.ui.qt_files import QtSearch
from callboard_ui.main_loop import check_qt
from callboard_ui.qt_libraries import missing_libraries
from waiting import until


@pytest.fixture(autouse=True)
def complains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Return a Python whose Qt fails with a message. One byte of it is neither UTF-8 nor in
    Windows' Western code page."""
    (tmp_path / "words").write_bytes(b"Qt says \x81 so\n")
    if sys.platform == "win32":
        python = tmp_path / "python.bat"
        python.write_text('@type "%~dp0words"\n@type "%~dp0words" 1>&2\n@exit /b 1\n')
    else:
        python = tmp_path / "python"
        words = tmp_path / "words"
        python.write_text(f'#!/bin/sh\ncat "{words}"\ncat "{words}" >&2\nexit 1\n')
        python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))


def test_serve_tells_what_qt_said() -> None:
    with pytest.raises(HostError, match=r"Qt can't open a window.*Qt says . so"):
        check_qt()


def test_blender_s_window_tells_what_qt_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "PySide6").mkdir()
    (tmp_path / "PySide6" / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    search = QtSearch(tmp_path)
    until(lambda: search.done, "the answer")
    assert search.problem is not None
    assert "Qt says" in search.problem


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has X11's libraries")
def test_what_can_not_be_told_is_nothing() -> None:
    assert missing_libraries("/nowhere/libqxcb.so") == []
