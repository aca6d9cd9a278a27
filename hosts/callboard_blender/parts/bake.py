"""Bakes motion by setting keys at every frame. The keys replace whatever moved the objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from math import floor

import bpy
from mathutils import Matrix

from callboard.errors import HostError
from callboard_blender.application.linked_data import is_brought
from callboard_blender.application.names import scene, view_layer
from callboard_blender.parts import transforms
from callboard_blender.parts.curves import TRANSFORM, curves_of, drivers_of, own_action
from callboard_blender.parts.world import is_evaluated, world_of


def bake(objects: list[bpy.types.Object], frames: range) -> None:
    """Bake the objects' motion. Raises HostError when an object isn't evaluated, or when keys can't
    reproduce its motion."""
    for obj in objects:
        if not is_evaluated(obj):
            raise HostError(
                f"'{obj.name}' is in a collection that is excluded or hidden, so Blender doesn't"
                " evaluate its motion; show it first"
            )
    with frame_kept():
        seen = [[(_relative(obj), world_of(obj)) for obj in objects] for _ in _going(frames)]
        for number, obj in enumerate(objects):
            _let_go(obj, frames)
            _key(obj, frames, (each[number][0] for each in seen))
        for frame, places in zip(_going(frames), seen, strict=True):
            for obj, (_, world) in zip(objects, places, strict=True):
                if not transforms.same(world_of(obj), world, 1e-4):
                    raise HostError(
                        f"keys can't reproduce the transform of '{obj.name}' at frame {frame}: it"
                        " is sheared there, or something else still moves it"
                    )


def go_to(frame: float) -> None:
    whole = floor(frame)
    scene().frame_set(whole, subframe=frame - whole)


def insert(obj: bpy.types.Object, channel: str, frame: float) -> None:
    try:
        done = obj.keyframe_insert(channel, frame=frame)
    except (RuntimeError, TypeError) as error:
        raise HostError(f"Blender could not key '{obj.name}': {error}") from None
    if not done:
        raise HostError(
            f"Blender did not key {channel} of '{obj.name}'; unlock the channel if it is locked"
        )


@contextmanager
def frame_kept(meanwhile: float | None = None) -> Iterator[None]:
    """Restore the current frame and subframe after the block."""
    shown = scene()
    before = shown.frame_current + shown.frame_subframe
    try:
        if meanwhile is not None:
            go_to(meanwhile)
        yield
    finally:
        go_to(before)


def _going(frames: range) -> Iterator[int]:
    for frame in frames:
        go_to(frame)
        yield frame


def _relative(obj: bpy.types.Object) -> Matrix:
    """Return the object's evaluated transform relative to its parent, whatever moves it."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return evaluated.matrix_local.copy()


def _key(obj: bpy.types.Object, frames: range, places: Iterable[Matrix]) -> None:
    between = obj.matrix_parent_inverse if obj.parent else Matrix.Identity(4)
    if between.determinant() == 0:
        raise HostError(f"'{obj.name}' is scaled to zero by its parent, so it can't be baked")
    between = between.inverted()
    for frame, place in zip(frames, places, strict=True):
        location, turned, scale = (between @ place).decompose()
        obj.location, obj.scale = location, scale
        transforms.set_rotation(obj, turned)
        for channel in ("location", transforms.rotation_channel(obj), "scale"):
            insert(obj, channel, frame)


def _let_go(obj: bpy.types.Object, frames: range) -> None:
    """Remove whatever moved the object, except strips and keys outside the frames. The new keys
    override strips that play inside the frames. A strip that adds to the keys still moves the
    object, so the result is checked afterwards."""
    for constraint in list(obj.constraints):
        if is_brought(obj, "constraints", constraint.name):
            constraint.mute = True
        else:
            obj.constraints.remove(constraint)
    own_action(obj)
    for driver in drivers_of(obj):
        if driver.data_path.startswith(TRANSFORM):
            if obj.override_library is not None:
                raise HostError(
                    f"a driver moves '{obj.name}', and the linked object would restore the"
                    " driver; bake the object in its own file"
                )
            obj.driver_remove(driver.data_path, driver.array_index)
    for curve in curves_of(obj):
        if curve.data_path.startswith(TRANSFORM):
            path, index = curve.data_path, curve.array_index
            for frame in [point.co.x for point in curve.keyframe_points]:
                if frames[0] <= frame <= frames[-1]:
                    obj.keyframe_delete(path, index=index, frame=frame)
    obj.delta_location, obj.delta_rotation_euler = (0, 0, 0), (0, 0, 0)
    obj.delta_rotation_quaternion, obj.delta_scale = (1, 0, 0, 0), (1, 1, 1)
    view_layer().update()
