"""The views from which ``look`` and ``pick`` see the scene."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from callboard.skill import around, from_angle, reaching

View = tuple[str, dict[str, Any]]


def count_of(camera: str | None, frame: Sequence[str], angles: Sequence[str]) -> int:
    return max(1, (camera is not None) + (len(angles) or bool(frame)))


def views(
    ctx: Any,
    port: Any,
    camera: str | None,
    frame: Sequence[str],
    angles: Sequence[str],
    aspect: float,
) -> Iterator[View]:
    """Yield each view's name, and the arguments of ``Look`` for it."""
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


def _boxes(reader: Any, names: Sequence[str]) -> Iterator[tuple[Sequence[float], Sequence[float]]]:
    for name in names:
        bounds = reader.get(name)["bounds"]
        if bounds is not None:
            yield bounds["min"], bounds["max"]
