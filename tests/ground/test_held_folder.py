"""A folder that is swapped for a link between the check and the write."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from callboard.errors import CallboardError, HostError
from callboard.ground.atomic_write import replacing, replacing_bytes
from callboard.ground.held_folder import CAN_HOLD, recheck
from callboard.workspace.containment import Root, WorkspaceRoots
from callboard.workspace.found_paths import FoundPaths

pytestmark = pytest.mark.skipif(not CAN_HOLD, reason="files can't be opened by dir_fd here")


@contextmanager
def checked(roots: WorkspaceRoots, path: str) -> Iterator[None]:
    """Run the block as if it were a call whose path argument was found to be inside the root."""
    places = FoundPaths(roots)
    places.note(path)
    token = recheck.set(places)
    try:
        yield
    finally:
        recheck.reset(token)


class Ground:
    """A root with a folder in it that can become a link to the outside at any moment."""

    def __init__(self, folder: Path) -> None:
        self.root, self.out = folder / "root", folder / "out"
        self.shots, self.aside = self.root / "shots", self.root / "aside"
        self.shots.mkdir(parents=True)
        self.out.mkdir()
        (self.out / "a.usda").write_text("theirs")
        self.path = str(self.shots / "a.usda")
        self.roots = WorkspaceRoots([str(self.root)])

    def swap(self) -> None:
        self.shots.rename(self.aside)
        self.shots.symlink_to(self.out)

    def swap_back(self) -> None:
        self.shots.unlink()
        self.aside.rename(self.shots)

    def untouched(self) -> bool:
        return {p.name: p.read_text() for p in self.out.iterdir()} == {"a.usda": "theirs"}


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


def test_a_folder_that_was_swapped_since_the_check_is_refused(ground: Ground) -> None:
    with checked(ground.roots, ground.path):
        ground.swap()
        for write in (replacing, replacing_bytes):
            with (
                pytest.raises(CallboardError, match="moved out of the workspace"),
                write(ground.path),  # type: ignore[operator]
            ):
                raise AssertionError("the block was entered")
    assert ground.untouched()


def test_one_that_leads_into_a_read_only_root_is_refused(ground: Ground) -> None:
    roots = WorkspaceRoots([str(ground.root), Root("", "out", str(ground.out), read_only=True)])
    with checked(roots, ground.path):
        ground.swap()
        with (
            pytest.raises(CallboardError, match="read-only root 'out'"),
            replacing_bytes(ground.path),
        ):
            raise AssertionError("the block was entered")
    assert ground.untouched()


def test_what_is_written_lands_in_the_folder_that_was_opened(ground: Ground) -> None:
    with checked(ground.roots, ground.path), replacing_bytes(ground.path) as file:
        ground.swap()
        file.write(b"ours")
    assert ground.untouched()
    assert (ground.aside / "a.usda").read_text() == "ours"


def test_what_an_application_wrote_elsewhere_is_taken_away_and_told(ground: Ground) -> None:
    def write() -> None:
        with checked(ground.roots, ground.path), replacing(ground.path) as written:
            ground.swap()
            Path(written).write_text("ours")

    with pytest.raises(HostError, match="could not be written"):
        write()
    assert ground.untouched()
    assert list(ground.aside.iterdir()) == []


def test_links_that_lead_nowhere_else_are_fine(tmp_path: Path) -> None:
    (tmp_path / "store" / "shots").mkdir(parents=True)
    (tmp_path / "root").symlink_to(tmp_path / "store")
    roots = WorkspaceRoots([str(tmp_path / "root")])
    path = str(tmp_path / "root" / "shots" / "a.usda")
    with checked(roots, path), replacing_bytes(path) as file:
        file.write(b"ours")
    assert (tmp_path / "store" / "shots" / "a.usda").read_text() == "ours"


@pytest.mark.skipif(not hasattr(os, "O_PATH") or os.getuid() == 0, reason="needs O_PATH, not root")
def test_a_folder_on_the_way_need_not_be_readable(tmp_path: Path) -> None:
    folder = tmp_path / "closed" / "open"
    folder.mkdir(parents=True)
    (tmp_path / "closed").chmod(0o311)
    with replacing_bytes(str(folder / "a")) as file:
        file.write(b"ours")
    (tmp_path / "closed").chmod(0o755)
    assert (folder / "a").read_text() == "ours"


def test_thousands_of_swaps_put_nothing_outside(ground: Ground) -> None:
    """The folder is swapped back and forth as fast as possible while files are written into it."""
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            ground.swap()
            ground.swap_back()

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        for _ in range(3_000):
            with (
                suppress(CallboardError, OSError),
                checked(ground.roots, ground.path),
                replacing_bytes(ground.path) as file,
            ):
                file.write(b"ours")
    finally:
        stop.set()
        swapper.join()
        sys.setswitchinterval(before)
    assert ground.untouched()
    with checked(ground.roots, ground.path), replacing_bytes(ground.path) as file:
        file.write(b"ours")
    assert (ground.shots / "a.usda").read_text() == "ours"
