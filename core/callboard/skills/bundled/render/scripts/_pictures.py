"""Prepares rendered pictures for an agent, at most 1,024 pixels wide and high. The rendered files
stay unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from callboard.content import Image
from callboard.errors import HostError
from callboard.skill import NotAPicture, Picture, decode, fitted, picture_format, sheet, shrunk

LONGEST = 1024
_MOST_BYTES = 1_500_000
_MOST_READ = 64_000_000
#: Maximum number of turntable pictures to show, and the size of each in pixels.
_SHOWN, _SMALL = 8, 240


def shown(port: Any, path: str) -> list[Image]:
    """Return the rendered picture. Raises HostError when it can't be shown."""
    return [_image(_data(port, path, LONGEST), path)]


def shown_turn(port: Any, paths: Sequence[str]) -> list[Image]:
    """Return some of a turntable's pictures in order, on one sheet if that is possible. Raises
    HostError when one can't be shown."""
    step = -(-len(paths) // _SHOWN)
    small = [(path, _data(port, path, _SMALL)) for path in paths[::step]]
    if any(picture_format(data)[0] == "image/jpeg" for _, data in small):
        return [_image(data, path) for path, data in small]
    cells = [shrunk(_decoded(data, path), _SMALL) for path, data in small]
    return [Image(fitted(shrunk(sheet(cells, columns=4), LONGEST), _MOST_BYTES)[1])]


def _data(port: Any, path: str, longest: int) -> bytes:
    """Return the file's bytes, or those of a smaller picture if the host makes one."""
    file = Path(path)
    with file.open("rb") as start:
        kind, *size = picture_format(start.read(65536))
    if hasattr(port, "small") and (not kind or max(size) > longest):
        data: bytes = port.small(path, longest)
        return data
    if file.stat().st_size > _MOST_READ:
        raise HostError(f"'{file.name}' is too large to be shown")
    return file.read_bytes()


def _image(data: bytes, path: str) -> Image:
    kind, *size = picture_format(data)
    if kind and max(size) <= LONGEST and len(data) <= _MOST_BYTES:
        return Image(data, kind)
    return Image(fitted(shrunk(_decoded(data, path), LONGEST), _MOST_BYTES)[1])


def _decoded(data: bytes, path: str) -> Picture:
    try:
        return decode(data)
    except NotAPicture as error:
        raise HostError(
            f"'{Path(path).name}' can't be shown here: {error}; render a .png of at most"
            f" {LONGEST} pixels to see it"
        ) from None
