"""The files of one workspace, under ids that reveal nothing about their location.

A workspace's files are those below its roots, and the uploads. An id is a keyed hash of the path,
so it survives a restart. Each workspace has its own key, so an id means nothing in another
workspace. Tags are stored alongside the uploads, and in a file's sidecar: ``hero.usda.tags``, one
tag per line.
"""

from __future__ import annotations

import hmac
import json
import os
import re
import secrets
import stat
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from callboard.bundles.files import mime_types
from callboard.ground.atomic_write import replacing

#: Maximum number of files in a listing, because a project may have millions and the answer is one
#: message.
MAX_LISTED = 5_000
#: Maximum number of folders searched for one listing.
MAX_FOLDERS = 20_000
INDEX = "index.json"
FILES = "files"
KEY = "key"
#: The suffix of a sidecar, a text file that contains the tags of the file next to it.
SIDECAR = ".tags"
MAX_SIDECAR = 4096
MAX_TAGS = 64
_ID = re.compile(r"fl_[0-9a-f]{24}")


@dataclass(frozen=True)
class StoredFile:
    """One file. ``path`` never leaves this machine."""

    id: str
    name: str
    mime_type: str
    tags: frozenset[str]
    path: Path

    @property
    def uri(self) -> str:
        return f"files://{self.id}"


class TooLarge(Exception):
    """The file is too large to be read. ``size`` is its size in bytes."""

    def __init__(self, size: int) -> None:
        super().__init__(f"{size} bytes")
        self.size = size


class FileStore:
    """The files of one workspace. ``roots`` are the absolute paths of folders. ``uploads`` is a
    separate folder, created at the first upload. Use it from any thread except the main one,
    because it waits for the disk."""

    def __init__(self, roots: Iterable[Path], uploads: Path) -> None:
        self._roots = [Path(os.path.realpath(root)) for root in roots]
        self._uploads = Path(os.path.realpath(uploads))
        self._lock = threading.Lock()
        self._ids: dict[Path, str] = {}
        self._paths: dict[str, Path] = {}
        self._tags: dict[str, frozenset[str]] = {}
        self._key: bytes | None = None
        self._walked = False
        self._load()

    def list_files(self) -> list[StoredFile]:
        """Return every file except hidden files and links, sorted by root and path."""
        files = [self._stored(path, tagged) for path, tagged in self._walk()]
        self._walked = True
        return files

    def place_of(self, file: StoredFile) -> tuple[int, str] | None:
        """Return the number of the root that contains a file, and the file's path relative to that
        root, with forward slashes. Return None for an upload."""
        for number, root in enumerate(self._roots):
            if file.path.is_relative_to(root):
                return number, file.path.relative_to(root).as_posix()
        return None

    def put(self, name: str, data: bytes, tags: Sequence[str] = ()) -> StoredFile:
        """Store an upload. Raises OSError, and ValueError for an invalid file name."""
        if not name or name in (".", "..") or re.search(r'[\x00-\x1f/\\:*?"<>|]', name):
            raise ValueError(f"{name[:80]!r} isn't a file name")
        with self._lock:
            folder = self._uploads / FILES / secrets.token_hex(8)
            folder.mkdir(parents=True)
            path = folder / name
            path.write_bytes(data)
            file_id = self._id_of(path)
            self._tags[file_id] = frozenset(tags)
            self._save()
        return self._stored(path)

    def tag(self, file_id: str, tags: Iterable[str]) -> StoredFile:
        """Set a file's tags to exactly these. Raises OSError, and KeyError for an unknown id."""
        path = self._path_of(file_id)
        with self._lock:
            self._tags[file_id] = frozenset(tags)
            self._save()
        return self._stored(path)

    def read(self, file_id: str, most: int) -> tuple[StoredFile, bytes]:
        """Return a file and its bytes. Raises OSError, TooLarge for more than ``most`` bytes, and
        KeyError for an unknown id or a file that is no longer in the workspace."""
        path = self._path_of(file_id)
        if not self._inside(path):
            raise KeyError(file_id)
        # Non-blocking, because a pipe that replaced the file must not block the reader.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
        fd = os.open(path, flags | getattr(os, "O_BINARY", 0))
        with os.fdopen(fd, "rb") as file:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                raise KeyError(file_id)
            if status.st_size > most:
                raise TooLarge(status.st_size)
            data = file.read(most + 1)
        if len(data) > most:  # The file has grown since.
            raise TooLarge(len(data))
        return self._stored(path), data

    def _stored(self, path: Path, tagged: bool = True) -> StoredFile:
        """Return the file's entry. ``tagged`` is true when the file may have a sidecar."""
        with self._lock:
            file_id = self._id_of(path)
            tags = self._tags.get(file_id, frozenset())
        if tagged:
            tags |= _sidecar(path)
        return StoredFile(file_id, path.name, mime_types.guess(path.name), tags, path)

    def _id_of(self, path: Path) -> str:
        file_id = self._ids.get(path)
        if file_id is None:
            if self._key is None:
                self._key = _kept_key(self._uploads)
            digest = hmac.digest(self._key, os.fsencode(path), "sha256")
            file_id = f"fl_{digest.hex()[:24]}"
            self._ids[path] = file_id
            self._paths[file_id] = path
        return file_id

    def _path_of(self, file_id: str) -> Path:
        """Return the path for an id. Raises KeyError for an unknown id. Ids from earlier processes
        stay valid, so the first unknown id causes a search of all files."""
        if file_id not in self._paths and not self._walked and _ID.fullmatch(file_id):
            self.list_files()
        return self._paths[file_id]

    def _inside(self, path: Path) -> bool:
        """Return whether the path is below a root and contains no links."""
        real = Path(os.path.realpath(path))
        tops = [*self._roots, self._uploads / FILES]
        return real == path and any(real.is_relative_to(top) for top in tops)

    def _walk(self) -> Iterator[tuple[Path, bool]]:
        """Yield every file, and whether it has a sidecar."""
        listed: set[Path] = set()
        folders = 0
        for top in (self._uploads / FILES, *self._roots):
            for folder, names, files in os.walk(top):
                folders += 1
                if folders > MAX_FOLDERS:
                    return
                names[:] = sorted(
                    name
                    for name in names
                    if not name.startswith(".") and Path(folder, name) != self._uploads
                )
                there = set(files)
                for name in sorted(files):
                    path = Path(folder, name)
                    if name.endswith(SIDECAR) and name.removesuffix(SIDECAR) in there:
                        continue
                    if name.startswith(".") or path in listed or not _is_plain(path):
                        continue
                    if len(listed) == MAX_LISTED:
                        return
                    listed.add(path)
                    yield path, name + SIDECAR in there

    def _load(self) -> None:
        try:
            index = json.loads((self._uploads / INDEX).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return
        for file_id, entry in index.items() if isinstance(index, dict) else ():
            if _ID.fullmatch(file_id) and isinstance(entry, dict):
                path = Path(str(entry.get("path")))
                self._ids[path] = file_id
                self._paths[file_id] = path
                self._tags[file_id] = frozenset(map(str, entry.get("tags") or ()))

    def _save(self) -> None:
        """Save the index of uploaded and tagged files."""
        index = {
            file_id: {"path": str(self._paths[file_id]), "tags": sorted(tags)}
            for file_id, tags in self._tags.items()
        }
        self._uploads.mkdir(parents=True, exist_ok=True)
        with replacing(str(self._uploads / INDEX)) as path:
            Path(path).write_text(json.dumps(index), encoding="utf-8")


def _is_plain(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _sidecar(path: Path) -> frozenset[str]:
    """Return the tags in the sidecar of ``path``, or an empty set when there is no sidecar or it is
    a link."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        fd = os.open(path.with_name(path.name + SIDECAR), flags | getattr(os, "O_BINARY", 0))
        with os.fdopen(fd, "rb") as file:
            data = file.read(MAX_SIDECAR) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
    except OSError:
        return frozenset()
    lines = data.decode("utf-8-sig", "replace").splitlines()
    return frozenset([line.strip() for line in lines if line.strip()][:MAX_TAGS])


def _kept_key(folder: Path) -> bytes:
    """Return the workspace's own key, made by the first process that needs it. If the key can't be
    saved, ids are valid only as long as the process runs."""
    fresh = secrets.token_bytes(32)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        made = folder / f".{KEY}-{secrets.token_hex(8)}"
        fd = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(fresh)
            with suppress(OSError):  # a different process made the key first
                os.link(made, folder / KEY)
        finally:
            made.unlink(missing_ok=True)
        kept = (folder / KEY).read_bytes()
    except OSError:
        return fresh
    return kept if len(kept) == len(fresh) else fresh
