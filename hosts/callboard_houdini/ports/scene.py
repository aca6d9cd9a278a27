"""The ``scene.read`` port: reading the scene."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import hou

from callboard.host import Json
from callboard_houdini.application.names import children_of, family, find, objects, parent_of
from callboard_houdini.application.units import meters_per_unit, up_axis
from callboard_houdini.parts import transforms
from callboard_houdini.parts.object_color import read_color
from callboard_houdini.parts.shapes import geometry, kind_of


def scene_file() -> str | None:
    return None if hou.hipFile.isNewFile() else str(Path(hou.hipFile.path()))


class HoudiniSceneReader:
    def info(self) -> Json:
        return {
            "file": scene_file(),
            "modified": bool(hou.hipFile.hasUnsavedChanges()),
            "units_per_meter": 1 / meters_per_unit(),
            "up_axis": up_axis(),
            "frame_range": [float(frame) for frame in hou.playbar.playbackRange()],
            "fps": hou.fps(),
            "object_count": len(objects()),
            "selection": self.selection(),
        }

    def names(self) -> list[str]:
        """Return the objects' paths."""
        return [node.path() for node in objects()]

    def get(self, name: str) -> Json:
        node = find(name)
        translate, rotate, scale = transforms.read(node)
        return {
            **_summary(node),
            "children": [child.path() for child in children_of(node)],
            "translate": translate,
            "rotate": rotate,
            "scale": scale,
            "visible": is_visible(node),
            "color": read_color(node),
            "bounds": bounds(node),
        }

    def summaries(self) -> Iterator[Json]:
        for node in objects():
            yield _summary(node)

    def selection(self) -> list[str]:
        return [node.path() for node in objects() if node.isSelected()]


def _summary(node: hou.ObjNode) -> Json:
    above = parent_of(node)
    return {
        "name": node.name(),
        "path": node.path(),
        "type": kind_of(node),
        "parent": above.path() if above is not None else None,
    }


def is_visible(node: hou.ObjNode) -> bool:
    """Return whether the object is visible. A hidden parent, which is an object wired into it,
    doesn't hide it. A hidden subnet does."""
    around: hou.Node | None = node
    while isinstance(around, hou.ObjNode):
        if not around.isObjectDisplayed():
            return False
        around = around.parent()
    return True


def bounds(node: hou.ObjNode) -> Json | None:
    """Return the world bounds of the object and everything below it, or None if there is no
    geometry."""
    low, high = [float("inf")] * 3, [float("-inf")] * 3
    for each in family(node):
        shape = geometry(each)
        if shape is not None:
            box = shape.boundingBox(each.worldTransform())
            low = [min(a, b) for a, b in zip(low, box.minvec(), strict=True)]
            high = [max(a, b) for a, b in zip(high, box.maxvec(), strict=True)]
    return {"min": low, "max": high} if low[0] <= high[0] else None
