"""``--out``: the location where the pictures, sounds and files in an answer are saved."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callboard.errors import HostError, PeerError, SkillError
from callboard.mapping.tasks import TaskResult
from callboard_programs.cli.result_files import files_in, keep, require_place
from callboard_programs.cli.task_files import TaskFiles
from needed import need

SMALL, LARGE = b"small", b"x" * 200_000


def picture(data: bytes) -> dict[str, Any]:
    encoded = base64.b64encode(data).decode()
    return {"type": "image", "data": encoded, "mimeType": "image/png"}


@pytest.fixture
def little_room() -> Iterator[None]:
    """Limit each file to 100,000 bytes, which has the effect of a full disk."""
    need("resource")
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_leaves_the_picture_that_was_there(tmp_path: Path, little_room: None) -> None:
    there = tmp_path / "look.png"
    there.write_bytes(b"yesterday's")
    with pytest.raises(HostError, match=r"can't be saved in .*look\.png"):
        keep(files_in({"content": [picture(LARGE)]}), str(there), "look")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        "look.png": b"yesterday's"
    }


def test_a_full_disk_leaves_no_half_of_an_answer(tmp_path: Path, little_room: None) -> None:
    answer = (picture(SMALL), picture(LARGE))
    result = TaskResult(0, "", "done", {}, 1, "", content=answer)
    kept = TaskFiles(tmp_path, "look").keep(result)
    assert kept.status == "failed"
    assert f"can't be saved in {tmp_path}" in kept.value["message"]
    assert not list(tmp_path.iterdir())


def test_a_link_stays_one(tmp_path: Path) -> None:
    there, link = tmp_path / "there.png", tmp_path / "look.png"
    there.write_bytes(b"old")
    link.symlink_to(there)
    keep(files_in({"content": [picture(SMALL)]}), str(link), "look")
    assert link.is_symlink()
    assert there.read_bytes() == SMALL


def test_a_device_stays_one(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with pytest.raises(HostError, match="No space left"):
        keep(files_in({"content": [picture(SMALL)]}), "/dev/full", "look")
    keep(files_in({"content": [picture(SMALL)]}), os.devnull, "look")
    assert Path(os.devnull).is_char_device()


def test_thousands_of_pictures_have_a_name_each(tmp_path: Path) -> None:
    keep(files_in({"content": [picture(SMALL)] * 3000}), str(tmp_path), "look")
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"look.png", *(f"look-{number}.png" for number in range(2, 3001))}


@pytest.mark.parametrize(
    "block",
    [
        {"type": "resource"},
        {"type": "resource", "resource": "a text"},
        {"type": "resource", "resource": {"uri": "file:///a", "text": 5}},
        {"type": "image"},
        {"type": "image", "data": "", "mimeType": "image/png"},
        {"type": "audio", "data": 7, "mimeType": 9},
    ],
)
def test_what_holds_nothing_is_a_sentence(block: dict[str, Any]) -> None:
    with pytest.raises(SkillError, match="that is broken: it is empty"):
        files_in({"content": [block]})


def test_a_folder_that_takes_no_file_is_told_before_the_call(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(PeerError, match="the folder can't be created"):
        require_place(f"{tmp_path / 'file'}/")
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    if os.name == "nt" or os.access(locked, os.W_OK):
        pytest.skip("this user may write everywhere")
    for place in (str(locked), f"{locked}/", str(locked / "look.png")):
        with pytest.raises(PeerError, match="files can't be created"):
            require_place(place)
    with pytest.raises(PeerError, match="files can't be created"):
        TaskFiles(locked, "look")
