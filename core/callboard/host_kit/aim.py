"""Turns cameras and lights toward a point, whatever the transforms of their parents. Cameras and
lights look along their own -Z."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING

from callboard.content import Json
from callboard.errors import HostError
from callboard.ground.matrices import Rows, compose, cross, decompose, inverse, times, unit

if TYPE_CHECKING:
    from callboard.ports.edit import SceneEditor
    from callboard.ports.scene import SceneReader

Point = Sequence[float]
Box = tuple[list[float], list[float]]


def placed(reader: SceneReader, path: str | None) -> Rows:
    """Return an object's transform in world space, or the identity for None."""
    rows = compose([0, 0, 0], [0, 0, 0], [1, 1, 1])
    while path is not None:
        entry = reader.get(path)
        rows = times(rows, compose(entry["translate"], entry["rotate"], entry["scale"]))
        path = entry["parent"]
    return rows


def box_of(reader: SceneReader, names: Sequence[str]) -> Box:
    """Return the box around the objects, in world space. An object without extent is treated as a
    point."""
    low, high = [float("inf")] * 3, [float("-inf")] * 3
    for name in names:
        entry: Json = reader.get(name)
        box = entry["bounds"]
        at = None if box else placed(reader, entry["path"])[3]
        low = [min(a, b) for a, b in zip(low, at or box["min"], strict=True)]
        high = [max(a, b) for a, b in zip(high, at or box["max"], strict=True)]
    return low, high


def point_of(reader: SceneReader, target: str | Point) -> list[float]:
    """Return the center of an object's box, or ``target`` itself if it is a point."""
    if not isinstance(target, str):
        return [float(value) for value in target]
    low, high = box_of(reader, [target])
    return [(a + b) / 2 for a, b in zip(low, high, strict=True)]


def facing(eye: Point, target: Point, up_axis: str) -> Rows:
    """Return the axes and the position of an upright object at ``eye`` that looks at ``target``."""
    back = [a - b for a, b in zip(eye, target, strict=True)]
    length = sqrt(sum(value * value for value in back))
    if length < 1e-9:
        raise HostError("the object is at the same point as its target; move one of them first")
    back = [value / length for value in back]
    up = [0.0, 1.0, 0.0] if up_axis == "Y" else [0.0, 0.0, 1.0]
    if abs(sum(a * b for a, b in zip(up, back, strict=True))) > 0.99999:
        # The object looks straight up or down, so the far side is at the top of the picture.
        up = [0.0, 0.0, -1.0] if up_axis == "Y" else [0.0, 1.0, 0.0]
    right = unit(cross(up, back))
    return [right, cross(back, right), back, [float(value) for value in eye]]


def place(reader: SceneReader, editor: SceneEditor, path: str, rows: Rows) -> None:
    """Give the object the world transform ``rows``, and check the result. Raises HostError."""
    parent = reader.get(path)["parent"]
    local = times(rows, inverse(placed(reader, parent))) if parent else rows
    translate, rotate, _ = decompose(local)
    editor.set_transform(path, translate, rotate, None)
    actual = placed(reader, path)
    same = all(abs(a - b) < 1e-3 for a, b in zip(unit(actual[2]), rows[2], strict=True))
    reach = 1e-4 * max(1.0, *map(abs, rows[3]))
    there = all(abs(a - b) < reach for a, b in zip(actual[3], rows[3], strict=True))
    if not (same and there):
        raise HostError(
            f"'{path}' can't be turned there, because its parent is scaled unevenly. Remove its "
            f"parent with scene__set_parent, parent null. The change was undone."
        )
