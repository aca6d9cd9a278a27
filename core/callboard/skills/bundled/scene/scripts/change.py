"""Tools that change objects. Each checks the result, and whether the saved file will contain it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callboard.content import Json
from callboard.errors import WrongArgument
from callboard.skill import (
    DIMENSIONS,
    all_near,
    done,
    expect,
    expect_same_bounds,
    expect_transform,
    near,
)


def create_primitive(
    ctx: Any,
    kind: str,
    name: str | None = None,
    translate: Sequence[float] | None = None,
    rotate: Sequence[float] | None = None,
    scale: Sequence[float] | None = None,
    dimensions: Sequence[float] | None = None,
    **given: float,
) -> Json:
    if dimensions is not None and (given or scale is not None):
        raise WrongArgument("give dimensions, or single sizes and scale, not both")
    fitting = DIMENSIONS[kind]
    if unfit := [key for key in given if key not in fitting]:
        raise WrongArgument(f"a {kind} has no {', '.join(unfit)}; it has {', '.join(fitting)}")
    sizes = {**fitting, **given}
    if kind == "torus" and sizes["minor_radius"] > sizes["major_radius"]:
        raise WrongArgument(
            "minor_radius, which is the tube's radius, must not be larger than major_radius"
        )
    reader, editor = ctx.port("scene.read"), ctx.port("scene.mutate")
    path = editor.create(kind, name, sizes)
    made = reader.get(path)
    expect(made["type"] == kind, "type", kind, made["type"])
    even = kind in ("sphere", "cube")
    size = _size(kind, sizes, "" if even else reader.info()["up_axis"])
    bounds = made["bounds"]
    measured = bounds and [
        high - low for low, high in zip(bounds["min"], bounds["max"], strict=True)
    ]
    expect(
        bool(measured) and all_near(size, measured, 0.01), "the size of its bounds", size, measured
    )
    if dimensions is not None:
        pairs = [*zip(dimensions, size, strict=True)]
        if any(own and not asked for asked, own in pairs):
            raise WrongArgument(f"dimensions can't be 0 along an axis in which a {kind} has a size")
        scale = [asked / own if own else 1.0 for asked, own in pairs]
    asked = {"translate": translate, "rotate": rotate, "scale": scale}
    if any(value is not None for value in asked.values()):
        editor.set_transform(path, translate, rotate, scale)
        before, made = made, reader.get(path)
        expect_transform(before, made, asked)
    return done("object", made, created=[made["path"]])


def transform(
    ctx: Any,
    name: str,
    translate: Sequence[float] | None = None,
    rotate: Sequence[float] | None = None,
    scale: Sequence[float] | None = None,
) -> Json:
    asked = {"translate": translate, "rotate": rotate, "scale": scale}
    if all(value is None for value in asked.values()):
        raise WrongArgument("give at least one of translate, rotate, scale")
    reader, editor = ctx.port("scene.read"), ctx.port("scene.mutate")
    before = reader.get(name)
    after = reader.get(editor.set_transform(before["path"], translate, rotate, scale))
    expect_transform(before, after, asked)
    given = [key for key, value in asked.items() if value is not None]
    return done("object", after, changed=[after["path"]], asked=given)


def set_parent(ctx: Any, name: str, parent: str | None, keep_world: bool = True) -> Json:
    reader, editor = ctx.port("scene.read"), ctx.port("scene.mutate")
    before = reader.get(name)
    above = None if parent is None else reader.get(parent)["path"]
    after = reader.get(editor.set_parent(before["path"], above, keep_world))
    expect(after["parent"] == above, "parent", above, after["parent"])
    if keep_world:
        expect_same_bounds(before, after, "the place in the world")
    return done("object", after, changed=[after["path"]], asked=["translate"])


def rename(ctx: Any, name: str, new_name: str, with_data: bool = False) -> Json:
    reader, editor = ctx.port("scene.read"), ctx.port("scene.mutate")
    path = editor.rename(name, new_name)
    named = hasattr(editor, "rename_data") and with_data
    data = editor.rename_data(path, new_name) if named else None
    after = reader.get(path)
    expect(after["name"] == new_name, "name", new_name, after["name"])
    answer = done("object", after, changed=[after["path"]], asked=["name"])
    return answer if data is None else {**answer, "data": data}


def delete(ctx: Any, name: str | None = None, names: Sequence[str] = ()) -> Json:
    wanted = _named(name, names)
    if not wanted:
        raise WrongArgument("give name, or names with at least one entry")
    reader, editor = ctx.port("scene.read"), ctx.port("scene.mutate")
    targets = [reader.get(each)["path"] for each in wanted]
    deleted = editor.delete(targets)
    left, gone = set(reader.names()), set(deleted)
    for target in targets:
        expect(target in gone and target not in left, target, "gone", "there")
    return {"changed": [], "created": [], "deleted": deleted, "verified": True}


def duplicate(
    ctx: Any,
    name: str,
    new_name: str | None = None,
    translate: Sequence[float] | None = None,
) -> Json:
    reader, editor = ctx.port("scene.read"), ctx.port("scene.mutate")
    original = reader.get(name)
    copy = reader.get(editor.duplicate(original["path"], new_name))
    expect(copy["path"] != original["path"], "the copy", "a new object", copy["path"])
    for key in ("type", "parent"):
        expect(copy[key] == original[key], key, original[key], copy[key])
    count = len(original["children"])
    expect(len(copy["children"]) == count, "children", count, len(copy["children"]))
    asked = {"translate": None, "rotate": None, "scale": None}
    expect_transform(original, copy, asked)
    if translate is not None:
        editor.set_transform(copy["path"], translate, None, None)
        before, copy = copy, reader.get(copy["path"])
        expect_transform(before, copy, {**asked, "translate": translate})
    return done("object", copy, created=[copy["path"]], asked=["translate"])


def select(ctx: Any, name: str | None = None, names: Sequence[str] = ()) -> Json:
    reader, editor = ctx.port("scene.read"), ctx.port("scene.mutate")
    asked = _named(name, names)
    wanted = editor.select(asked)
    if len(wanted) < len(asked):  # Two names may refer to one object.
        wanted = [reader.get(each)["path"] for each in asked]
    selection = reader.selection()
    expect(set(selection) == set(wanted), "selection", wanted, selection)
    return {"changed": [], "created": [], "verified": True, "selection": selection}


def set_material_color(ctx: Any, name: str, color: Sequence[float]) -> Json:
    reader, editor = ctx.port("scene.read"), ctx.port("scene.mutate")
    after = reader.get(editor.set_color(name, color))
    shown = after["color"]
    right = shown is not None and all(near(a, b, 1e-3) for a, b in zip(color, shown, strict=True))
    expect(right, "color", list(color), shown)
    return done("object", after, changed=[after["path"]], asked=["color"])


def _named(name: str | None, names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([*([] if name is None else [name]), *names]))


def _size(kind: str, of: dict[str, float], up_axis: str) -> list[float]:
    """Return the size of a new primitive's bounds along X, Y and Z."""
    wide = deep = tall = 0.0
    if kind == "sphere":
        wide = deep = tall = 2 * of["radius"]
    elif kind == "cube":
        wide = deep = tall = of["size"]
    elif kind == "plane":
        wide, deep = of["width"], of["depth"]
    elif kind == "torus":
        wide = deep = 2 * (of["major_radius"] + of["minor_radius"])
        tall = 2 * of["minor_radius"]
    else:
        wide = deep = 2 * of["radius"]
        tall = of["height"]
    return [wide, tall, deep] if up_axis == "Y" else [wide, deep, tall]
