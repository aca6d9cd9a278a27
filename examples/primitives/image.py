"""An image: a tool may return pictures, sounds and resources besides text."""

from __future__ import annotations

import struct
import zlib

from callboard.app import Callboard
from callboard.content import Image
from serving import serve


def swatch(red: int, green: int, blue: int) -> list[Image]:
    """Return a square of one color, 64 pixels wide."""
    row = b"\x00" + bytes([red, green, blue]) * 64
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", 64, 64, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(row * 64)),
        (b"IEND", b""),
    ]
    chunks = [
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    ]
    return [Image(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))]


def add(server: Callboard) -> None:
    byte = {"type": "integer", "minimum": 0, "maximum": 255}
    server.tools.register(
        "swatch",
        swatch,
        "Paints a square of one color.",
        {
            "type": "object",
            "properties": {"red": byte, "green": byte, "blue": byte},
            "required": ["red", "green", "blue"],
        },
        # The tool doesn't use the scene, so it doesn't have to wait for the main thread.
        affinity="any",
    )


if __name__ == "__main__":
    serve(add)
