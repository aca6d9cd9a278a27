"""The ``scene.read`` port: reading the scene."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pymxs import runtime as rt

from callboard.host import Json
from callboard_max.application.names import (
    Node,
    children_of,
    family,
    find,
    objects,
    parent_of,
    path_of,
    paths_of,
)
from callboard_max.parts import transforms
from callboard_max.parts.frames import frame_of, frames_per_second
from callboard_max.parts.object_color import read_color
from callboard_max.parts.shapes import is_geometry, kind_of

_METERS = {
    "inches": 0.0254,
    "feet": 0.3048,
    "miles": 1609.344,
    "millimeters": 0.001,
    "centimeters": 0.01,
    "meters": 1.0,
    "kilometers": 1000.0,
}


class MaxSceneReader:
    def info(self) -> Json:
        shown = rt.animationRange
        return {
            "file": scene_file(),
            "modified": bool(rt.getSaveRequired()),
            "units_per_meter": 1 / meters_per_unit(),
            "up_axis": "Z",
            "frame_range": [frame_of(shown.start), frame_of(shown.end)],
            "fps": frames_per_second(),
            "object_count": len(objects()),
            "selection": self.selection(),
        }

    def names(self) -> list[str]:
        return paths_of(objects())

    def get(self, name: str) -> Json:
        node = find(name)
        above = parent_of(node)
        translate, rotate, scale = transforms.read(node)
        return {
            "name": str(node.name),
            "path": path_of(node),
            "type": kind_of(node),
            "parent": path_of(above) if above is not None else None,
            "children": [path_of(child) for child in children_of(node)],
            "translate": translate,
            "rotate": rotate,
            "scale": scale,
            "visible": not node.isHiddenInVpt,
            "color": read_color(node),
            "bounds": _bounds(node),
        }

    def summaries(self) -> Iterator[Json]:
        nodes = objects()
        paths = paths_of(nodes)
        above = {path: parent_of(node) for path, node in zip(paths, nodes, strict=True)}
        parents = [node for node in above.values() if node is not None]
        of_parents = iter(paths_of(parents))
        for path, node in zip(paths, nodes, strict=True):
            parent = next(of_parents) if above[path] is not None else None
            yield {"name": str(node.name), "path": path, "type": kind_of(node), "parent": parent}

    def selection(self) -> list[str]:
        return paths_of(list(rt.selection))


def scene_file() -> str | None:
    name = str(rt.maxFileName)
    return str(Path(str(rt.maxFilePath), name)) if name else None


def meters_per_unit() -> float:
    unit = str(rt.units.SystemType).strip("#").lower()
    return _METERS.get(unit, 1.0) * float(rt.units.SystemScale)


def _bounds(node: Node) -> Json | None:
    low, high = [float("inf")] * 3, [float("-inf")] * 3
    for each in family(node):
        if is_geometry(each):
            a, b = each.min, each.max
            low = [min(p) for p in zip(low, (a.x, a.y, a.z), strict=True)]
            high = [max(p) for p in zip(high, (b.x, b.y, b.z), strict=True)]
    return {"min": low, "max": high} if low[0] <= high[0] else None
