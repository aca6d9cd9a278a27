"""An asset's preview, as a picture in the answer."""

from __future__ import annotations

import json
from pathlib import Path

from callboard.content import Block, Image, Json, Result
from callboard.skill import NotAPicture, decode, fitted, picture_format, shrunk

#: Maximum number of pixels on the longer side, maximum number of bytes shown, and maximum number of
#: bytes read.
_LONGEST, _MOST_SHOWN, _MOST_READ = 512, 700_000, 40_000_000


def preview_of(file: Path | None, reported: Json) -> Result:
    """Return the answer, with the picture if there is one that can be shown."""
    image = None
    if file is not None and file.stat().st_size <= _MOST_READ:
        image = picture(file.read_bytes())
    blocks: list[Block | str] = [json.dumps(reported, ensure_ascii=False)]
    return Result([*blocks, image] if image is not None else blocks, reported)


def picture(data: bytes) -> Image | None:
    """Return the picture, small enough to show, or None if ``data`` isn't a picture, or is too
    large and can't be shrunk here."""
    kind = picture_format(data)[0]
    if kind == "image/png":
        try:
            return Image(fitted(shrunk(decode(data), _LONGEST), _MOST_SHOWN)[1])
        except NotAPicture:
            return Image(data) if len(data) <= _MOST_SHOWN else None
    if len(data) > _MOST_SHOWN:
        return None
    if kind == "image/jpeg":
        return Image(data, kind)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return Image(data, "image/webp")
    return None
