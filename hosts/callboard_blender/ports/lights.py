"""The ``lights`` port. The environment is in ``surroundings``."""

from __future__ import annotations

from collections.abc import Mapping
from math import degrees, radians
from typing import Any

import bpy

from callboard.errors import HostError
from callboard.host import POWER, Json, LightKind, refuse_unknown
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.linked_data import refuse_linked_data
from callboard_blender.application.names import changed, find, made, objects, view_layer
from callboard_blender.application.unique_names import refuse_miscounted
from callboard_blender.parts import surroundings
from callboard_blender.parts.copies import own_data
from callboard_blender.parts.world import world_of
from callboard_blender.ports.edit import home

_KINDS = {"SUN": "sun", "POINT": "point", "SPOT": "spot", "AREA": "area"}
_OWN = {
    "SUN": ("angle",),
    "POINT": ("size",),
    "SPOT": ("size", "angle", "blend"),
    "AREA": ("size",),
}


class BlenderLights:
    def __init__(self, changes: SceneChanges) -> None:
        self._changes = changes

    def names(self) -> Mapping[str, str]:
        return {obj.name_full: obj.name for obj in objects() if obj.type == "LIGHT"}

    def get(self, name: str) -> Json:
        obj = _find(name)
        data = obj.data
        own = _OWN[data.type]
        return {
            "name": obj.name,
            "path": obj.name_full,
            "kind": _KINDS[data.type],
            "color": list(data.color),
            "power": data.energy,
            "intensity": data.energy,
            "exposure": getattr(data, "exposure", 0.0),
            "size": _size(obj) if "size" in own else None,
            "angle": _angle(data) if "angle" in own else None,
            "blend": data.spot_blend if "blend" in own else None,
        }

    def create(self, kind: LightKind, name: str | None) -> str:
        if kind == "dome":
            raise HostError("Blender's dome is its world; use lights__set_environment")
        refuse_miscounted(name)
        self._changes.touch()
        named = name or kind.capitalize()
        data = bpy.data.lights.new(named, kind.upper())
        data.energy = POWER[kind]
        obj = bpy.data.objects.new(named, data)
        home().objects.link(obj)
        return made(obj)

    def set(self, name: str, values: Mapping[str, Any]) -> str:
        obj = _find(name)
        refuse_linked_data(obj)
        data = obj.data
        known = ("color", "power", "intensity", "exposure", *_OWN[data.type])
        refuse_unknown(_KINDS[data.type], values, known)
        if values.get("exposure") and not hasattr(data, "exposure"):
            raise HostError("lights have no exposure in this Blender; double power for each stop")
        self._changes.touch()
        data = own_data(obj)
        for key, value in values.items():
            if key in ("power", "intensity"):
                data.energy = value
            elif key == "size":
                _set_size(obj, value)
            elif key == "angle":
                _set_angle(obj, value)
            elif key == "blend":
                data.spot_blend = value
            elif key == "color":
                data.color = value
            elif hasattr(data, key):
                setattr(data, key, value)
        return changed(obj)

    def environment(self) -> Json:
        return surroundings.read()

    def set_environment(self, values: Mapping[str, Any]) -> None:
        self._changes.touch()
        surroundings.write(values)
        view_layer().update()


def _find(name: str) -> bpy.types.Object:
    obj = find(name, new=True)
    if obj.type != "LIGHT":
        raise HostError(f"'{obj.name}' isn't a light; use lights__list to find one")
    return obj


def _size(obj: bpy.types.Object) -> list[float]:
    data = obj.data
    if data.type != "AREA":
        return [2 * data.shadow_soft_size] * 2
    high = data.size_y if data.shape in ("RECTANGLE", "ELLIPSE") else data.size
    across, along = _area_scale(obj)
    return [data.size * across, high * along]


def _area_scale(obj: bpy.types.Object) -> tuple[float, float]:
    """Return the number of scene units in one of an area light's own units, along each of its two
    axes. The object's scale changes the light's size."""
    try:
        placed = world_of(obj)
    except HostError:  # Blender doesn't evaluate the object.
        placed = obj.matrix_world
    axes = placed.to_scale()
    return abs(axes.x) or 1.0, abs(axes.y) or 1.0


def _set_size(obj: bpy.types.Object, size: Any) -> None:
    data = obj.data
    wide, high = size if isinstance(size, (list, tuple)) else (size, size)
    if data.type != "AREA":
        if wide != high:
            raise HostError(f"'{obj.name}' is round, so its size is one number, its diameter")
        data.shadow_soft_size = wide / 2
        return
    across, along = _area_scale(obj)
    wide, high = wide / across, high / along
    round_ = data.shape in ("DISK", "ELLIPSE")
    if wide != high:
        data.shape = "ELLIPSE" if round_ else "RECTANGLE"
        data.size_y = high
    else:
        data.shape = "DISK" if round_ else "SQUARE"
    data.size = wide


def _angle(data: Any) -> float:
    return degrees(data.angle if data.type == "SUN" else data.spot_size)


def _set_angle(obj: bpy.types.Object, value: float) -> None:
    data = obj.data
    if data.type == "SUN":
        data.angle = radians(value)
        return
    if value < 1:
        raise HostError(f"the cone of '{obj.name}' can't be narrower than 1 degree in Blender")
    data.spot_size = radians(value)
