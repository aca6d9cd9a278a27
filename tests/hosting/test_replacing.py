from __future__ import annotations

from pathlib import Path

import pytest

from callboard.errors import HostError
from callboard.hosting.replacing import replacing


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


def test_places_that_can_not_be_written(tmp_path: Path) -> None:
    for place in (tmp_path / "missing" / "a.usda", tmp_path):
        with pytest.raises(HostError), replacing(str(place)):
            raise AssertionError("entered")
