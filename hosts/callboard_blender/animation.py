"""The timeline and an object's keys: the port ``animation``."""

from __future__ import annotations

from collections.abc import Sequence
from math import degrees, floor, radians
from typing import Any

import bpy
from mathutils import Euler, Matrix, Quaternion
from mathutils import Vector as Vec

from callboard.errors import HostError
from callboard.host import Json, Vector
from callboard_blender import transforms
from callboard_blender.changes import Changes
from callboard_blender.curves import curves_of, drivers_of
from callboard_blender.names import find, scene, view_layer

_COMPONENTS = {
    "location": "translate",
    "rotation_euler": "rotate",
    "rotation_quaternion": "rotate",
    "rotation_axis_angle": "rotate",
    "scale": "scale",
}


class BlenderAnimation:
    def __init__(self, changes: Changes) -> None:
        self._changes = changes

    def timeline(self) -> Json:
        shown = scene()
        start, end = _range_fields(shown)
        return {
            "start": float(getattr(shown, start)),
            "end": float(getattr(shown, end)),
            "current": shown.frame_current + shown.frame_subframe,
            "fps": shown.render.fps / shown.render.fps_base,
        }

    def set_current(self, frame: float) -> None:
        self._changes.touch()
        _go_to(frame)

    def set_range(self, start: float, end: float) -> None:
        if start != int(start) or end != int(end):
            raise HostError("Blender's playback range is in whole frames")
        if start < 0:
            raise HostError("Blender's playback range starts at frame 0 or later")
        shown = scene()
        first, last = _range_fields(shown)
        self._changes.touch()
        setattr(shown, last, int(end))
        setattr(shown, first, int(start))

    def keys(self, name: str) -> list[Json]:
        obj = find(name)
        curves = _transform_curves(obj)
        found: dict[float, set[str]] = {}
        for curve in curves:
            for point in curve.keyframe_points:
                found.setdefault(float(point.co.x), set()).add(_COMPONENTS[curve.data_path])
        answer: list[Json] = []
        for frame in sorted(found):
            values = _local_at(obj, curves, frame)
            answer.append({"frame": frame, **{c: values[c] for c in values if c in found[frame]}})
        return answer

    def set_key(
        self,
        name: str,
        frame: float,
        translate: Vector | None,
        rotate: Vector | None,
        scale: Vector | None,
    ) -> str:
        obj = find(name)
        if not transforms.is_plain(obj):
            raise HostError(
                f"'{obj.name}' can't be keyed by its channels alone: it needs the rotation mode XYZ"
                " Euler, no delta transform and no parent inverse; bake it instead"
            )
        self._changes.touch()
        turned = None if rotate is None else [radians(angle) for angle in rotate]
        for channel, value in (
            ("location", translate),
            ("rotation_euler", turned),
            ("scale", scale),
        ):
            if value is not None:
                setattr(obj, channel, value)
                _insert(obj, channel, frame)
        # What it is at the current frame follows from the keys.
        obj.update_tag(refresh={"TIME"})
        return str(obj.name_full)

    def delete_keys(self, name: str, start: float, end: float) -> int:
        obj = find(name)
        doomed = [
            (curve.data_path, curve.array_index, float(point.co.x))
            for curve in _transform_curves(obj)
            for point in curve.keyframe_points
            if start <= point.co.x <= end
        ]
        if doomed:
            self._changes.touch()
        for channel, index, frame in doomed:
            try:
                obj.keyframe_delete(channel, index=index, frame=frame)
            except (RuntimeError, TypeError) as error:
                raise HostError(f"Blender could not delete keys of '{obj.name}': {error}") from None
        obj.update_tag(refresh={"TIME"})
        return len({frame for _, _, frame in doomed})

    def bake(self, names: Sequence[str], start: int, end: int, step: int) -> list[str]:
        """What moved them goes: constraints, drivers and other keys of the transform."""
        paths = list(dict.fromkeys(find(name).name_full for name in names))
        self._changes.touch()
        shown = scene()
        before = shown.frame_current + shown.frame_subframe
        frames = range(start, end + 1, step)
        seen: dict[str, list[Matrix]] = {path: [] for path in paths}
        for frame in frames:
            _go_to(frame)
            for path in paths:
                obj = find(path)
                seen[path].append(obj.matrix_parent_inverse.inverted_safe() @ _relative(obj))
        for path in paths:
            obj = find(path)
            _let_go(obj)
            for frame, matrix in zip(frames, seen[path], strict=True):
                _set_basis(obj, matrix)
                for channel in ("location", _rotation(obj), "scale"):
                    _insert(obj, channel, frame)
        _go_to(before)
        return paths


def _range_fields(shown: bpy.types.Scene) -> tuple[str, str]:
    """What playback keeps to: the preview range where that is on."""
    if shown.use_preview_range:
        return "frame_preview_start", "frame_preview_end"
    return "frame_start", "frame_end"


def _go_to(frame: float) -> None:
    whole = floor(frame)
    scene().frame_set(whole, subframe=frame - whole)


def _insert(obj: bpy.types.Object, channel: str, frame: float) -> None:
    try:
        done = obj.keyframe_insert(channel, frame=frame)
    except (RuntimeError, TypeError) as error:
        raise HostError(f"Blender could not key '{obj.name}': {error}") from None
    if not done:
        raise HostError(f"Blender did not key {channel} of '{obj.name}'; is it locked?")


def _transform_curves(obj: bpy.types.Object) -> list[Any]:
    """Location, scale, and the rotation that the object's mode uses."""
    wanted = ("location", _rotation(obj), "scale")
    return [curve for curve in curves_of(obj) if curve.data_path in wanted]


def _rotation(obj: bpy.types.Object) -> str:
    modes = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
    return modes.get(obj.rotation_mode, "rotation_euler")


def _local_at(obj: bpy.types.Object, curves: list[Any], frame: float) -> dict[str, list[float]]:
    """The local transform that the keys make at ``frame``."""
    rotation = _rotation(obj)
    channels = {key: list(getattr(obj, key)) for key in ("location", rotation, "scale")}
    for curve in curves:
        channels[curve.data_path][curve.array_index] = curve.evaluate(frame)
    move, turn, size = channels["location"], channels[rotation], channels["scale"]
    if not transforms.is_plain(obj):
        turned: Euler | Quaternion
        if rotation == "rotation_quaternion":
            turned = Quaternion(turn)
        elif rotation == "rotation_axis_angle":
            turned = Quaternion(turn[1:], turn[0])
        else:
            turned = Euler(turn, obj.rotation_mode)
        basis = Matrix.LocRotScale(Vec(move), turned, Vec(size))
        local = obj.matrix_parent_inverse @ basis if obj.parent else basis
        located, whole, scaled = local.decompose()
        move, turn, size = list(located), list(whole.to_euler("XYZ")), list(scaled)
    return {"translate": move, "rotate": [degrees(angle) for angle in turn], "scale": size}


def _relative(obj: bpy.types.Object) -> Matrix:
    """Where everything that moves the object has put it, relative to its parent."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return evaluated.matrix_local.copy()


def _let_go(obj: bpy.types.Object) -> None:
    obj.constraints.clear()
    moving = ("location", "rotation", "scale", "delta_")
    for driver in drivers_of(obj):
        if driver.data_path.startswith(moving):
            obj.driver_remove(driver.data_path, driver.array_index)
    for curve in curves_of(obj):
        if curve.data_path.startswith(moving):
            path, index = curve.data_path, curve.array_index
            for frame in [point.co.x for point in curve.keyframe_points]:
                obj.keyframe_delete(path, index=index, frame=frame)
    obj.delta_location, obj.delta_rotation_euler = (0, 0, 0), (0, 0, 0)
    obj.delta_rotation_quaternion, obj.delta_scale = (1, 0, 0, 0), (1, 1, 1)
    view_layer().update()


def _set_basis(obj: bpy.types.Object, matrix: Matrix) -> None:
    located, turned, scaled = matrix.decompose()
    obj.location, obj.scale = located, scaled
    if obj.rotation_mode == "QUATERNION":
        # The same turn has two quaternions; the nearer one doesn't spin in between.
        turned.make_compatible(obj.rotation_quaternion)
        obj.rotation_quaternion = turned
    elif obj.rotation_mode == "AXIS_ANGLE":
        axis, angle = turned.to_axis_angle()
        obj.rotation_axis_angle = (angle, *axis)
    else:
        obj.rotation_euler = turned.to_euler(obj.rotation_mode, obj.rotation_euler)
