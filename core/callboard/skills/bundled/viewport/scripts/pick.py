"""The ``pick`` tool, which finds the object at a point of a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callboard.content import Json
from callboard.errors import HostError, WrongArgument
from callboard.skill import Look

from ._views import count_of, views


def main(
    ctx: Any,
    x: float,
    y: float,
    width: int = 960,
    height: int = 540,
    camera: str | None = None,
    frame: Sequence[str] = (),
    angles: Sequence[str] = (),
    shading: Any = None,
    frames: Sequence[float] = (),
) -> Json:
    port = ctx.port("look")
    if not hasattr(port, "under"):
        raise HostError(
            "this host can't find the object at a point of its picture; use names from "
            "scene__list_objects instead"
        )
    if count_of(camera, frame, angles) > 1:
        raise WrongArgument("this asks for more than one picture; give one camera or one angle")
    _, place = next(views(ctx, port, camera, frame, angles, width / height))
    at = frames[0] if frames else None
    seen = port.under(Look(width, height, shading=shading, frame=at, **place), x, y)
    path, point = (None, None) if seen is None else seen
    return {"path": path, "point": point}
