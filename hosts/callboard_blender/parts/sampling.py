"""Reads where objects and bones are at other frames, and leaves the scene as it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import degrees
from time import perf_counter
from typing import Any

import bpy

from callboard.errors import HostError, WrongArgument
from callboard.host import Json, nearest_names
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.names import find, view_layer
from callboard_blender.parts.bake import frame_kept, go_to
from callboard_blender.parts.curves import curves_of, strip_curves_of
from callboard_blender.parts.data_blocks import collections
from callboard_blender.parts.world import is_evaluated

#: Seconds that frames are read before the scene goes back to the artist's frame.
_SLICE = 0.05
_DIGITS = 6


class Sampler:
    def __init__(self, changes: SceneChanges) -> None:
        self._changes = changes

    def points(self, asked: Sequence[Json]) -> list[Json]:
        """Return ``{path, bone?, at}`` for each point. Raises HostError for one that Blender
        doesn't evaluate."""
        return [_point(each) for each in asked]

    def read(self, points: Sequence[Json], frames: Sequence[float]) -> list[list[Json]]:
        """Return ``{position, rotation}`` of every point at the first of the frames, and at as many
        more as fit into a slice. The current frame and values without a key stay."""
        rows: list[list[Json]] = []
        placed = [(find(each["path"]), each) for each in points]
        slice_ends = perf_counter() + _SLICE
        with self._changes.unnoticed(), _values_kept(), frame_kept():
            for frame in frames:
                go_to(frame)
                graph = bpy.context.evaluated_depsgraph_get()
                rows.append([_world(obj.evaluated_get(graph), each) for obj, each in placed])
                if perf_counter() >= slice_ends:
                    break
        return rows


def _point(asked: Json) -> Json:
    obj, bone = find(asked["name"]), asked.get("bone")
    if not is_evaluated(obj):
        raise HostError(
            f"'{obj.name}' is in a collection that is excluded or hidden, so Blender doesn't"
            " evaluate its motion; show it first"
        )
    if bone is None:
        if "at" in asked:
            raise WrongArgument("at is the head or tail of a bone; give bone too")
        return {"path": obj.name_full}
    bones = obj.pose.bones.keys() if obj.pose else []
    if bone not in bones:
        near = ", ".join(nearest_names(bone, bones) or bones[:5]) or "it has none"
        raise HostError(f"'{obj.name}' has no bone '{bone}'; some are: {near}")
    return {"path": obj.name_full, "bone": bone, "at": asked.get("at", "head")}


def _world(obj: Any, point: Json) -> Json:
    matrix = obj.matrix_world
    if "bone" not in point:
        place = matrix.translation
    else:
        bone = obj.pose.bones[point["bone"]]
        place = matrix @ getattr(bone, point["at"])
        matrix = matrix @ bone.matrix
    return {
        "position": [round(each, _DIGITS) for each in place],
        "rotation": [round(degrees(each), _DIGITS) for each in matrix.to_euler("XYZ")],
    }


@contextmanager
def _values_kept() -> Iterator[None]:
    """Restore animated values that were changed without a key. Going to a frame resets them."""
    kept = [(owner, path, _value(owner, path)) for owner, path in _animated()]
    try:
        yield
    finally:
        reset = [each for each in kept if _value(*each[:2]) != each[2]]
        for owner, path, value in reset:
            _restore(owner, path, value)
        if reset:
            view_layer().update()


def _animated() -> Iterator[tuple[Any, str]]:
    """Yield the animated values of all data, each with its owner."""
    for _, data in collections():
        for block in data:
            for owner in (block, getattr(block, "node_tree", None)):
                curves = (*curves_of(owner), *strip_curves_of(owner)) if owner is not None else ()
                yield from dict.fromkeys((owner, each.data_path) for each in curves)


def _value(owner: Any, path: str) -> Any:
    try:
        value = owner.path_resolve(path)
    except ValueError:
        return None
    return [*value] if hasattr(value, "__len__") and not isinstance(value, str) else value


def _restore(owner: Any, path: str, value: Any) -> None:
    if path.endswith('"]'):
        inside, _, key = path[:-2].rpartition('["')
        holder = owner.path_resolve(inside) if inside else owner
        holder[bpy.utils.unescape_identifier(key)] = value
    else:
        inside, _, key = path.rpartition(".")
        setattr(owner.path_resolve(inside) if inside else owner, key, value)
