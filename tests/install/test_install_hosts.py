"""``callboard install``: the files that it writes, and those that it leaves alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from callboard.errors import HostError
from callboard_programs.install.placed_files import RECEIPT, place, remove

FILES = {"__init__.py": b"one", "lib/deep/two.py": b"two"}


def everything(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != RECEIPT
    }


def test_writing_twice_is_writing_once(tmp_path: Path) -> None:
    folder = tmp_path / "addon"
    assert len(place(folder, FILES, dry_run=False)) == 1
    assert everything(folder) == FILES
    assert place(folder, FILES, dry_run=False) == []


def test_a_dry_run_says_it_and_writes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "addon"
    assert "2 files" in place(folder, FILES, dry_run=True)[0]
    assert not folder.exists()
    place(folder, FILES, dry_run=False)
    assert remove(folder, dry_run=True)
    assert everything(folder) == FILES


def test_a_new_version_takes_the_old_ones_place(tmp_path: Path) -> None:
    folder = tmp_path / "addon"
    place(folder, FILES, dry_run=False)
    place(folder, {"__init__.py": b"new"}, dry_run=False)
    assert everything(folder) == {"__init__.py": b"new"}
    assert not (folder / "lib").exists()


@pytest.mark.parametrize("name", ["__init__.py", "lib/deep/two.py"])
def test_what_somebody_else_wrote_is_not_overwritten(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "addon"
    (folder / name).parent.mkdir(parents=True)
    (folder / name).write_bytes(b"theirs")
    with pytest.raises(HostError, match="was not written by callboard install"):
        place(folder, FILES, dry_run=False)
    assert everything(folder) == {name: b"theirs"}


def test_what_was_changed_is_neither_replaced_nor_removed(tmp_path: Path) -> None:
    folder = tmp_path / "addon"
    place(folder, FILES, dry_run=False)
    (folder / "__init__.py").write_bytes(b"mended by the artist")
    with pytest.raises(HostError, match="changed"):
        place(folder, {"__init__.py": b"new"}, dry_run=False)
    told = remove(folder, dry_run=False)
    assert any("it was changed" in line for line in told)
    assert everything(folder) == {"__init__.py": b"mended by the artist"}


def test_removing_leaves_nothing_of_ours_and_everything_else(tmp_path: Path) -> None:
    folder = tmp_path / "addon"
    place(folder, FILES, dry_run=False)
    cached = folder / "lib" / "deep" / "__pycache__" / "two.cpython-311.pyc"
    cached.parent.mkdir()
    cached.write_bytes(b"compiled")
    (folder / "notes.txt").write_bytes(b"theirs")
    remove(folder, dry_run=False)
    assert everything(folder) == {"notes.txt": b"theirs"}
    (folder / "notes.txt").unlink()
    assert remove(folder, dry_run=False) == []


def test_a_receipt_that_names_files_outside_removes_none_of_them(tmp_path: Path) -> None:
    folder = tmp_path / "addon"
    place(folder, FILES, dry_run=False)
    outside = tmp_path / "outside.txt"
    outside.write_bytes(b"one")
    receipt = json.loads((folder / RECEIPT).read_text("utf-8"))
    receipt["../outside.txt"] = receipt["__init__.py"]
    (folder / RECEIPT).write_text(json.dumps(receipt), "utf-8")
    remove(folder, dry_run=False)
    assert outside.read_bytes() == b"one"
    assert not folder.exists()
