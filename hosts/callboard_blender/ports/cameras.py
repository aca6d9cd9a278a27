"""The ``cameras`` port: the scene's cameras, and the size of its renders."""

from __future__ import annotations

from collections.abc import Mapping
from math import atan, degrees
from typing import Any

import bpy

from callboard.errors import HostError
from callboard.host import Json
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.linked_data import refuse_linked_data
from callboard_blender.application.names import changed, find, made, objects, scene
from callboard_blender.application.unique_names import refuse_miscounted
from callboard_blender.parts.copies import own_data
from callboard_blender.ports.edit import home

_PROJECTIONS = {"PERSP": "perspective", "ORTHO": "orthographic"}


class BlenderCameras:
    def __init__(self, changes: SceneChanges) -> None:
        self._changes = changes

    def names(self) -> Mapping[str, str]:
        return {obj.name_full: obj.name for obj in objects() if obj.type == "CAMERA"}

    def get(self, name: str) -> Json:
        obj = _find(name)
        data = obj.data
        return {
            "name": obj.name,
            "path": obj.name_full,
            "projection": _PROJECTIONS.get(data.type, data.type.lower()),
            "fov": _fov(data),
            "lens": data.lens,
            "sensor": data.sensor_width,
            "clip": [data.clip_start, data.clip_end],
            "focus_distance": _focus(obj),
            "fstop": data.dof.aperture_fstop if data.dof.use_dof else 0.0,
            "active": scene().camera == obj,
        }

    def set_resolution(self, width: int, height: int) -> list[int]:
        """Set the size of the scene's renders, at 100 percent. Return the size as it is now."""
        render = scene().render
        self._changes.touch()
        render.resolution_x, render.resolution_y = width, height
        render.resolution_percentage = 100
        return [render.resolution_x, render.resolution_y]

    def create(self, name: str | None) -> str:
        refuse_miscounted(name)
        self._changes.touch()
        named = name or "Camera"
        obj = bpy.data.objects.new(named, bpy.data.cameras.new(named))
        home().objects.link(obj)
        return made(obj)

    def set(self, name: str, values: Mapping[str, Any]) -> str:
        obj = _find(name)
        own = {key: value for key, value in values.items() if key != "active"}
        if own:
            refuse_linked_data(obj)
        self._changes.touch()
        data = own_data(obj) if own else obj.data
        for key, value in own.items():
            if key == "clip":
                # Each of the two values limits the other.
                data.clip_end = max(value[1], data.clip_start)
                data.clip_start, data.clip_end = value
            elif key == "focus_distance":
                data.dof.focus_object = None
                data.dof.focus_distance = value
            elif key == "fstop":
                data.dof.use_dof = value > 0
                if value > 0:
                    data.dof.aperture_fstop = value
            else:
                setattr(data, "sensor_width" if key == "sensor" else key, value)
        if values.get("active"):
            scene().camera = obj
        elif "active" in values and scene().camera == obj:
            scene().camera = None
        return changed(obj)


def _find(name: str) -> bpy.types.Object:
    obj = find(name)
    if obj.type != "CAMERA":
        raise HostError(f"'{obj.name}' isn't a camera; use cameras__list to find one")
    return obj


def _fov(data: Any) -> list[float] | None:
    """Return the rendered picture's angles of view, no matter which side of the picture the sensor
    is fitted to."""
    if data.type != "PERSP":
        return None
    corners = data.view_frame(scene=scene())
    away = -corners[0].z
    sides = [max(c[i] for c in corners) - min(c[i] for c in corners) for i in (0, 1)]
    return [degrees(2 * atan(side / 2 / away)) for side in sides]


def _focus(obj: bpy.types.Object) -> float:
    """Return the focus distance, which may come from an object instead of the number."""
    focus = obj.data.dof
    if focus.focus_object is None:
        return float(focus.focus_distance)
    camera = obj.matrix_world
    away = focus.focus_object.matrix_world.translation - camera.translation
    return float(abs(away.dot(camera.col[2].to_3d().normalized())))
