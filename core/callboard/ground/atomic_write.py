"""Writes a file so that a reader sees either the old content or the new one, never half of it."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from stat import S_IMODE, S_ISDIR, S_ISREG
from typing import BinaryIO
from zlib import crc32

from callboard.errors import HostError
from callboard.ground.held_folder import HeldFolder, held, require_folder
from callboard.ground.live_process import is_process_alive


@contextmanager
def replacing(path: str) -> Iterator[str]:
    """Yield the name of a file to write, in the same folder and with the same suffix. It replaces
    ``path`` when the block ends, and is removed when the block fails. A symbolic link stays a link:
    its target is replaced. An existing file keeps its mode, and a read-only file is refused."""
    with _place(path) as (folder, written):
        named = Path(folder.path, written)
        try:
            yield str(named)
        finally:
            # If the folder was replaced, the file that was written by name is somewhere else.
            if folder.stat(written) is None:
                named.unlink(missing_ok=True)


@contextmanager
def replacing_bytes(path: str) -> Iterator[BinaryIO]:
    """Yield a file to write, like :func:`replacing`, for content that callboard writes itself. The
    file is in the folder that was checked, even if the folder is replaced with a link in the
    meantime."""
    with _place(path) as (folder, written), folder.create(written) as file:
        yield file


@contextmanager
def _place(path: str) -> Iterator[tuple[HeldFolder, str]]:
    """Yield the folder, and a name in it whose file replaces ``path``."""
    asked = target = Path(path)
    if target.is_symlink():
        target = pointed_at(target)
    name = target.name
    require_folder(target)
    if target.is_dir():
        raise HostError(f"'{name}' is a folder; give the name of a file")
    with held(target.parent, asked.parent) as folder:
        mode = _mode(folder, name)
        _clear(folder, target)
        written = f".{target.stem}.{_tag()}{os.getpid():08x}{token_hex(2)}{target.suffix}"
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


def _tag() -> str:
    """Return four letters for this machine, because other machines may write to the same folder."""
    return f"{crc32(socket.gethostname().encode()) & 0xFFFF:04x}"


def _clear(folder: HeldFolder, target: Path) -> None:
    """Remove the files left by processes on this machine that were killed while writing."""
    left = re.compile(
        rf"\.{re.escape(target.stem)}\.{_tag()}([0-9a-f]{{8}})[0-9a-f]{{4}}{re.escape(target.suffix)}"
    )
    # A process may be allowed to write to a folder but not to list it.
    with suppress(OSError):
        for each in Path(folder.path).iterdir():
            match = left.fullmatch(each.name)
            if match is not None and not is_process_alive(int(match[1], 16)):
                folder.remove(each.name)


def _mode(folder: HeldFolder, name: str) -> int | None:
    """Return the mode of the file that is replaced, or None when there is no such file."""
    there = folder.stat(name)
    if there is None:
        return None
    if S_ISDIR(there.st_mode):
        raise HostError(f"'{name}' is a folder; give the name of a file")
    return mode_to_keep(name, S_IMODE(there.st_mode))


def mode_to_keep(name: str, mode: int) -> int:
    """Return the mode of a file that is to be replaced. Raises HostError when it is read-only."""
    if not mode & 0o222:
        raise HostError(
            f"'{name}' is read-only, so it was left as it is; write to another name, or make"
            " it writable first"
        )
    return mode


def pointed_at(link: Path) -> Path:
    """Return the target of a symbolic link. Raises HostError when the link leads back to itself."""
    try:
        target = link.resolve()
    except (OSError, RuntimeError):  # Before Python 3.13, a loop raises RuntimeError.
        target = link
    if target.is_symlink():
        raise HostError(
            f"'{link.name}' is a symbolic link that leads back to itself; give another name"
        )
    return target
