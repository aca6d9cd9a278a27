"""Keeps the state before setup in one file, so that everything can be restored byte for byte."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from callboard.errors import HostError
from callboard.ground.atomic_write import replacing_bytes
from callboard.ground.file_lock import lock
from callboard.ground.folders import cache_folder, data_folder
from callboard.ground.private_file import read_private, write_private

# Whole files are kept, because editing entries can't restore every byte, and Blender's preferences
# are binary.
_MOST_BYTES = 2**30
#: Maximum number of bytes in a file that is kept. A client's configuration may be that large.
_MOST_KEPT = 64 * 2**20


@dataclass
class BackupFile:
    """A file that setup wrote. ``before`` has its bytes as base64, or None if there was no file.
    ``after`` is the hash of the content that setup leaves. It is None until that content is known,
    and empty if another program wrote to the file between two of setup's own changes."""

    before: str | None
    mode: int | None
    after: str | None = None
    #: The client that the file belongs to.
    client: str | None = None

    @property
    def bytes_before(self) -> bytes | None:
        return None if self.before is None else base64.b64decode(self.before)

    def is_as_left(self, path: Path) -> bool:
        """Return whether only setup has written to the file: the file has the content that setup
        left, or its original content if setup was interrupted before it wrote. Return False for a
        file that can't be read."""
        try:
            return self.after is None or digest(path) in (self.after, _hash(self.bytes_before))
        except OSError:
            return False


@dataclass
class Backup:
    """Everything that has been changed by one setup or several in a row. Call ``save`` before each
    change."""

    #: Folders that setup made, each listed before the folders in it.
    folders: list[str] = field(default_factory=list)
    files: dict[str, BackupFile] = field(default_factory=dict)
    hosts: list[str] = field(default_factory=list)
    #: The names of the tokens that were made.
    tokens: list[str] = field(default_factory=list)
    #: The subfolders that the hosts' user folders had before a host was started, or None while no
    #: host is running.
    seen: list[str] | None = None

    def will_make(self, folder: Path) -> None:
        """Record this folder and its parents, except the ones that already exist."""
        missing = []
        while not folder.exists() and str(folder) not in self.folders:
            missing.append(str(folder))
            folder = folder.parent
        self.folders += reversed(missing)

    def will_write(self, path: Path, client: str | None = None, text: str | None = None) -> None:
        """Record the file's original content, unless it has been recorded already. If ``text``, the
        content that setup will write, is known, record it too. Raises OSError or HostError."""
        known = self.files.get(str(path))
        if known is None:
            self.files[str(path)] = known = self._as_it_is(path, client)
        elif not known.is_as_left(path):
            known.after = ""
        if text is not None and known.after != "":
            known.after = _hash(text.encode())

    def _as_it_is(self, path: Path, client: str | None) -> BackupFile:
        data = _bytes(path)
        if data is not None and len(data) > _MOST_KEPT:
            raise HostError(f"{path} is too large to be backed up; set this one up by hand")
        mode = None if data is None else path.stat().st_mode & 0o7777
        text = None if data is None else base64.b64encode(data).decode("ascii")
        self.will_make(path.parent)
        return BackupFile(text, mode, None, client)

    def wrote(self, path: Path) -> None:
        """Record the file's content after setup has written to it."""
        known = self.files[str(path)]
        if known.after != "":
            known.after = digest(path)

    def save(self) -> None:
        """Save the notes. Only this user can read them, because clients' files may hold secrets.
        Raises OSError."""
        write_private(_file(), json.dumps(asdict(self), indent=1))


@contextmanager
def only_one() -> Iterator[None]:
    """Prevent this user from running another setup during the block. Raises HostError if one is
    running already, or if callboard's folder can't be written to."""
    path = data_folder() / "setup.lock"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = path.open("ab")
    except OSError as error:
        raise HostError(
            f"{path.parent} can't be written ({error.strerror}), and callboard keeps the data "
            f"for --undo there; make it writable, or name another folder in CALLBOARD_HOME"
        ) from None
    with opened:
        try:
            lock(opened.fileno())
        except OSError:
            raise HostError(
                "another `callboard setup` is running; wait until it has ended"
            ) from None
        yield


def read_kept() -> Backup | None:
    """Return the changes of earlier setups, or None if there were none. Raises HostError."""
    try:
        value = json.loads(read_private(_file(), _MOST_BYTES))
        files = {path: BackupFile(**each) for path, each in value.pop("files").items()}
        return Backup(files=files, **value)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise HostError(
            f"{_file()}, the list of setup's changes, can't be read: {error}; undo them by hand"
        ) from None


def new_kept() -> Backup:
    """Return the notes for a new setup. They list callboard's own folders if these don't exist
    yet."""
    kept = Backup()
    for folder in (data_folder(), cache_folder()):
        kept.will_make(folder)
    return kept


def digest(path: Path) -> str | None:
    """Return the hash of a file's content, or None if there is no file. Raises OSError."""
    return _hash(_bytes(path))


def put_back(path: Path, file: BackupFile) -> None:
    """Restore the file's bytes and mode, or remove the file if it didn't exist before setup. Raises
    OSError or HostError."""
    before = file.bytes_before
    if before is None:
        path.unlink(missing_ok=True)
        return
    if _bytes(path) != before:
        with replacing_bytes(str(path)) as opened:
            opened.write(before)
    if file.mode is not None and path.stat().st_mode & 0o7777 != file.mode:
        path.chmod(file.mode)


def listing(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the size and the modification time of everything below a folder, by path. The paths of
    folders end with a slash."""
    listed: dict[str, tuple[int, int]] = {}
    for place, folders, files in os.walk(folder):
        listed.update({f"{os.path.join(place, name)}/": (0, 0) for name in folders})  # noqa: PTH118
        for name in files:
            path = Path(place, name)
            status = path.lstat()
            listed[str(path)] = (status.st_size, status.st_mtime_ns)
    return listed


def forget(folders: Iterable[str]) -> None:
    """Remove each of the folders if it is empty."""
    for name in sorted(folders, reverse=True):
        folder = Path(name)
        if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
            folder.rmdir()


def end_kept() -> None:
    """Remove the notes, because there is nothing left to restore. Raises OSError."""
    for path in (_file(), data_folder() / "setup.lock"):
        path.unlink(missing_ok=True)


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _hash(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()


def _file() -> Path:
    return data_folder() / "setup.json"
