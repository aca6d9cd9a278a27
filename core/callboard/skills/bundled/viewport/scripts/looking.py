"""The tool ``look``: one picture, or several on one sheet, with numbers about it."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from math import ceil, sqrt
from typing import Any

from callboard.content import Block, Image, Json, Result
from callboard.hosting.looking import Look, from_angle
from callboard.hosting.orbit import Point, around, reaching
from callboard.hosting.pictures import difference, fitted, numbers_of, sheet, shrunk
from callboard.hosting.png import Picture
from callboard.protocol.jsonrpc import encode

from ._kept import earlier, keep

_GAP = 4
_MOST = 16
#: Pixels of each of the pictures that are compared.
_COMPARED = 640

_View = tuple[str, dict[str, Any]]


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
    """A picture a slice: the artist goes on in between."""
    old = earlier(before) if before is not None else None
    port = ctx.port("look")
    count = _count(camera, frame, angles) * max(1, len(frames))
    if count > _MOST:
        raise ValueError(f"that is {count} pictures; ask for {_MOST} at most")
    # A strip for each view, else about as many rows as columns.
    columns = min(len(frames), 8) if len(frames) > 1 else ceil(sqrt(count))
    rows = ceil(count / columns)
    wide = max(16, (width - _GAP * (columns - 1)) // columns)
    high = max(16, (height - _GAP * (rows - 1)) // rows)
    pictures: list[Picture] = []
    told: list[Json] = []
    facts: Json = {}
    for name, place in _views(ctx, port, camera, frame, angles, wide / high):
        for at in frames or (None,):
            asked = Look(wide, high, shading=shading, overlays=overlays, frame=at, **place)
            picture, facts_of_one = port.picture(asked)
            pictures.append(picture)
            told.append({"view": name, **({} if at is None else {"frame": at})})
            facts.update(facts_of_one)
            ctx.progress(len(pictures), count)
            yield
    whole = sheet(pictures, columns)
    answer: Json = {"width": whole.width, "height": whole.height, "pictures": told, **facts}
    answer.update(numbers_of(whole), id=keep(whole))
    shown, data = fitted(whole, max_bytes)
    if (shown.width, shown.height) != (whole.width, whole.height):
        answer["shown"] = [shown.width, shown.height]
    images = [Image(data)]
    if old is not None:
        differing, answer["compared"] = difference(old, whole)
        cells = [shrunk(each, _COMPARED) for each in (old, whole, differing)]
        images = [Image(fitted(sheet(cells, columns=3), max_bytes)[1])]
    content: list[Block | str] = [encode(answer).decode(), *images]
    return Result(content, answer)


def _count(camera: str | None, frame: Sequence[str], angles: Sequence[str]) -> int:
    return max(1, (camera is not None) + (len(angles) or bool(frame)))


def _views(
    ctx: Any,
    port: Any,
    camera: str | None,
    frame: Sequence[str],
    angles: Sequence[str],
    aspect: float,
) -> Iterator[_View]:
    """What each view is called, and what ``Look`` takes for it."""
    if camera is not None:
        yield camera, {"camera": camera}
    elif not frame and not angles and port.own_view():
        yield "own", {}
        return
    if not angles and (frame or camera is None):
        angles = ["three_quarter"]
    if angles:
        reader = ctx.port("scene.read")
        whole = around(port.boxes())
        low, high = around(_boxes(reader, frame)) if frame else whole
        up = reader.info()["up_axis"]
        for angle in angles:
            view = from_angle(angle, low, high, aspect, up)
            yield angle, {"view": reaching(view, *whole)}


def _boxes(reader: Any, names: Sequence[str]) -> Iterator[tuple[Point, Point]]:
    for name in names:
        bounds = reader.get(name)["bounds"]
        if bounds is not None:
            yield bounds["min"], bounds["max"]
