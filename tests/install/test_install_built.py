"""``callboard install`` without an archive: the output of the build."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from callboard_programs.cli import main


def test_a_build_that_fails_in_another_code_page_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # The second byte is neither UTF-8 nor in Windows' Western code page.
    (tmp_path / "words").write_bytes(b"no \x81 wheel\n")
    if sys.platform == "win32":
        python = tmp_path / "python.bat"
        python.write_text('@type "%~dp0words" 1>&2\n@exit /b 1\n')
    else:
        python = tmp_path / "python"
        python.write_text(f'#!/bin/sh\ncat "{tmp_path / "words"}" >&2\nexit 1\n')
        python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    assert main(["install", "maya", "--dir", str(tmp_path / "user")]) == 1
    told = capsys.readouterr().err
    assert "could not build the archive" in told
    assert "wheel" in told
    assert not (tmp_path / "user").exists()
