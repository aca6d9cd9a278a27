"""Packages whose entries and directory have arbitrary content."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

Entry = tuple[str, bytes]
_HEAD = ("<4s5H3I2H", b"PK\3\4")


def package_of(entries: Sequence[Entry], listed: Sequence[tuple[str, int]]) -> bytes:
    """Return a stored ZIP file with these entries, aligned as in USDZ. Its directory has the names
    and numbers of ``listed``. If ``listed`` is empty, the file ends after the entries."""
    whole, heads = b"", []
    for name, content in entries:
        begin = len(whole)
        extra = b"\x86\x19" + struct.pack("<H", padding := -(begin + 34 + len(name)) % 64)
        extra += b"\0" * padding
        sizes = zlib.crc32(content), len(content), len(content)
        whole += struct.pack(
            _HEAD[0], _HEAD[1], 20, 0, 0, 0, 33, *sizes, len(name.encode()), len(extra)
        )
        whole += name.encode() + extra + content
        heads.append((begin, sizes))
    if not listed:
        return whole
    directory = len(whole)
    for name, number in listed:
        begin, sizes = heads[number]
        whole += struct.pack(
            "<4s6H3I5H2I",
            *(b"PK\1\2", 20, 20, 0, 0, 0, 33, *sizes, len(name.encode()), 0, 0, 0, 0, 0, begin),
        )
        whole += name.encode()
    size = len(whole) - directory
    counts = len(listed), len(listed), size, directory, 0
    return whole + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, *counts)
