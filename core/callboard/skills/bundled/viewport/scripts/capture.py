"""The tools of the ``viewport`` skill. Paths arrive resolved and checked."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from callboard.content import Image, Json
from callboard.errors import HostError, WrongArgument
from callboard.skill import replacing_bytes


def capture(ctx: Any, width: int = 960, height: int = 540) -> Image:
    return Image(_captured(ctx, width, height))


def save_capture(ctx: Any, path: str, width: int = 960, height: int = 540) -> Json:
    ctx.port("filesystem.write")
    if Path(path).suffix.lower() != ".png":
        raise WrongArgument(f"'{Path(path).name}' does not end in .png; give a path that does")
    data = _captured(ctx, width, height)
    with replacing_bytes(path) as file:
        file.write(data)
    return {"path": path, "width": width, "height": height, "bytes": len(data), "verified": True}


def _captured(ctx: Any, width: int, height: int) -> bytes:
    data: bytes = ctx.port("viewport").capture(width, height)
    if data[:8] != b"\x89PNG\r\n\x1a\n" or len(data) < 24:
        raise HostError("the host's picture of the viewport is not a PNG image")
    drawn = struct.unpack(">II", data[16:24])
    if drawn != (width, height):
        raise HostError(f"the host drew {drawn[0]} x {drawn[1]} pixels, not {width} x {height}")
    return data
