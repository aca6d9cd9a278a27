"""The current picture of the tests' own X server."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

#: Left, top, right, bottom, in pixels from the top left corner. Right and bottom are exclusive.
Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class Frame:
    """A picture. ``rows`` have four bytes per pixel: blue, green, red, and one that is unused."""

    rows: list[bytes]

    def png(self, within: Box) -> bytes:
        """Return the given part of the frame as a PNG."""
        left, top, right, bottom = within
        lines = (self.rows[y][4 * left : 4 * right] for y in range(top, bottom))
        data = b"".join(b"\0" + _rgb(line) for line in lines)
        size = struct.pack(">IIBBBBB", right - left, bottom - top, 8, 2, 0, 0, 0)
        chunks = ((b"IHDR", size), (b"IDAT", zlib.compress(data, 9)), (b"IEND", b""))
        return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*chunk) for chunk in chunks)

    def red(self, within: Box) -> Box | None:
        """Return the box around everything red."""
        left, top, right, bottom = within
        return _around(
            (x, y)
            for y in range(top, bottom)
            for x in range(left, right)
            if _is_red(*self.rows[y][4 * x : 4 * x + 3])
        )

    def changed(self, before: Frame, within: Box) -> Box | None:
        """Return the box around all differences from the earlier frame."""
        left, top, right, bottom = within
        return _around(
            (x, y)
            for y in range(top, bottom)
            if self.rows[y] != before.rows[y]
            for x in range(left, right)
            if self.rows[y][4 * x : 4 * x + 3] != before.rows[y][4 * x : 4 * x + 3]
        )


def read_frame(file: Path) -> Frame:
    """Read the file that Xvfb keeps for its first screen (XWD, 32 bits a pixel)."""
    data = file.read_bytes()
    fields = struct.unpack(">20I", data[:80])
    start = fields[0] + 12 * fields[19]
    height, stride = fields[5], fields[12]
    return Frame([data[start + y * stride : start + (y + 1) * stride] for y in range(height)])


def _rgb(line: bytes) -> bytes:
    rgb = bytearray(len(line) // 4 * 3)
    for place in range(3):
        rgb[place::3] = line[2 - place :: 4]
    return bytes(rgb)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _is_red(blue: int, green: int, red: int) -> bool:
    return red >= 90 and red >= 2 * green and red >= 2 * blue


def _around(points: Iterable[tuple[int, int]]) -> Box | None:
    box: Box | None = None
    for x, y in points:
        if box is None:
            box = (x, y, x + 1, y + 1)
        else:
            box = (min(box[0], x), min(box[1], y), max(box[2], x + 1), max(box[3], y + 1))
    return box
