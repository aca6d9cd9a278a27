"""The ``compare`` tool."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from callboard.content import Json
from callboard.host import ObjectNotFound
from callboard.skill import covered

from ._scene import transforming

_Difference = tuple[str, Any, Any, Json | None]


def compare(
    ctx: Any,
    objects: Sequence[Json],
    camera: str | None = None,
    nothing_else: bool = False,
    tolerance: float = 0.01,
) -> Json:
    port, reader = ctx.port("check"), ctx.port("scene.read")
    differences: list[Json] = []
    there: set[str] = set()
    for wanted in objects:
        try:
            actual = reader.get(wanted["name"])
        except ObjectNotFound as error:
            near = error.nearest[:3]
            differences.append(_reported(wanted["name"], ("object", "is there", near, None)))
            continue
        there.add(actual["path"])
        for each in _differing(wanted, actual, reader, port, camera, tolerance):
            differences.append(_reported(actual["path"], each))
    if nothing_else:
        for path in port.meshes():
            if path not in there:
                fix = _call("scene__delete", names=[path])
                differences.append(_reported(path, ("object", "is not there", "is there", fix)))
    return covered(reader, {"matches": not differences, "differences": differences})


def _differing(
    wanted: Json, actual: Json, reader: Any, port: Any, camera: str | None, tolerance: float
) -> Iterator[_Difference]:
    path, box = actual["path"], actual["bounds"]
    size = _side(box)
    slack = tolerance * (max(size) if size else 1.0) + 1e-6
    if "type" in wanted and wanted["type"].lower() != actual["type"]:
        yield "type", wanted["type"], actual["type"], None
    if "size" in wanted and not _near(wanted["size"], size, slack):
        yield "size", wanted["size"], size, _scaled(port, path, wanted["size"], size, actual)
    if "center" in wanted:
        center = [(a + b) / 2 for a, b in zip(box["min"], box["max"], strict=True)] if box else None
        if not _near(wanted["center"], center, slack):
            fix = _moved(port, path, wanted["center"], center, actual)
            yield "center", wanted["center"], center, fix
    for what, near_enough in (("translate", slack), ("rotate", 0.1)):
        if what in wanted and not _near(wanted[what], actual[what], near_enough):
            fix = transforming(port, path, **{what: wanted[what]})
            yield what, wanted[what], actual[what], fix
    if "color" in wanted and not _near(wanted["color"], actual["color"], 0.02):
        fix = _call("scene__set_material_color", name=path, color=wanted["color"])
        yield "color", wanted["color"], actual["color"], fix
    if "material" in wanted and not _has(wanted["material"], names := port.materials_of(path)):
        fix = _call("materials__assign", name=wanted["material"], objects=[path])
        yield "material", wanted["material"], names, fix
    if "parent" in wanted:
        parent = wanted["parent"] and reader.get(wanted["parent"])["path"]
        if parent != actual["parent"]:
            fix = _call("scene__set_parent", name=path, parent=parent)
            yield "parent", parent, actual["parent"], fix
    if "visible" in wanted and wanted["visible"] != actual["visible"]:
        yield "visible", wanted["visible"], actual["visible"], None
    if "seen" in wanted:
        share = _share_seen(port, camera, box)
        if (share > 0.5) != wanted["seen"]:
            yield "seen", wanted["seen"], f"{share:.0%} of it is in the picture", None


def _has(material: str, paths: Sequence[str]) -> bool:
    return any(material in (path, path.rsplit("/", 1)[-1]) for path in paths)


def _share_seen(port: Any, camera: str | None, box: Json | None) -> float:
    """Spread points over the object's box, and return the fraction of them that is visible."""
    if box is None:
        return 0.0
    axes = [(a, (a + b) / 2, b) for a, b in zip(box["min"], box["max"], strict=True)]
    share: float = port.seen(camera, list(product(*axes)))
    return share


def _side(box: Json | None) -> list[float] | None:
    return [b - a for a, b in zip(box["min"], box["max"], strict=True)] if box else None


def _near(wanted: Sequence[float], actual: Sequence[float] | None, slack: float) -> bool:
    return actual is not None and all(
        abs(a - b) <= slack for a, b in zip(wanted, actual, strict=True)
    )


def _scaled(
    port: Any, path: str, wanted: Sequence[float], size: list[float] | None, actual: Json
) -> Json | None:
    """Return the call that scales the object, or None if its axes don't match the world's."""
    if size is None or min(size) <= 0 or any(actual["rotate"]) or actual["parent"] is not None:
        return None
    factors = zip(actual["scale"], wanted, size, strict=True)
    return transforming(port, path, scale=[s * a / b for s, a, b in factors])


def _moved(
    port: Any, path: str, wanted: Sequence[float], center: list[float] | None, actual: Json
) -> Json | None:
    if center is None or actual["parent"] is not None:
        return None
    places = zip(actual["translate"], wanted, center, strict=True)
    return transforming(port, path, translate=[t + a - b for t, a, b in places])


def _call(tool: str, **arguments: Any) -> Json:
    return {"tool": tool, "arguments": arguments}


def _reported(path: str, difference: _Difference) -> Json:
    what, expected, actual, fix = difference
    entry: Json = {"object": path, "what": what, "expected": expected, "actual": actual}
    return entry if fix is None else {**entry, "fix": fix}
