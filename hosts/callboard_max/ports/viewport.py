"""The ``viewport`` port: pictures of the active view. Only 3ds Max with a GUI has this port."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pymxs import runtime as rt

from callboard.errors import HostError
from callboard.host import Point
from callboard_max.application.names import telling
from callboard_qt import seen


class MaxViewport:
    def __init__(self, boxes: Callable[[], Iterable[tuple[Point, Point]]]) -> None:
        """Make the port. ``boxes`` returns the boxes of everything visible."""
        self._boxes = boxes

    def capture(self, width: int, height: int) -> bytes:
        with telling("draw the viewport"):
            return seen(drawn(width, height, cropped=False), self._boxes())


def drawn(width: int, height: int, *, cropped: bool) -> bytes:
    """Return a picture of the view, undistorted. For a different aspect ratio the picture gets
    bars, or is ``cropped`` to the middle."""
    with TemporaryDirectory(prefix="callboard-") as folder:
        file = Path(folder, "viewport.png")
        rt.completeRedraw()
        seen = rt.gw.getViewportDib()
        if seen is None:
            raise HostError("3ds Max drew no picture; try again with a viewport visible")
        opened = [seen]
        try:
            (_cut if cropped else _fit)(seen, width, height, file, opened)
        finally:
            for bitmap in opened:
                rt.close(bitmap)
        if not file.is_file():
            raise HostError("3ds Max did not write the picture of its viewport")
        return file.read_bytes()


def _cut(seen: Any, width: int, height: int, file: Path, opened: list[Any]) -> None:
    factor = min(int(seen.width) / width, int(seen.height) / height)
    wide = max(1, min(int(seen.width), round(width * factor)))
    high = max(1, min(int(seen.height), round(height * factor)))
    middle = rt.bitmap(wide, high)
    opened.append(middle)
    corner = rt.Point2((int(seen.width) - wide) // 2, (int(seen.height) - high) // 2)
    rt.pasteBitmap(seen, middle, corner, rt.Point2(0, 0))
    picture = rt.bitmap(width, height, filename=str(file))
    opened.append(picture)
    rt.copy(middle, picture)
    rt.save(picture)


def _fit(seen: Any, width: int, height: int, file: Path, opened: list[Any]) -> None:
    factor = min(width / int(seen.width), height / int(seen.height))
    wide = max(1, min(width, round(int(seen.width) * factor)))
    high = max(1, min(height, round(int(seen.height) * factor)))
    scaled = rt.bitmap(wide, high)
    opened.append(scaled)
    rt.copy(seen, scaled)
    picture = rt.bitmap(width, height, filename=str(file))
    opened.append(picture)
    corner = rt.Point2((width - wide) // 2, (height - high) // 2)
    rt.pasteBitmap(scaled, picture, rt.Point2(0, 0), corner)
    rt.save(picture)
