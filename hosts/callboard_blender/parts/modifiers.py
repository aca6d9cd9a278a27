"""Modifiers, text objects and curves in the terms of the ``modelling`` port."""

from __future__ import annotations

from collections.abc import Mapping
from math import degrees, radians
from typing import Any

import bpy

from callboard.errors import HostError
from callboard.host import Json
from callboard_blender.application.names import find
from callboard_blender.parts.shapes import kind_in_words

TYPES = {
    "bevel": "BEVEL",
    "boolean": "BOOLEAN",
    "mirror": "MIRROR",
    "array": "ARRAY",
    "solidify": "SOLIDIFY",
    "decimate": "DECIMATE",
    "triangulate": "TRIANGULATE",
    "weld": "WELD",
    "subdivide": "SUBSURF",
}
#: Blender's properties for our values, where both Blender's and ours are plain numbers.
_PLAIN = {
    "width": "width",
    "segments": "segments",
    "count": "count",
    "thickness": "thickness",
    "ratio": "ratio",
    "distance": "merge_threshold",
    "levels": "levels",
    "render_levels": "render_levels",
}
_TAKES = {
    "BEVEL": ("width", "segments"),
    "ARRAY": ("count",),
    "SOLIDIFY": ("thickness",),
    "DECIMATE": ("ratio",),
    "WELD": ("distance",),
    "SUBSURF": ("levels", "render_levels"),
}
_ALIGN = {"left": "LEFT", "center": "CENTER", "right": "RIGHT"}


def modifier_json(modifier: Any) -> Json:
    """Return the modifier as ``{name, kind, shown}`` and its values in the port's terms."""
    kind = next((key for key, word in TYPES.items() if word == modifier.type), None)
    entry: Json = {"name": modifier.name, "kind": kind or modifier.type.lower()}
    entry["shown"] = bool(modifier.show_viewport)
    for key in _TAKES.get(modifier.type, ()):
        entry[key] = getattr(modifier, _PLAIN[key])
    if kind == "bevel":
        entry["angle"] = degrees(modifier.angle_limit)
    elif kind == "boolean":
        entry["operation"] = modifier.operation.lower()
        entry["other"] = modifier.object.name_full if modifier.object is not None else None
    elif kind == "mirror":
        axes = [axis for axis, on in zip("xyz", modifier.use_axis, strict=True) if on]
        entry["axis"] = "".join(axes)
        middle = modifier.mirror_object
        entry["other"] = middle.name_full if middle is not None else None
    elif kind == "array":
        entry["offset"] = list(modifier.constant_offset_displace)
    return entry


def begin(modifier: Any) -> None:
    """Give a new modifier the port's defaults, before values are set."""
    if modifier.type == "BEVEL":
        modifier.width, modifier.segments, modifier.limit_method = 0.1, 2, "ANGLE"
    elif modifier.type == "BOOLEAN":
        modifier.operation = "DIFFERENCE"
    elif modifier.type == "ARRAY":
        modifier.use_relative_offset, modifier.use_constant_offset = False, True
    elif modifier.type == "DECIMATE":
        modifier.ratio = 0.5
    elif modifier.type == "SOLIDIFY":
        modifier.thickness, modifier.use_even_offset = 0.1, True
    elif modifier.type == "SUBSURF":
        modifier.levels = modifier.render_levels = 2


def write(obj: bpy.types.Object, modifier: Any, values: Mapping[str, Any]) -> None:
    """Set the modifier's values. Raises HostError for a value that Blender refuses."""
    for key, value in values.items():
        if key in _PLAIN:
            setattr(modifier, _PLAIN[key], value)
        elif key == "angle":
            modifier.limit_method, modifier.angle_limit = "ANGLE", radians(value)
        elif key == "operation":
            modifier.operation = value.upper()
        elif key == "axis":
            modifier.use_axis = [axis == value for axis in "xyz"]
        elif key == "offset":
            modifier.use_relative_offset, modifier.use_constant_offset = False, True
            modifier.constant_offset_displace = value
        elif key == "other":
            other = find(value)
            if other == obj:
                raise HostError(f"'{obj.name}' can't be combined with itself")
            if modifier.type == "MIRROR":
                modifier.mirror_object = other
                continue
            if other.type != "MESH":
                raise HostError(f"'{other.name}' is {kind_in_words(other)}, not a mesh")
            modifier.operand_type, modifier.object = "OBJECT", other


def text_json(text: Any) -> Json:
    align = next((key for key, word in _ALIGN.items() if word == text.align_x), text.align_x)
    return {"text": text.body, "size": text.size, "depth": 2 * text.extrude, "align": align}


def curve_json(curve: Any) -> Json:
    splines = list(curve.splines)
    first = splines[0] if splines else None
    if first is None:
        points = []
    elif first.type == "BEZIER":
        points = [list(point.co) for point in first.bezier_points]
    else:
        points = [list(point.co)[:3] for point in first.points]
    return {
        "points": points,
        "smooth": first is not None and first.type != "POLY",
        "closed": first is not None and first.use_cyclic_u,
        "radius": curve.bevel_depth,
        "splines": len(splines),
    }


def write_text(text: Any, values: Mapping[str, Any]) -> None:
    text.size = values.get("size", 1.0)
    # Blender extrudes in both directions.
    text.extrude = values.get("depth", 0.0) / 2
    text.align_x = _ALIGN[values.get("align", "left")]


def write_curve(curve: Any, points: Any, values: Mapping[str, Any]) -> None:
    curve.dimensions = "3D"
    curve.bevel_depth = values.get("radius", 0.0)
    smooth = values.get("smooth", False)
    spline = curve.splines.new("BEZIER" if smooth else "POLY")
    if smooth:
        spline.bezier_points.add(len(points) - 1)
        for point, place in zip(spline.bezier_points, points, strict=True):
            point.co = place
            point.handle_left_type = point.handle_right_type = "AUTO"
    else:
        spline.points.add(len(points) - 1)
        for point, place in zip(spline.points, points, strict=True):
            point.co = (*place, 1.0)
    spline.use_cyclic_u = values.get("closed", False)
