"""``callboard new-skill``: the skill that it writes is well-formed and passes its own tests."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from callboard_programs.cli import main
from needed import need

pytestmark = pytest.mark.slow


def test_the_new_skill_passes_lint_and_its_own_tests(tmp_path, capsys):
    assert main(["new-skill", "shot-tools", "--in", str(tmp_path)]) == 0
    folder = tmp_path / "shot-tools"
    assert capsys.readouterr().out.strip() == str(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["shot-tools"]
    assert main(["lint", str(folder)]) == 0
    assert capsys.readouterr().out == ""
    need("pxr")
    # Run the skill's tests as a TD would, without our settings, and with warnings as errors.
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", "."],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed" in done.stdout


@pytest.mark.parametrize(
    "name", ["", "Shot", "shot_tools", "-a", "a-", "a--b", "../a", "a/b", "ä", "a" * 65, "a\n"]
)
def test_a_name_that_no_skill_may_have(tmp_path, capsys, name):
    assert main(["new-skill", "--in", str(tmp_path), "--", name]) == 1
    assert "can't be a skill's name" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path, capsys):
    (tmp_path / "a").mkdir()
    assert main(["new-skill", "a", "--in", str(tmp_path)]) == 1
    assert "already exists" in capsys.readouterr().err
    assert list((tmp_path / "a").iterdir()) == []


def test_the_folder_must_exist(tmp_path, capsys):
    assert main(["new-skill", "a", "--in", str(tmp_path / "b")]) == 1
    assert "create it first" in capsys.readouterr().err
