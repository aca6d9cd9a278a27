"""Without Blender's own tool, the build reports the checks that it left out."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

import build_blender


def test_a_check_that_is_left_out_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "bpy", None)
    archive = tmp_path / "callboard-blender.zip"
    wheel = f"wheels/callboard-{build_blender.version()}-py3-none-any.whl"
    with zipfile.ZipFile(archive, "w") as new:
        for name in ("__init__.py", "blender_manifest.toml", wheel):
            new.writestr(name, "")
    build_blender.check_extension(archive, full=False)
    told = capsys.readouterr()
    assert told.out == ""
    assert "callboard-blender.zip is complete" in told.err
    assert "You don't have to do anything" in told.err
