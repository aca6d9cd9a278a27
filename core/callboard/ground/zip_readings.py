"""Refuses a ZIP archive that can be read in two ways.

Some programs walk from one entry to the next; others read the directory at the archive's end. If
the two differ, a check could see different content from the program that uses the archive later.
"""

from __future__ import annotations

import posixpath
import struct
import zipfile

#: Signature, version, flags, method, time, date, CRC, both sizes, lengths of name and extra field.
_LOCAL = struct.Struct("<4s5H3I2H")
#: UTF-8 names.
_UTF8 = 0x800
#: The CRC and both sizes follow the content.
_DESCRIBED = 0x8
#: Flags that say how strongly an entry was compressed.
_PACKING = 0x6


def check_readings(archive: zipfile.ZipFile) -> None:
    """Raise BadZipFile when the entries and the directory differ, or when two entries have the same
    name, and OSError when the file can't be read."""
    stream = archive.fp
    assert stream is not None
    at = 0
    for entry in sorted(archive.infolist(), key=lambda entry: entry.header_offset):
        stream.seek(at)
        head = stream.read(_LOCAL.size)
        if entry.header_offset != at or len(head) < _LOCAL.size:
            raise zipfile.BadZipFile("it has bytes between its entries")
        sign, _, flags, method, _, _, crc, size, whole, name_size, extra = _LOCAL.unpack(head)
        name = stream.read(name_size).decode("utf-8" if flags & _UTF8 else "cp437")
        facts = (entry.CRC, entry.compress_size, entry.file_size)
        same = (b"PK\3\4", entry.flag_bits & ~_PACKING, entry.compress_type, entry.orig_filename)
        is_later = flags & _DESCRIBED and (crc, size, whole) == (0, 0, 0)
        if (sign, flags & ~_PACKING, method, name) != same or (
            (crc, size, whole) != facts and not is_later
        ):
            raise zipfile.BadZipFile("an entry does not match the directory")
        at += _LOCAL.size + name_size + extra + entry.compress_size
        if flags & _DESCRIBED:
            stream.seek(at)
            at += _described(stream.read(24), facts)
    if at != archive.start_dir:
        raise zipfile.BadZipFile("it has entries that its directory doesn't name")
    names = [posixpath.normpath(entry.orig_filename) for entry in archive.infolist()]
    if len(set(names)) < len(names):
        raise zipfile.BadZipFile("two of its entries have the same name")


def _described(after: bytes, facts: tuple[int, int, int]) -> int:
    """Return the number of bytes in the description after an entry's content."""
    for sign in (b"PK\7\x08", b""):
        for form in ("<III", "<IQQ"):
            description = sign + struct.pack(form, *facts)
            if after.startswith(description):
                return len(description)
    raise zipfile.BadZipFile("an entry does not match the description after it")
