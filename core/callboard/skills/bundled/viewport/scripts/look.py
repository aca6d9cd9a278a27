"""The ``look`` tool, which returns one picture, or several on one sheet, and image statistics."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from math import ceil, sqrt
from typing import Any

from callboard.content import Block, Image, Json, Result
from callboard.errors import WrongArgument
from callboard.skill import Look, Picture, difference, fitted, numbers_of, sheet, shrunk

from ._kept import earlier, keep
from ._views import count_of, views

_GAP = 4
_MOST = 16
#: Maximum number of pixels on the longer side of each picture in a comparison.
_COMPARED = 640


def main(
    ctx: Any,
    width: int = 960,
    height: int = 540,
    camera: str | None = None,
    frame: Sequence[str] = (),
    angles: Sequence[str] = (),
    shading: Any = None,
    frames: Sequence[float] = (),
    overlays: bool = False,
    before: str | None = None,
    max_bytes: int = 600_000,
) -> Generator[None, None, Result]:
    """Take the pictures, one per slice so that the artist can work in between."""
    old = earlier(before) if before is not None else None
    port = ctx.port("look")
    count = count_of(camera, frame, angles) * max(1, len(frames))
    if count > _MOST:
        raise WrongArgument(f"{count} pictures are too many; ask for at most {_MOST}")
    # With several frames, each view gets a row. Otherwise, there are about as many rows as columns.
    columns = min(len(frames), 8) if len(frames) > 1 else ceil(sqrt(count))
    rows = ceil(count / columns)
    wide = max(16, (width - _GAP * (columns - 1)) // columns)
    high = max(16, (height - _GAP * (rows - 1)) // rows)
    pictures: list[Picture] = []
    reported: list[Json] = []
    facts: Json = {}
    for name, place in views(ctx, port, camera, frame, angles, wide / high):
        for at in frames or (None,):
            asked = Look(wide, high, shading=shading, overlays=overlays, frame=at, **place)
            picture, facts_of_one = port.picture(asked)
            pictures.append(picture)
            reported.append({"view": name, **({} if at is None else {"frame": at})})
            facts.update(facts_of_one)
            ctx.progress(len(pictures), count)
            yield
    whole = sheet(pictures, columns)
    answer: Json = {"width": whole.width, "height": whole.height, "pictures": reported, **facts}
    answer.update(numbers_of(whole), id=keep(whole))
    shown, data = fitted(whole, max_bytes)
    if (shown.width, shown.height) != (whole.width, whole.height):
        answer["shown"] = [shown.width, shown.height]
    images = [Image(data)]
    if old is not None:
        differing, answer["compared"] = difference(old, whole)
        cells = [shrunk(each, _COMPARED) for each in (old, whole, differing)]
        images = [Image(fitted(sheet(cells, columns=3), max_bytes)[1])]
    content: list[Block | str] = [
        json.dumps(answer, ensure_ascii=False, separators=(",", ":")),
        *images,
    ]
    return Result(content, answer)
