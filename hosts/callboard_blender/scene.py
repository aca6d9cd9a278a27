"""Reading the scene: the port ``scene.read``."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
from mathutils import Vector

from callboard.host import Json
from callboard_blender.changes import Changes
from callboard_blender.materials import read_color
from callboard_blender.names import find, scene, view_layer
from callboard_blender.shapes import kind_of
from callboard_blender.transforms import read

_EXTENDED = {"MESH", "CURVE", "SURFACE", "META", "FONT", "CURVES", "POINTCLOUD", "VOLUME"}


class BlenderSceneReader:
    def __init__(self, changes: Changes) -> None:
        self._changes = changes

    def info(self) -> Json:
        shown = scene()
        return {
            "file": bpy.data.filepath or None,
            "modified": self._changes.modified,
            "units_per_meter": 1 / shown.unit_settings.scale_length,
            "up_axis": "Z",
            "frame_range": [float(shown.frame_start), float(shown.frame_end)],
            "fps": shown.render.fps / shown.render.fps_base,
            "object_count": len(shown.objects),
            "selection": self.selection(),
        }

    def names(self) -> list[str]:
        return [obj.name_full for obj in scene().objects]

    def get(self, name: str) -> Json:
        obj = find(name)
        view_layer().update()
        translate, rotate, scale = read(obj)
        return {
            **_summary(obj),
            "children": [child.name_full for child in obj.children if _shown(child)],
            "translate": translate,
            "rotate": rotate,
            "scale": scale,
            "visible": bool(obj.visible_get(view_layer=view_layer())),
            "color": read_color(obj),
            "bounds": bounds([obj, *obj.children_recursive]),
        }

    def summaries(self) -> Iterator[Json]:
        return (_summary(obj) for obj in scene().objects)

    def selection(self) -> list[str]:
        """The active object last, as Blender does not remember the order of the others."""
        layer = view_layer()
        chosen = [obj for obj in layer.objects if obj.select_get(view_layer=layer)]
        chosen.sort(key=lambda obj: obj == layer.objects.active)
        return [obj.name_full for obj in chosen]


def bounds(objects: list[bpy.types.Object]) -> Json | None:
    """World-space box around the objects; None where none of them has an extent."""
    corners = [
        obj.matrix_world @ Vector(corner)
        for obj in objects
        if obj.type in _EXTENDED and not (obj.type == "MESH" and not obj.data.vertices)
        for corner in obj.bound_box
    ]
    if not corners:
        return None
    axes = list(zip(*corners, strict=True))
    return {"min": [min(axis) for axis in axes], "max": [max(axis) for axis in axes]}


def _shown(obj: bpy.types.Object) -> bool:
    return scene().objects.get(obj.name) is not None


def _summary(obj: bpy.types.Object) -> Json:
    return {
        "name": obj.name,
        "path": obj.name_full,
        "type": kind_of(obj),
        "parent": obj.parent.name_full if obj.parent else None,
    }
