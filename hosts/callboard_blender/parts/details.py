"""Reads an object's details besides its transform: materials, modifiers, lens, power and keys."""

from __future__ import annotations

from typing import Any

import bpy

from callboard.host import MOST_KEYS, Json
from callboard_blender.parts.curves import TRANSFORM, curves_of
from callboard_blender.parts.shown_mesh import shown_materials


def levels_of(modifier: Any) -> Json:
    """Return how many times the modifier subdivides in views and in renders, if it subdivides."""
    if modifier.type not in ("SUBSURF", "MULTIRES"):
        return {}
    return {"levels": modifier.levels, "render_levels": modifier.render_levels}


def details(obj: bpy.types.Object) -> Json:
    reported: Json = {"data": obj.data.name_full} if obj.data is not None else {}
    if obj.instance_collection is not None:
        name, kind = obj.instance_collection.name_full, obj.instance_type
        off = {"instances_off": f"{name}; its instance_type is {kind}"}
        reported |= {"instances": name} if kind == "COLLECTION" else off
    if obj.material_slots:
        materials = (slot.material for slot in obj.material_slots)
        reported["materials"] = list(dict.fromkeys(each.name_full for each in materials if each))
    if (shown := shown_materials(obj)) not in (None, reported.get("materials", [])):
        reported["materials_shown"] = shown
    if obj.modifiers:
        reported["modifiers"] = [
            {
                "name": each.name,
                "type": each.type.lower(),
                "shown": bool(each.show_viewport),
                **levels_of(each),
            }
            for each in obj.modifiers
        ]
    if obj.type == "MESH":
        reported["faces"] = len(obj.data.polygons)
    elif obj.type == "CAMERA":
        reported["lens"] = obj.data.lens
    elif obj.type == "LIGHT":
        reported["energy"] = obj.data.energy
    frames: set[float] = set()
    for curve in curves_of(obj):
        if curve.data_path.startswith(TRANSFORM):
            points = curve.keyframe_points
            flat = [0.0] * (2 * len(points))
            points.foreach_get("co", flat)
            frames.update(flat[::2])
    if frames:
        reported["keys"] = sorted(frames)[:MOST_KEYS]
        reported["key_count"] = len(frames)
    return reported
