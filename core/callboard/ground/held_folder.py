"""A folder that is held open. Files are written into it, even if its path leads elsewhere by then.

Between the check of a path and the moment it is written to, a program that may write in the parent
folder can replace a folder with a link. If the system can name files relative to an open folder,
each folder on the way is opened separately, and none of them may be a link. Otherwise, paths are
used.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO

from callboard.errors import HostError
from callboard.ground.patient_rename import rename_over

CAN_HOLD = {os.open, os.stat, os.unlink, os.rename, os.mkdir} <= os.supports_dir_fd
#: The flags for opening a folder, and nothing but a folder. O_PATH, where available, needs no
#: permission to list the folder.
_FLAGS = getattr(os, "O_PATH", os.O_RDONLY)
for _name in ("O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC"):
    _FLAGS |= getattr(os, _name, 0)

#: Set while a call that names folders to write in runs. Called with the folder's path as the call
#: names it, and with its real path. Raises if writing there is no longer allowed.
recheck: ContextVar[Callable[[str, str], None] | None] = ContextVar("recheck", default=None)

#: Called with a missing folder that the call wants to write to. Makes the folder if the call may do
#: so.
make_missing: ContextVar[Callable[[str], None] | None] = ContextVar("make_missing", default=None)


def require_folder(file: Path) -> None:
    """Check that the folder of a file to be written exists. If it doesn't, make it when it is below
    one of the call's roots. Raises HostError."""
    if file.parent.is_dir():
        return
    make = make_missing.get()
    if make is not None:
        make(str(file.parent))
    if not file.parent.is_dir():
        raise HostError(
            f"the folder of '{file.name}' does not exist; create it first, or write below a "
            "workspace root, where folders are made"
        )


def make_below(base: str, parts: Sequence[str]) -> None:
    """Make nested folders in ``base``, a real path. Folders that already exist are fine. Raises
    HostError when something else, such as a link, is in the way."""
    handle = _open(base) if CAN_HOLD else None
    path = base
    try:
        for part in parts:
            path = str(Path(path, part))
            at = part if handle is not None else path
            with suppress(FileExistsError):
                os.mkdir(at, dir_fd=handle)
            if handle is not None:
                above, handle = handle, os.open(part, _FLAGS, dir_fd=handle)
                os.close(above)
            elif os.path.normcase(os.path.realpath(path)) != os.path.normcase(path):
                raise HostError(f"the folder '{part}' leads elsewhere; nothing was written")
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise HostError(
            f"the folder '{Path(path).name}' can't be made: {why}; write to another folder"
        ) from None
    finally:
        if handle is not None:
            os.close(handle)


class HeldFolder:
    """One folder, with its handle if there is one. Names refer to files directly inside the folder,
    and links are never followed. Methods raise OSError."""

    def __init__(self, path: str, handle: int | None) -> None:
        self.path = path
        self._handle = handle

    def _at(self, name: str) -> str:
        return name if self._handle is not None else str(Path(self.path, name))

    def stat(self, name: str) -> os.stat_result | None:
        """Return the file's status, or None when the file doesn't exist."""
        try:
            return os.stat(self._at(name), dir_fd=self._handle, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def create(self, name: str) -> BinaryIO:
        """Return a new file, open for writing."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        return os.fdopen(os.open(self._at(name), flags, 0o666, dir_fd=self._handle), "wb")

    def set_mode(self, name: str, mode: int) -> None:
        if self._handle is None:
            Path(self.path, name).chmod(mode)
            return
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=self._handle)
        try:
            os.fchmod(file, mode)
        finally:
            os.close(file)

    def rename(self, name: str, to: str) -> None:
        """Rename a file, replacing an existing file."""
        rename_over(self._at(name), self._at(to), folder=self._handle)

    def remove(self, name: str) -> None:
        """Remove a file. A missing file is fine."""
        with suppress(FileNotFoundError):
            os.unlink(self._at(name), dir_fd=self._handle)


@contextmanager
def held(folder: Path, asked: Path) -> Iterator[HeldFolder]:
    """Hold an existing folder open. ``asked`` is its path as the call named it. Raises the errors
    of ``recheck``, and HostError when a folder on the way is replaced in the meantime."""
    real = os.path.realpath(folder)
    check = recheck.get()
    if check is not None:
        check(str(asked), real)
    if not CAN_HOLD:
        yield HeldFolder(real, None)
        return
    handle = _open(real)
    try:
        yield HeldFolder(real, handle)
    finally:
        os.close(handle)


def _open(real: str) -> int:
    """Return a handle to the folder, none of whose parts may be a link now. Raises HostError."""
    handle = os.open("/", _FLAGS)
    try:
        for part in filter(None, real.split("/")):
            above, handle = handle, os.open(part, _FLAGS, dir_fd=handle)
            os.close(above)
    except OSError as error:
        os.close(handle)
        name = Path(real).name
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENOENT):
            raise HostError(
                f"the folder '{name}' was moved while it was being written to; nothing was "
                "written, so look where it is now and call again"
            ) from None
        raise HostError(
            f"the folder '{name}' can't be opened: {error.strerror}; write to another folder"
        ) from None
    return handle
