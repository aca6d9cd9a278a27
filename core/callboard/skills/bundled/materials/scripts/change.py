"""Tools that change materials. Each checks the result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from callboard.content import Json
from callboard.errors import WrongArgument
from callboard.skill import (
    COLORS,
    Texture,
    assign_material,
    done,
    new_material,
    put_texture,
    set_values,
    space_of,
)

#: Maximum number of objects that a refusal lists.
LISTED = 5


def create(ctx: Any, name: str | None = None, objects: Sequence[str] = (), **given: Any) -> Json:
    port, targets = _ports(ctx, objects)
    path = new_material(port, name, given)
    assign_material(port, path, targets, None)
    return _done(port, path, changed=targets, created=[path])


def set(
    ctx: Any, name: str, objects: Sequence[str] = (), shared: bool = False, **given: Any
) -> Json:
    if not given:
        raise WrongArgument("give at least one value to set")
    port, targets = _ports(ctx, objects)
    path, created = _for_whom(port, name, targets, shared)
    set_values(port, path, given)
    return _done(port, path, changed=[] if created else [path], created=created)


def assign(ctx: Any, name: str, objects: Sequence[str], faces: Sequence[int] | None = None) -> Json:
    port, targets = _ports(ctx, objects)
    if faces is not None and len(targets) != 1:
        raise WrongArgument("faces belong to one object; name only that object in objects")
    path = port.get(name)["path"]
    assign_material(port, path, targets, faces)
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
        raise WrongArgument(f"there is no file '{Path(path).name}'")
    if channel is not None and slot in (*COLORS, "normal"):
        raise WrongArgument(f"{slot} uses the whole picture; channel is for slots with one number")
    if color_space == "auto":
        color_space = space_of(slot)
    port, targets = _ports(ctx, objects)
    material, created = _for_whom(port, name, targets, shared)
    texture = None
    if path is not None:
        repeats = (float(uv_scale[0]), float(uv_scale[1]))
        texture = Texture(path, "srgb" if color_space == "srgb" else "raw", repeats, channel)
    put_texture(port, material, slot, texture)
    return _done(port, material, changed=[] if created else [material], created=created)


def _ports(ctx: Any, objects: Sequence[str]) -> tuple[Any, list[str]]:
    """Return the port, and the paths of the named objects."""
    reader = ctx.port("scene.read")
    targets = list(dict.fromkeys(reader.get(each)["path"] for each in objects))
    ctx.port("scene.mutate")
    return ctx.port("materials"), targets


def _for_whom(port: Any, name: str, targets: Sequence[str], shared: bool) -> tuple[str, list[str]]:
    """Return the path of the material to change, and the paths of new materials. If objects other
    than ``targets`` have the material too, ``targets`` get a copy, which is the material to
    change."""
    path: str = port.get(name)["path"]
    users = port.users().get(path, ())
    without = [each for each in targets if each not in users]
    if without:
        raise WrongArgument(
            f"'{without[0]}' doesn't have '{name}'; assign it with materials__assign"
        )
    others = [each for each in users if each not in targets]
    if targets and others:
        copy: str = port.fork(path, targets)
        return copy, [copy]
    if len(users) > 1 and not targets and not shared:
        shown = ", ".join(users[:LISTED]) + (" …" if len(users) > LISTED else "")
        raise WrongArgument(
            f"'{name}' is on {len(users)} objects: {shown}. Pass shared: true to change it for all,"
            " or pass objects, to change it only for the objects listed"
        )
    return path, []


def _done(port: Any, path: str, changed: Sequence[str] = (), created: Sequence[str] = ()) -> Json:
    material = port.get(path)
    users = [*port.users().get(path, ())]
    return done("material", {**material, "users": users}, changed, created)
