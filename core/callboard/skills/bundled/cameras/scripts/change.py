"""Tools that change cameras. Each checks the result."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from callboard.content import Json
from callboard.errors import HostError, WrongArgument
from callboard.skill import (
    alike,
    axes_of,
    box_of,
    corners,
    done,
    expect,
    expect_turned,
    facing,
    filled,
    framed,
    place,
    placed,
    point_of,
    unit,
)

#: Tolerance for a camera's values. It is small because film sizes and clipping distances are small.
PRECISE = 1e-5


def create(ctx: Any, name: str | None = None, **given: Any) -> Json:
    port, reader, editor = _ports(ctx)
    others = [*port.names()]
    path = port.create(name)
    if "active" not in given and not any(port.get(each)["active"] for each in others):
        given["active"] = True
    _set(port, reader, editor, path, given)
    return _done(port, reader, path, created=[path])


def set(ctx: Any, name: str, **given: Any) -> Json:
    if not given:
        raise WrongArgument("give at least one value to set")
    port, reader, editor = _ports(ctx)
    path = port.get(name)["path"]
    _set(port, reader, editor, path, given)
    return _done(port, reader, path, changed=[path], asked=given)


def set_resolution(ctx: Any, width: int, height: int) -> Json:
    ctx.port("scene.mutate")
    change = getattr(ctx.port("cameras"), "set_resolution", None)
    if change is None:
        raise HostError(
            "callboard can't set the resolution in this application yet; ask the artist to do it,"
            " or pass width and height to render__still"
        )
    there = change(width, height)
    expect(there == [width, height], "the resolution", [width, height], there)
    return {"width": width, "height": height, "verified": True}


def look_at(ctx: Any, name: str, target: str | Sequence[float]) -> Json:
    port, reader, editor = _ports(ctx)
    path = port.get(name)["path"]
    point = point_of(reader, target)
    aim = facing(placed(reader, path)[3], point, reader.info()["up_axis"])
    place(reader, editor, path, aim)
    return _done(port, reader, path, changed=[path])


def frame(
    ctx: Any,
    name: str,
    objects: Sequence[str],
    margin: float = 0.1,
    angle: Any = None,
) -> Json:
    port, reader, editor = _ports(ctx)
    camera = port.get(name)
    path, fov = camera["path"], camera["fov"]
    if fov is None:
        raise WrongArgument(
            f"'{name}' has a {camera['projection']} view, which can't be framed by distance; use "
            "another camera"
        )
    points = corners([box_of(reader, [each]) for each in objects])
    if angle is None:
        axes = _unit_axes(placed(reader, path))
    else:
        axes = axes_of(angle, reader.info()["up_axis"])
    rows, near, far = framed(axes, fov, points, margin)
    place(reader, editor, path, rows)
    _clear(port, camera, near, far)
    fills = filled(_unit_axes(placed(reader, path)), fov, points)
    if max(fills) > 1.001 - margin:
        raise HostError("the objects don't fill the picture as requested. The change was undone.")
    done = _done(port, reader, path, changed=[path])
    return {**done, "fills": [round(part, 4) for part in fills]}


def _ports(ctx: Any) -> tuple[Any, Any, Any]:
    return ctx.port("cameras"), ctx.port("scene.read"), ctx.port("scene.mutate")


def _set(port: Any, reader: Any, editor: Any, path: str, given: Json) -> None:
    values = dict(given)
    translate, rotate = values.pop("translate", None), values.pop("rotate", None)
    if "clip" in values and values["clip"][0] >= values["clip"][1]:
        raise WrongArgument("clip must be [near, far], with near less than far")
    if values:
        port.set(path, values)
        camera = port.get(path)
        for key, value in values.items():
            expect(_alike(value, camera[key]), key, value, camera[key])
    if translate is None and rotate is None:
        return
    editor.set_transform(path, translate, rotate, None)
    there = reader.get(path)
    if translate is not None:
        expect(_alike(translate, there["translate"]), "translate", translate, there["translate"])
    if rotate is not None:
        expect_turned(rotate, there["rotate"], PRECISE)


def _clear(port: Any, camera: Json, near: float, far: float) -> None:
    """Widen the clipping range so that nothing framed is cut off."""
    low, high = camera["clip"]
    wanted = [low if low <= near / 2 else max(near / 2, far / 100000), max(high, far * 2)]
    if wanted != camera["clip"]:
        port.set(camera["path"], {"clip": wanted})
        actual = port.get(camera["path"])["clip"]
        expect(_alike(wanted, actual), "clip", wanted, actual)


def _unit_axes(rows: list[list[float]]) -> list[list[float]]:
    return [*map(unit, rows[:3]), rows[3]]


def _alike(asked: Any, actual: Any) -> bool:
    if isinstance(asked, bool) or actual is None:
        return bool(asked == actual)
    return alike(asked, actual, PRECISE)


def _done(
    port: Any,
    reader: Any,
    path: str,
    changed: Sequence[str] = (),
    created: Sequence[str] = (),
    asked: Collection[str] | None = None,
) -> Json:
    entry = reader.get(path)
    place = {
        key: entry[key] for key in ("translate", "rotate", "doubt", "doubtful") if key in entry
    }
    return done("camera", {**port.get(path), **place}, changed, created, asked=asked)
