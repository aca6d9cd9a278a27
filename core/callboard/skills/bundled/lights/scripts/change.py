"""Tools that change lights. Each checks the result."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from callboard.content import Json
from callboard.errors import WrongArgument
from callboard.skill import (
    alike,
    around_point,
    box_of,
    done,
    expect,
    expect_turned,
    facing,
    linear,
    of_kelvin,
    place,
    placed,
    point_of,
    surround,
)

#: For each of three lights: its degrees around the up axis, its degrees above the ground, and its
#: share of the power.
THREE = {"Key": (45.0, 35.0, 1.0), "Fill": (-50.0, 15.0, 0.25), "Rim": (170.0, 45.0, 0.8)}
#: The power, in watts, at which an area light one meter away makes white paper exactly white.
AT_A_METRE = math.pi**2


def create(ctx: Any, kind: str, name: str | None = None, **given: Any) -> Json:
    port, reader, editor = _ports(ctx)
    path = port.create(kind, name)
    if not any(key in given for key in ("rotate", "look_at")):
        given["rotate"] = _downwards(reader) if kind != "dome" else None
    _set(port, reader, editor, path, given)
    return _done(port, reader, path, created=[path])


def set(ctx: Any, name: str, **given: Any) -> Json:
    if not given:
        raise WrongArgument("give at least one value to set")
    port, reader, editor = _ports(ctx)
    path = port.get(name)["path"]
    _set(port, reader, editor, path, given)
    return _done(port, reader, path, changed=[path], asked=given)


def set_environment(ctx: Any, **given: Any) -> Json:
    ctx.port("filesystem.read")
    if not given:
        raise WrongArgument("give at least one of path, color, sun_elevation, strength, rotate")
    if sum(key in given for key in ("path", "color", "sun_elevation")) > 1:
        raise WrongArgument("give only one of path, color and sun_elevation")
    if "path" in given and not Path(given["path"]).is_file():
        raise WrongArgument(f"there is no file '{Path(given['path']).name}'")
    port, _, _ = _ports(ctx)
    values: Json = {k: linear(value) if k == "color" else value for k, value in given.items()}
    environment = surround(port, values)
    doubt = environment.get("doubt")
    reported: Json = {} if doubt is None else {"doubt": doubt}
    return {"verified": doubt is None, **reported, "environment": environment}


def three_point(
    ctx: Any, objects: Sequence[str], angle: float = 0.0, brightness: float = 1.0
) -> Json:
    port, reader, editor = _ports(ctx)
    info = reader.info()
    low, high = box_of(reader, objects)
    middle = [(a + b) / 2 for a, b in zip(low, high, strict=True)]
    metre = info["units_per_meter"]
    radius = math.dist(low, high) / 2 or metre
    away = 3 * radius
    power = AT_A_METRE * (away / metre) ** 2 * brightness
    created = []
    for name, (turn, above, part) in THREE.items():
        path = port.create("area", name)
        values = {"power": power * part, "size": radius * 1.5}
        _set_values(port, path, values)
        eye = around_point(middle, away, turn + angle, above, info["up_axis"])
        place(reader, editor, path, facing(eye, middle, info["up_axis"]))
        created.append(path)
    doubts = [doubt for path in created if (doubt := port.get(path).get("doubt"))]
    reported: Json = {"doubt": doubts[0]} if doubts else {}
    return {"changed": [], "created": created, "verified": not doubts, **reported}


def _ports(ctx: Any) -> tuple[Any, Any, Any]:
    return ctx.port("lights"), ctx.port("scene.read"), ctx.port("scene.mutate")


def _set(port: Any, reader: Any, editor: Any, path: str, given: Json) -> None:
    for one, other in (("color", "kelvin"), ("power", "intensity"), ("rotate", "look_at")):
        if one in given and other in given:
            raise WrongArgument(f"give {one} or {other}, not both")
    values = dict(given)
    translate, rotate = values.pop("translate", None), values.pop("rotate", None)
    target = values.pop("look_at", None)
    if "kelvin" in values:
        values["color"] = of_kelvin(values.pop("kelvin"))
    elif "color" in values:
        values["color"] = linear(values["color"])
    _set_values(port, path, values)
    if translate is not None or rotate is not None:
        editor.set_transform(path, translate, rotate, None)
        there = reader.get(path)
        if translate is not None:
            now = there["translate"]
            expect(alike([*translate], now), "translate", translate, now)
        if rotate is not None:
            expect_turned(rotate, there["rotate"])
    if target is not None:
        eye = placed(reader, path)[3]
        aim = facing(eye, point_of(reader, target), reader.info()["up_axis"])
        place(reader, editor, path, aim)


def _set_values(port: Any, path: str, values: Json) -> None:
    if not values:
        return
    port.set(path, values)
    light = port.get(path)
    for key, value in values.items():
        actual = light[key]
        if key == "size" and isinstance(actual, list | tuple) and not isinstance(value, list):
            value = [value, value]
        expect(alike(value, actual), key, value, actual)


def _downwards(reader: Any) -> list[float]:
    return [-90.0, 0.0, 0.0] if reader.info()["up_axis"] == "Y" else [0.0, 0.0, 0.0]


def _done(
    port: Any,
    reader: Any,
    path: str,
    changed: Sequence[str] = (),
    created: Sequence[str] = (),
    asked: Collection[str] | None = None,
) -> Json:
    if asked is not None and "look_at" in asked:
        asked = [*asked, "rotate"]
    entry = reader.get(path)
    place = {
        key: entry[key] for key in ("translate", "rotate", "doubt", "doubtful") if key in entry
    }
    return done("light", {**port.get(path), **place}, changed, created, asked=asked)
