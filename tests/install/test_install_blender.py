"""``callboard install blender``: what Blender itself prints."""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path

import pytest

from callboard.cli import main

#: The third byte is neither UTF-8 nor in Windows' Western code page.
PRINTED = b'Blender 3.6.5\n\xe9 \x81\n{"callboard": "done"}\n'


def test_a_blender_whose_words_are_in_another_code_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "words").write_bytes(PRINTED)
    if sys.platform == "win32":
        (programs / "blender.bat").write_text('@type "%~dp0words"\n')
    else:
        (programs / "blender").write_text(f'#!/bin/sh\ncat "{programs / "words"}"\n')
        (programs / "blender").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    archive = tmp_path / "some.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("callboard_addon/__init__.py", "one")
    user = tmp_path / "3.6"
    assert main(["install", "blender", "--dir", str(user), "--archive", str(archive)]) == 0
    assert "enable it in Blender 3.6\n" in capsys.readouterr().out
