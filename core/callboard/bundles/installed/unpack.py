"""Unpacks a bundle from a folder or an archive, which may be hostile, into an empty folder.

Every name is checked before the first byte is written. Sizes are counted while reading, whatever
the archive claims.
"""

from __future__ import annotations

import lzma
import os
import re
import shutil
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from callboard.errors import SkillError
from callboard.ground.zip_readings import check_readings

MAX_FILES = 10_000
MAX_TOTAL = 512 * 2**20
MAX_PATH = 200
#: Names of files and folders that are never part of a bundle.
IGNORED = frozenset({".git", "__pycache__", ".DS_Store", "__MACOSX"})

_FORBIDDEN = re.compile(r'[\x00-\x1f<>:"|?*\\]')
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.I)


#: Exceptions that :mod:`zipfile` raises for a bad archive, such as one with a name that is marked
#: as UTF-8 but isn't.
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError),
    *(EOFError, NotImplementedError, UnicodeDecodeError),
)


class UnpackError(SkillError):
    """The bundle can't be unpacked safely. No part of it was kept."""


@dataclass(frozen=True)
class _Entry:
    path: PurePosixPath
    executable: bool
    open: Callable[[], IO[bytes]]


def unpack(
    source: Path, target: Path, *, max_files: int = MAX_FILES, max_total: int = MAX_TOTAL
) -> None:
    """Write the files of ``source``, a folder or a zip archive, into ``target``, an empty folder.
    Raises UnpackError, for example for too many files or bytes, and OSError. Some files may have
    been written by then.
    """
    if source.is_dir():
        _write(_checked(_folder_entries(source), max_files), target, max_total)
    elif source.is_file():
        try:
            with zipfile.ZipFile(source) as archive:
                entries = _checked(_archive_entries(archive), max_files)
                check_readings(archive)
                _write(entries, target, max_total)
        except _DAMAGED as error:
            raise UnpackError(f"the archive is damaged or of an unknown kind: {error}") from None
    else:
        raise UnpackError(f"there is no folder or archive called '{source.name}'")


def _checked(entries: Iterable[_Entry], max_files: int) -> list[_Entry]:
    checked: list[_Entry] = []
    #: True for files, False for folders, by path as a case-insensitive file system sees it.
    seen: dict[str, bool] = {}
    for entry in entries:
        if len(checked) == max_files:
            raise UnpackError(f"the bundle has more than {max_files} files")
        check_name(entry.path)
        for depth in range(len(entry.path.parts), 0, -1):
            key = unicodedata.normalize("NFC", "/".join(entry.path.parts[:depth])).casefold()
            is_file = depth == len(entry.path.parts)
            if key in seen and (is_file or seen[key]):
                raise UnpackError(
                    f"the bundle has '{entry.path}' twice, or as both a file and a folder"
                )
            seen[key] = is_file
        checked.append(entry)
    return checked


def _write(entries: Iterable[_Entry], target: Path, max_total: int) -> None:
    total = 0
    for entry in entries:
        path = target.joinpath(*entry.path.parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        with entry.open() as read, path.open("xb") as written:
            while block := read.read(2**20):
                total += len(block)
                if total > max_total:
                    raise UnpackError(f"the bundle is larger than {max_total >> 20} MiB unpacked")
                written.write(block)
        if entry.executable:
            path.chmod(0o755)


def check_name(path: PurePosixPath) -> None:
    """Raise UnpackError unless every system accepts this relative path as a file's name."""
    shown = str(path)[:120]
    if not path.parts or path.is_absolute() or ".." in path.parts:
        raise UnpackError(f"'{shown}' leads out of the bundle")
    if len(str(path)) > MAX_PATH:
        raise UnpackError(f"'{shown}…' is longer than {MAX_PATH} characters")
    for part in path.parts:
        if _FORBIDDEN.search(part) or _DEVICES.fullmatch(part) or part != part.rstrip(". "):
            raise UnpackError(f"'{shown!r}' isn't a file name that every system accepts")


def _folder_entries(source: Path) -> Iterable[_Entry]:
    for folder, names, files in os.walk(source, onerror=_raise):
        names[:] = sorted(set(names) - IGNORED)
        for name in sorted([*names, *files]):
            path = Path(folder, name)
            mode = path.lstat().st_mode
            relative = PurePosixPath(path.relative_to(source).as_posix())
            if stat.S_ISREG(mode) and name not in IGNORED:
                yield _Entry(relative, bool(mode & stat.S_IXUSR), lambda path=path: path.open("rb"))  # type: ignore[misc]
            elif not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                raise UnpackError(f"'{relative}' is a link or a special file")


def _raise(error: OSError) -> None:
    raise error


def _archive_entries(archive: zipfile.ZipFile) -> Iterable[_Entry]:
    for info in archive.infolist():
        # The name as it was packed: zipfile changes separators and cuts at NUL before we see it.
        name = info.orig_filename
        mode = info.external_attr >> 16
        if info.flag_bits & 0x1:
            raise UnpackError("the archive is encrypted; pack it without a password")
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise UnpackError(f"'{name[:120]}' is a link, or isn't a plain file")
        if "\\" in name or "\x00" in name or "//" in name or "/./" in f"/{name}":
            raise UnpackError(f"{name[:120]!r} isn't a file name that every system accepts")
        path = PurePosixPath(name)
        if name.endswith("/"):
            check_name(path)
            continue
        if IGNORED.isdisjoint(path.parts):
            yield _Entry(
                path,
                bool(mode & stat.S_IXUSR),
                lambda info=info: archive.open(info),  # type: ignore[misc]
            )


def remove_tree(path: Path) -> None:
    """Delete a folder and its content, as far as possible. A file that another program holds open
    is left for next time."""
    shutil.rmtree(path, ignore_errors=True)
