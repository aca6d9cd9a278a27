"""The tool of the ``blender-animation`` skill that reads where things are at other frames."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from math import dist
from typing import Any

from callboard.content import Json
from callboard.errors import WrongArgument
from callboard_blender.application.names import scene

#: Maximum number of positions in an answer.
_MOST = 5_000


def sample(
    ctx: Any,
    points: Sequence[Json],
    start: float | None = None,
    end: float | None = None,
    step: float = 1,
    rotation: bool = False,
) -> Generator[None, None, Json]:
    sampler = ctx.port("structure").sampler
    frames = _frames(ctx, start, end, step, len(points))
    read = sampler.points(points)
    rows: list[list[Json]] = []
    while len(rows) < len(frames):
        rows += sampler.read(read, frames[len(rows) :])
        ctx.progress(len(rows), len(frames), f"frame {frames[len(rows) - 1]:g}")
        yield
    for number, each in enumerate(read):
        each["positions"] = [row[number]["position"] for row in rows]
        if rotation:
            each["rotations"] = [row[number]["rotation"] for row in rows]
    answer: Json = {"frames": frames, "points": read}
    if len(read) == 2:
        apart = [dist(*pair) for pair in zip(*(each["positions"] for each in read), strict=True)]
        answer["distances"] = [round(each, 6) for each in apart]
        for word, pick in (("nearest", min), ("farthest", max)):
            at = pick(range(len(frames)), key=apart.__getitem__)
            answer[word] = {"frame": frames[at], "distance": answer["distances"][at]}
    body = scene().rigidbody_world
    if body is not None and body.enabled and not body.point_cache.is_baked:
        answer["doubt"] = "rigid bodies that aren't baked may be elsewhere when frames are skipped"
    return answer


def _frames(
    ctx: Any, start: float | None, end: float | None, step: float, points: int
) -> list[float]:
    shown = ctx.port("animation").timeline()
    first = shown["start"] if start is None else start
    last = shown["end"] if end is None else end
    if first > last:
        raise WrongArgument(f"start, {first:g}, must not be after end, {last:g}")
    count = int((last - first) / step + 1e-6) + 1
    if count * points > _MOST:
        raise WrongArgument(
            f"{count} frames of {points} points are more than {_MOST} positions; give a shorter"
            " range, a larger step or fewer points"
        )
    return [first + number * step for number in range(count)]
