"""If the home folder can't be used, files are stored in the session's folder, provided that only
this user has access to it."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest

from callboard.ground.session_folder import instead_of, make_instead_of, session_folder

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems name no such folder")


@pytest.fixture(autouse=True)
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "runtime"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    return folder


def test_each_home_has_a_folder_of_its_own(runtime: Path, tmp_path: Path) -> None:
    one, other = (make_instead_of(tmp_path / home / "instances") for home in ("a", "b"))
    assert one != other
    assert one.parent == other.parent == session_folder()
    assert one.is_relative_to(runtime)
    assert one.stat().st_mode & 0o077 == 0
    assert instead_of(tmp_path / "a" / "instances") == one


@pytest.mark.parametrize("wrong", ["a link", "a file", "others may write"])
def test_a_folder_that_others_may_have_made_is_not_used(
    runtime: Path, tmp_path: Path, wrong: str
) -> None:
    there = runtime / f"callboard-{os.getuid()}"
    if wrong == "a link":
        (tmp_path / "theirs").mkdir()
        there.symlink_to(tmp_path / "theirs")
    elif wrong == "a file":
        there.write_text("")
    else:
        there.mkdir()
        there.chmod(0o777)
    assert session_folder() is None
    with pytest.raises(OSError, match="no folder that only this user can write"):
        make_instead_of(tmp_path / "instances")


def test_another_users_runtime_folder_is_passed_over(
    runtime: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.chmod(0o777)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = session_folder()
    assert folder is not None
    assert not folder.is_relative_to(runtime)
