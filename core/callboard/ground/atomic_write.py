"""Writing a file so that a reader sees the old one or the new one, never half of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from stat import S_IMODE, S_ISDIR, S_ISREG
from typing import BinaryIO

from callboard.errors import HostError
from callboard.ground.held_folder import HeldFolder, held, require_folder


@contextmanager
def replacing(path: str) -> Iterator[str]:
    """Yields the name of a file to write, in the same folder and with the same suffix; it takes
    the place of ``path`` when the block ends, and is removed when the block fails. A symbolic link
    stays one: what it points at is replaced. A file that was there keeps its mode, and one that
    nobody may write is refused."""
    with _place(path) as (folder, written):
        named = Path(folder.path, written)
        try:
            yield str(named)
        finally:
            # Where the folder was swapped, what was written by name is somewhere else.
            if folder.stat(written) is None:
                named.unlink(missing_ok=True)


@contextmanager
def replacing_bytes(path: str) -> Iterator[BinaryIO]:
    """Like :func:`replacing`, for what is written here and not by an application: yields a file,
    which is in the folder that was checked even if that is swapped for a link meanwhile."""
    with _place(path) as (folder, written), folder.create(written) as file:
        yield file


@contextmanager
def _place(path: str) -> Iterator[tuple[HeldFolder, str]]:
    """The folder, and a name in it whose file takes the place of ``path``."""
    asked = target = Path(path)
    if target.is_symlink():
        target = pointed_at(target)
    name = target.name
    require_folder(target)
    if target.is_dir():
        raise HostError(f"'{name}' is a folder; give the name of a file")
    with held(target.parent, asked.parent) as folder:
        mode = _mode(folder, name)
        written = f".{target.stem}.{token_hex(4)}{target.suffix}"
        try:
            yield folder, written
            there = folder.stat(written)
            if there is None or not S_ISREG(there.st_mode):
                raise HostError(f"'{name}' could not be written")
            if mode is not None:
                folder.set_mode(written, mode)
            folder.rename(written, name)
        finally:
            folder.remove(written)


def _mode(folder: HeldFolder, name: str) -> int | None:
    """Of the file that is replaced; None where there is none."""
    there = folder.stat(name)
    if there is None:
        return None
    if S_ISDIR(there.st_mode):
        raise HostError(f"'{name}' is a folder; give the name of a file")
    return mode_to_keep(name, S_IMODE(there.st_mode))


def mode_to_keep(name: str, mode: int) -> int:
    """The mode of a file that is to be replaced. Raises HostError where nobody may write it."""
    if not mode & 0o222:
        raise HostError(
            f"'{name}' is read-only, so it was left as it is; write to another name, or make"
            " it writable first"
        )
    return mode


def pointed_at(link: Path) -> Path:
    """What a symbolic link leads to. Raises HostError where that is the link itself."""
    try:
        target = link.resolve()
    except (OSError, RuntimeError):  # a loop, before Python 3.13
        target = link
    if target.is_symlink():
        raise HostError(f"'{link.name}' is a symbolic link that leads back to itself")
    return target
