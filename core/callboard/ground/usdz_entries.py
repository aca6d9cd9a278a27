"""The entries of a USDZ package, if both ways to read it agree.

OpenUSD walks from one local header to the next; programs that list a package read the directory at
its end. A package in which the two differ could hide a layer from a check before it is opened.
"""

from __future__ import annotations

import posixpath
import struct
import zipfile
from pathlib import Path

#: Signature, version, flags, method, time, date, CRC, both sizes, lengths of name and extra field.
_LOCAL = struct.Struct("<4s5H3I2H")
#: UTF-8 names, the only flag that doesn't affect where an entry begins and ends.
_UTF8 = 0x800


def usdz_entries(path: str) -> list[str]:
    """Return the entries' names. Raises BadZipFile when the package isn't laid out as USDZ's
    specification requires, and OSError."""
    with zipfile.ZipFile(path) as package:
        listed, directory = package.infolist(), package.start_dir
    names: list[str] = []
    at = 0
    with Path(path).open("rb") as stream:
        for entry in sorted(listed, key=lambda entry: entry.header_offset):
            stream.seek(at)
            head = stream.read(_LOCAL.size)
            if entry.header_offset != at or len(head) < _LOCAL.size:
                raise zipfile.BadZipFile("it has bytes between its entries")
            sign, _, flags, method, _, _, crc, size, whole, name_size, extra = _LOCAL.unpack(head)
            name = stream.read(name_size).decode("utf-8" if flags & _UTF8 else "cp437")
            reported = (sign, flags, method, crc, size, whole, name)
            if reported != (
                *(b"PK\3\4", entry.flag_bits & _UTF8, zipfile.ZIP_STORED, entry.CRC),
                *(entry.compress_size, entry.file_size, entry.orig_filename),
            ):
                raise zipfile.BadZipFile("an entry and the directory disagree about it")
            if size != whole or _leads_out(name):
                raise zipfile.BadZipFile("an entry has another size, or a name that leads out")
            names.append(name)
            at += _LOCAL.size + name_size + extra + size
    if at != directory:
        raise zipfile.BadZipFile("it has entries that its directory doesn't name")
    if len({posixpath.normpath(name) for name in names}) < len(names):
        raise zipfile.BadZipFile("two of its entries have one name")
    return names


def _leads_out(name: str) -> bool:
    parts = name.replace("\\", "/").split("/")
    return name.startswith(("/", "\\")) or "\0" in name or ".." in parts
