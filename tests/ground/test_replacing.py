from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from stat import S_IMODE

import pytest

from callboard.errors import HostError
from callboard.ground.atomic_write import replacing


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "scene.usda"
    target.write_text("old")
    with replacing(str(target)) as written:
        assert Path(written).parent == tmp_path
        assert Path(written).suffix == ".usda"
        Path(written).write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert [p.name for p in tmp_path.iterdir()] == ["scene.usda"]


def test_a_failure_leaves_no_trace(tmp_path: Path) -> None:
    target = tmp_path / "scene.usda"
    target.write_text("old")

    def fail_halfway() -> None:
        with replacing(str(target)) as written:
            Path(written).write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_halfway()
    with pytest.raises(HostError, match="could not be written"), replacing(str(target)):
        pass
    assert target.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["scene.usda"]


KILLED = """
import os, sys
from callboard.ground.atomic_write import replacing
with replacing(sys.argv[1]) as written:
    open(written, "w").write("half")
    os._exit(9)
"""


def test_what_a_killed_save_left_is_gone_after_the_next(tmp_path: Path) -> None:
    target, other = tmp_path / "scene.usda", tmp_path / ".scene.0123456789abcdef.usda"
    other.touch()
    assert subprocess.run([sys.executable, "-c", KILLED, target], check=False).returncode == 9
    assert len(list(tmp_path.iterdir())) == 2
    with replacing(str(target)) as first, replacing(str(target)) as written:
        for each in (first, written):
            Path(each).write_text("new")
    assert sorted(p.name for p in tmp_path.iterdir()) == [other.name, "scene.usda"]


def test_places_that_can_not_be_written(tmp_path: Path) -> None:
    for place in (tmp_path / "missing" / "a.usda", tmp_path):
        with pytest.raises(HostError), replacing(str(place)):
            raise AssertionError("the block was entered")


def test_a_read_only_file_is_left_as_it_is(tmp_path: Path) -> None:
    target = tmp_path / "scene.usda"
    target.write_text("old")
    target.chmod(0o444)
    with pytest.raises(HostError, match="read-only"), replacing(str(target)):
        raise AssertionError("the block was entered")
    assert target.read_text() == "old"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps no such modes")
def test_a_file_keeps_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "scene.usda"
    target.write_text("old")
    target.chmod(0o640)
    with replacing(str(target)) as written:
        Path(written).write_text("new")
    assert S_IMODE(target.stat().st_mode) == 0o640


def linked(link: Path, target: Path) -> None:
    try:
        link.symlink_to(target)
    except OSError as error:
        pytest.skip(f"no symbolic links here: {error}")


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    target, link = tmp_path / "store" / "v3.usda", tmp_path / "scene.usda"
    target.write_text("old")
    linked(link, target)
    with replacing(str(link)) as written:
        Path(written).write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert [p.name for p in (tmp_path / "store").iterdir()] == ["v3.usda"]


def test_a_link_that_leads_back_to_itself_is_an_error(tmp_path: Path) -> None:
    link = tmp_path / "scene.usda"
    linked(link, link)
    with pytest.raises(HostError, match="itself"), replacing(str(link)):
        raise AssertionError("the block was entered")
