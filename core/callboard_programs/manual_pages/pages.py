"""Reads the pages of a manual from a ZIP archive or a folder: HTML, or the text of Houdini's help.
Nothing is unpacked. Sizes are counted while reading, whatever the archive claims."""

from __future__ import annotations

import codecs
import lzma
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from callboard.errors import HostError, PeerError

MAX_PAGES = 30_000
MAX_PAGE = 8 * 2**20
MAX_TOTAL = 2 * 2**30
MAX_PATH = 160
#: Files that a manual's index can be made of.
_PAGE = re.compile(r"[^\x00-\x20#@\x7f]+\.(?:x?html?|txt)", re.I)
#: Folders and pages that have no text of their own.
_LEFT_OUT = re.compile(
    r"(?:^|/)(?:_\w+|\.[^/]*|__MACOSX)/|(?:^|/)(?:genindex\S*|py-modindex|search|404)\.\w+$", re.I
)
_CHARSET = re.compile(rb"charset\s*=\s*[\"']?([\w.:-]{1,40})|encoding=[\"']([\w.:-]{1,40})", re.I)
#: Encodings of pages. Others of Python's take hours for some pages, or give halves of characters.
_ENCODING = re.compile(
    r"utf-?8|us-ascii|latin-?1|iso-8859-\d+|windows-\d+|cp\d+|shift_jis|euc-\w+|gb\w+|big5|koi8-\w",
    re.I,
)
#: Exceptions that :mod:`zipfile` raises for a bad archive.
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError),
    *(NotImplementedError, UnicodeDecodeError),
)


class SourcePage(NamedTuple):
    """One page. ``path`` is relative to the manual, with ``/`` and without the suffix."""

    path: str
    suffix: str
    text: str


class Pages:
    """The pages of an open manual. ``count`` is how many there are, ``folder`` the name of the
    folder that they are in, and ``skipped`` the number of those that were too large."""

    def __init__(self, opened: dict[str, Callable[[], IO[bytes]]]) -> None:
        paths = sorted(opened)
        shared = os.path.commonpath([str(PurePosixPath(path).parent) for path in paths])
        shared = "" if shared == "." else shared.replace("\\", "/")
        self.folder = PurePosixPath(shared).name
        self.count = len(paths)
        self.skipped = 0
        self._start = len(shared) + 1 if shared else 0
        self._opened = opened

    def __iter__(self) -> Iterator[SourcePage]:
        """Yield each page. Raises HostError when all of them are too large, or a file can't be
        read."""
        total = 0
        for path in sorted(self._opened):
            with self._opened[path]() as file:
                data = file.read(MAX_PAGE + 1)
            total += len(data)
            if total > MAX_TOTAL:
                raise HostError(
                    f"its pages are larger than {MAX_TOTAL >> 30} GiB; is it a manual? Give the "
                    "folder of the manual alone"
                )
            if len(data) > MAX_PAGE:
                self.skipped += 1
                continue
            inside = PurePosixPath(path[self._start :])
            yield SourcePage(str(inside.with_suffix("")), inside.suffix, _decoded(data))


@contextmanager
def opened(source: Path) -> Iterator[Pages]:
    """Open a ZIP archive or a folder. Raises HostError, also for errors while it is read, and
    PeerError when there is no such file."""
    try:
        if source.is_dir():
            with ExitStack() as archives:
                yield _pages(_in_folder(source, archives), source)
        elif source.is_file():
            with zipfile.ZipFile(source) as archive:
                yield _pages(_in_archive(archive), source)
        else:
            raise PeerError(f"there is no file or folder '{source}'")
    except _DAMAGED as error:
        raise HostError(
            f"'{source.name}' isn't a ZIP archive that can be read ({error}); download the manual "
            "as HTML pages, or give their folder"
        ) from None
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise HostError(f"'{source.name}' can't be read: {why}") from None


def _pages(files: Iterator[tuple[str, Callable[[], IO[bytes]]]], source: Path) -> Pages:
    chosen: dict[str, Callable[[], IO[bytes]]] = {}
    for path, opening in files:
        path = path.replace("\\", "/")
        usual = (
            _PAGE.fullmatch(path) is not None
            and len(path) <= MAX_PATH
            and path.isprintable()  # Nor is a name that isn't in the system's encoding.
            and ":" not in path
            and not path.startswith("/")
            and ".." not in path.split("/")
        )
        if not usual or _LEFT_OUT.search(path):
            continue
        if len(chosen) == MAX_PAGES:
            raise HostError(f"'{source.name}' has more than {MAX_PAGES:,} pages; give a part of it")
        chosen[path] = opening
    if not chosen:
        raise HostError(
            f"'{source.name}' has no HTML pages; download the manual as HTML, not as PDF"
        )
    return Pages(chosen)


def _in_archive(archive: zipfile.ZipFile) -> Iterator[tuple[str, Callable[[], IO[bytes]]]]:
    for info in archive.infolist():
        if info.flag_bits & 0x1:
            raise HostError("the archive is encrypted; unpack it, and give the folder")
        yield info.filename, lambda info=info: archive.open(info)  # type: ignore[misc]


def _in_folder(source: Path, archives: ExitStack) -> Iterator[tuple[str, Callable[[], IO[bytes]]]]:
    """Yield the files of a folder, and of the archives in it, in which Houdini's help is
    installed."""
    for folder, names, files in os.walk(source):
        names.sort()
        for name in sorted(files):
            path = Path(folder, name)
            # A link could lead to files that aren't a part of the manual.
            if not stat.S_ISREG(path.lstat().st_mode):
                continue
            if path.suffix.lower() == ".zip":
                archive = archives.enter_context(zipfile.ZipFile(path))
                within = path.relative_to(source).with_suffix("").as_posix()
                for inside, opening in _in_archive(archive):
                    yield f"{within}/{inside}", opening
            else:
                yield path.relative_to(source).as_posix(), lambda path=path: path.open("rb")  # type: ignore[misc]


def _decoded(data: bytes) -> str:
    """Return the page's text in the encoding that it names, or UTF-8."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    named = _CHARSET.search(data[:2048])
    encoding = (named[1] or named[2]).decode("ascii", "replace") if named else "utf-8"
    if not _ENCODING.fullmatch(encoding):
        encoding = "utf-8"
    try:
        return data.decode(encoding, "replace").lstrip("\ufeff")
    except LookupError:  # There is no such encoding.
        return data.decode("utf-8", "replace")
