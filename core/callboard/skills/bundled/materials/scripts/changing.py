"""Tools that change materials. Each reads back what it did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from callboard.content import Json
from callboard.hosting.colors import linear
from callboard.hosting.picture_ports import Texture
from callboard.hosting.read_back import alike, done, expect

COLORS = ("color", "emission")
#: What a new material is before anything is set, in every host.
PLAIN: Json = {"color": [0.8, 0.8, 0.8], "metalness": 0.0, "roughness": 0.5, "ior": 1.5}
#: Objects that a refusal lists.
LISTED = 5


def create(ctx: Any, name: str | None = None, objects: Sequence[str] = (), **given: Any) -> Json:
    port, targets = _ports(ctx, objects)
    path = port.create(name)
    values = _values(given, port.get(path))
    plain = {**PLAIN, **values}
    if "specular" in values and "ior" not in values:
        del plain["ior"]  # where one number stands for both, what was asked decides
    port.set(path, plain)
    _expect_values(port.get(path), plain)
    _assign(port, path, targets, None)
    return _done(port, path, changed=targets, created=[path])


def set(
    ctx: Any, name: str, objects: Sequence[str] = (), shared: bool = False, **given: Any
) -> Json:
    if not given:
        raise ValueError("give at least one value to set")
    port, targets = _ports(ctx, objects)
    path, created = _for_whom(port, name, targets, shared)
    values = _values(given, port.get(path))
    port.set(path, values)
    _expect_values(port.get(path), values)
    return _done(port, path, changed=[] if created else [path], created=created)


def assign(ctx: Any, name: str, objects: Sequence[str], faces: Sequence[int] | None = None) -> Json:
    port, targets = _ports(ctx, objects)
    if faces is not None and len(targets) != 1:
        raise ValueError("faces are one object's; name just that one in objects")
    path = port.get(name)["path"]
    _assign(port, path, targets, faces)
    return _done(port, path, changed=targets)


def set_texture(
    ctx: Any,
    name: str,
    slot: str,
    path: str | None,
    color_space: str = "auto",
    uv_scale: Sequence[float] = (1.0, 1.0),
    channel: str | None = None,
    objects: Sequence[str] = (),
    shared: bool = False,
) -> Json:
    ctx.port("filesystem.read")
    if path is not None and not Path(path).is_file():
        raise ValueError(f"there is no file '{Path(path).name}' there")
    if channel is not None and slot in (*COLORS, "normal"):
        raise ValueError(f"{slot} takes the whole picture; channel is for slots of one number")
    if color_space == "auto":
        color_space = "srgb" if slot in COLORS else "raw"
    port, targets = _ports(ctx, objects)
    material, created = _for_whom(port, name, targets, shared)
    texture = None
    if path is not None:
        repeats = (float(uv_scale[0]), float(uv_scale[1]))
        texture = Texture(path, "srgb" if color_space == "srgb" else "raw", repeats, channel)
    port.set_texture(material, slot, texture)
    _expect_texture(port.get(material)["textures"].get(slot), texture, slot)
    return _done(port, material, changed=[] if created else [material], created=created)


def _ports(ctx: Any, objects: Sequence[str]) -> tuple[Any, list[str]]:
    """The port, and the paths of the named objects."""
    reader = ctx.port("scene.read")
    targets = list(dict.fromkeys(reader.get(each)["path"] for each in objects))
    ctx.port("scene.mutate")
    return ctx.port("materials"), targets


def _for_whom(port: Any, name: str, targets: Sequence[str], shared: bool) -> tuple[str, list[str]]:
    """The material to change, and what was created for it: a copy where others have the same."""
    path: str = port.get(name)["path"]
    users = port.users().get(path, ())
    without = [each for each in targets if each not in users]
    if without:
        raise ValueError(f"'{without[0]}' doesn't have '{name}'; give it with materials__assign")
    others = [each for each in users if each not in targets]
    if targets and others:
        copy: str = port.fork(path, targets)
        return copy, [copy]
    if len(users) > 1 and not targets and not shared:
        shown = ", ".join(users[:LISTED]) + (" …" if len(users) > LISTED else "")
        raise ValueError(
            f"'{name}' is on {len(users)} objects: {shown}. Pass shared: true to change it for all,"
            " or objects to change it for those alone"
        )
    return path, []


def _assign(port: Any, path: str, targets: Sequence[str], faces: Sequence[int] | None) -> None:
    if not targets:
        return
    port.assign(path, targets, faces)
    for target in targets:
        assigned = port.assigned(target)
        if faces is None:
            right = list(assigned) == [path]
        else:
            there = assigned.get(path, ())
            right = path in assigned and (there is None or {*faces} <= {*there})
        expect(right, f"the material of '{target}'", path, ", ".join(assigned) or None)


def _values(given: Mapping[str, Any], now: Json) -> Json:
    """What is asked, as numbers. Light needs both a colour and a strength to shine."""
    values = {key: linear(value) if key in COLORS else value for key, value in given.items()}
    if "emission" in values and "emission_strength" not in values:
        values["emission_strength"] = now.get("emission_strength") or 1.0
    elif values.get("emission_strength") and "emission" not in values:
        color = now.get("emission")
        values["emission"] = color if color and any(color) else [1.0, 1.0, 1.0]
    return values


def _expect_values(material: Json, values: Json) -> None:
    asked, actual = dict(values), dict(material)
    if "emission" in asked:
        # Some hosts keep the colour and its strength as one.
        for one in (asked, actual):
            color, strength = one["emission"], one.pop("emission_strength")
            known = color is not None and strength is not None
            one["emission"] = [value * strength for value in color] if known else None
    for key, value in asked.items():
        expect(alike(value, actual[key]), key, value, actual[key])


def _expect_texture(actual: Json | None, texture: Texture | None, slot: str) -> None:
    if texture is None or actual is None:
        expect(texture is None and actual is None, f"the texture of {slot}", texture, actual)
        return
    there = actual["path"]
    same = there is not None and Path(there).is_file() and Path(there).samefile(texture.path)
    expect(same, f"the texture of {slot}", texture.path, there)
    expect(
        actual["color_space"] == texture.color_space,
        "color_space",
        texture.color_space,
        actual["color_space"],
    )
    expect(
        alike([*texture.uv_scale], actual["uv_scale"]),
        "uv_scale",
        texture.uv_scale,
        actual["uv_scale"],
    )
    if texture.channel is not None:
        expect(actual["channel"] == texture.channel, "channel", texture.channel, actual["channel"])


def _done(port: Any, path: str, changed: Sequence[str] = (), created: Sequence[str] = ()) -> Json:
    material = port.get(path)
    users = [*port.users().get(path, ())]
    return done("material", {**material, "users": users}, changed, created)
