"""Reads and writes PNG files, using only the standard library. Call these functions from any
thread."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate

_MAGIC = b"\x89PNG\r\n\x1a\n"
#: Bytes of one pixel at 8 bits per channel, by the format's color type: gray, RGB, and each with
#: alpha.
_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}
#: Maximum number of pixels. Decoding that many here, in Python, takes about a second.
LARGEST = 8_000_000


class NotAPicture(ValueError):
    """Raised for anything but a PNG file that can be read here: a broken, oversized or interlaced
    file, or one with a palette."""


@dataclass(frozen=True)
class Picture:
    """A picture. ``rgb`` has three bytes per pixel, from the top left, row by row."""

    width: int
    height: int
    rgb: bytes

    def __post_init__(self) -> None:
        if len(self.rgb) != self.width * self.height * 3:
            raise ValueError(f"{len(self.rgb)} bytes are not {self.width} x {self.height} pixels")


def png_size(data: bytes) -> tuple[int, int] | None:
    """Return the width and height of a PNG file, or None for anything else."""
    if data[:8] != _MAGIC or len(data) < 24:
        return None
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def jpeg_size(data: bytes) -> tuple[int, int] | None:
    """Return the width and height of a JPEG file, or None for anything else."""
    if data[:2] != b"\xff\xd8":
        return None
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        kind, length = struct.unpack(">BH", data[at + 1 : at + 4])
        # The start of a frame; C4, C8 and CC are tables.
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + length
    return None


def picture_format(data: bytes) -> tuple[str, int, int]:
    """Return the media type, width and height of a PNG or JPEG file. For anything else, the type is
    empty. The beginning of the file is enough."""
    for kind, size in (("image/png", png_size(data)), ("image/jpeg", jpeg_size(data))):
        if size is not None:
            return kind, *size
    return "", 0, 0


def encode(picture: Picture) -> bytes:
    """Return the PNG file."""
    stride = picture.width * 3
    # Each row is stored as its difference from the one above, so that flat areas become zeros.
    above = bytes(stride) + picture.rgb[:-stride]
    lines = _less(picture.rgb, above)
    rows = b"".join(b"\2" + lines[at : at + stride] for at in range(0, len(lines), stride))
    header = struct.pack(">IIBBBBB", picture.width, picture.height, 8, 2, 0, 0, 0)
    return (
        _MAGIC
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(rows, 6))
        + _chunk(b"IEND", b"")
    )


def decode(data: bytes) -> Picture:
    """Return the picture in a PNG file with 8 or 16 bits per channel; alpha is dropped. Raises
    NotAPicture."""
    width, height, channels, samples = _samples(data)
    return Picture(width, height, _three(samples, channels))


def alpha_of(data: bytes) -> bytes | None:
    """Return the alpha of each pixel, or None for a file without alpha. Raises NotAPicture."""
    _, _, channels, samples = _samples(data)
    return samples[channels - 1 :: channels] if channels in (2, 4) else None


def _samples(data: bytes) -> tuple[int, int, int, bytes]:
    """Return the width, the height, the channels of a pixel, and one byte for each channel."""
    size = png_size(data)
    if size is None or len(data) < 33:
        raise NotAPicture("it is not a PNG file")
    width, height = size
    depth, kind, _, _, interlaced = struct.unpack(">BBBBB", data[24:29])
    if depth not in (8, 16) or kind not in _CHANNELS or interlaced:
        raise NotAPicture("this kind of PNG file can't be read here")
    if not 0 < width * height <= LARGEST:
        raise NotAPicture(f"{width} x {height} pixels are too many to be read here")
    channels = _CHANNELS[kind]
    pixel = channels * depth // 8
    rows = _unpacked(_packed(data), (width * pixel + 1) * height)
    lines = _unfiltered(rows, width * pixel, pixel)
    if depth == 16:
        lines = lines[0::2]
    return width, height, channels, lines


def _three(samples: bytes, channels: int) -> bytes:
    if channels == 3:
        return samples
    rgb = bytearray(len(samples) // channels * 3)
    for channel in range(3):
        rgb[channel::3] = samples[channel if channels == 4 else 0 :: channels]
    return bytes(rgb)


def _packed(data: bytes) -> bytes:
    parts, at = [], 8
    while at + 12 <= len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        if data[at + 4 : at + 8] == b"IDAT":
            parts.append(data[at + 8 : at + 8 + length])
        at += 12 + length
    return b"".join(parts)


def _unpacked(packed: bytes, size: int) -> bytes:
    try:
        rows = zlib.decompressobj().decompress(packed, size)
    except zlib.error as error:
        raise NotAPicture(f"its data is damaged: {error}") from None
    if len(rows) != size:
        raise NotAPicture("its data is incomplete")
    return rows


def _unfiltered(rows: bytes, stride: int, pixel: int) -> bytes:
    """Reverse the filter of each row (PNG specification, 9.2)."""
    above = bytes(stride)
    lines: list[bytes] = []
    for at in range(0, len(rows), stride + 1):
        kind, line = rows[at], rows[at + 1 : at + 1 + stride]
        if kind not in _FILTERS:
            raise NotAPicture("its data is damaged: it has a row of an unknown kind")
        above = _FILTERS[kind](line, above, pixel)
        lines.append(above)
    return b"".join(lines)


def _sub(line: bytes, above: bytes, pixel: int) -> bytes:
    result = bytearray(len(line))
    for channel in range(pixel):
        sums = accumulate(line[channel::pixel])
        result[channel::pixel] = bytes(value & 255 for value in sums)
    return bytes(result)


def _average(line: bytes, above: bytes, pixel: int) -> bytes:
    result = bytearray(bytes(pixel) + line)
    for at, up in enumerate(above):
        result[at + pixel] = (result[at + pixel] + ((result[at] + up) >> 1)) & 255
    return bytes(result[pixel:])


def _paeth(line: bytes, above: bytes, pixel: int) -> bytes:
    result = bytearray(bytes(pixel) + line)
    corners = bytes(pixel) + above
    for at, up in enumerate(above):
        left, corner = result[at], corners[at]
        to_left, to_up, to_corner = (
            abs(up - corner),
            abs(left - corner),
            abs(left + up - 2 * corner),
        )
        if to_left <= to_up and to_left <= to_corner:
            near = left
        else:
            near = up if to_up <= to_corner else corner
        result[at + pixel] = (result[at + pixel] + near) & 255
    return bytes(result[pixel:])


_FILTERS: dict[int, Callable[[bytes, bytes, int], bytes]] = {
    0: lambda line, above, pixel: line,
    1: _sub,
    2: lambda line, above, pixel: _plus(line, above),
    3: _average,
    4: _paeth,
}


def _plus(a: bytes, b: bytes) -> bytes:
    """Add byte by byte, modulo 256. The bytes are added as one whole number, with the carries
    between bytes masked out."""
    x, y, low = *map(_number, (a, b)), _number(b"\x7f" * len(a))
    return (((x & low) + (y & low)) ^ ((x ^ y) & ~low)).to_bytes(len(a), "little")


def _less(a: bytes, b: bytes) -> bytes:
    high = _number(b"\x80" * len(a))
    x, y = map(_number, (a, b))
    return (((x | high) - (y & ~high)) ^ ((x ^ ~y) & high)).to_bytes(len(a), "little")


def _number(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _chunk(kind: bytes, data: bytes) -> bytes:
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
