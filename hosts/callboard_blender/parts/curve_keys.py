"""Keys of single channels: of one axis, a bone, a shape key or any other value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

from callboard.errors import HostError
from callboard.host import Json
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.linked_data import refuse_linked
from callboard_blender.application.names import forget, view_layer
from callboard_blender.parts.curves import curves_of, drivers_of, own_action
from callboard_blender.parts.data_blocks import DataBlocks
from callboard_blender.parts.new_drivers import indexed, inside

#: Blender's interpolations by the words of the animation tools, which have three of them.
_WORDS = {"smooth": "BEZIER"}
#: Names of the others, by Blender's.
_BLENDERS = {blenders: word for word, blenders in _WORDS.items()}


class CurveKeys:
    def __init__(self, changes: SceneChanges, blocks: DataBlocks) -> None:
        self._changes = changes
        self._blocks = blocks

    def owner(self, kind: str, name: str, path: str) -> Any:
        """Return the datablock that has the value at this path."""
        return inside(self._blocks.find(kind, name), path)[0]

    def set(self, kind: str, name: str, path: str, keys: Sequence[Json]) -> tuple[Any, Any]:
        """Set ``keys``, each ``{frame, value, interpolation?}``, of one value of a datablock. Keys
        at the same frames are replaced. Return the curve and the datablock that has it."""
        top = self._blocks.find(kind, name)
        owner, inner = inside(top, path)
        for each in (top, owner):
            if isinstance(each, bpy.types.Object):
                refuse_linked(each)
            elif each.library is not None:
                raise HostError(f"'{each.name_full}' comes from another file; change it there")
        inner, index = indexed(owner, inner, path)
        place = (_plain(owner, inner), index or 0)
        if _at(owner, drivers_of(owner), place) is not None:
            raise HostError(f"a driver sets '{path}', so keys have no effect; remove it first")
        self._changes.touch()
        own_action(owner)
        curve = _at(owner, curves_of(owner), place)
        if curve is None:
            self._begin(owner, inner, index, keys[0]["frame"])
            curve = _at(owner, curves_of(owner), place)
        if curve is None or curve.lock:
            raise HostError(f"the curve of '{path}' is locked; ask the artist to unlock it")
        put_keys(curve, keys)
        owner.update_tag(**({"refresh": {"TIME"}} if isinstance(owner, bpy.types.Object) else {}))
        view_layer().update()
        forget()
        return curve, owner

    def _begin(self, owner: Any, inner: str, index: int | None, frame: float) -> None:
        """Make the curve, with a key that the first of the keys replaces."""
        at = {} if index is None else {"index": index}
        try:
            done = owner.keyframe_insert(inner, frame=frame, **at)
        except (RuntimeError, TypeError) as error:
            raise HostError(f"Blender can't key '{inner}': {error}") from None
        if not done:
            raise HostError(f"Blender did not key '{inner}'; unlock the channel if it is locked")


def put_keys(curve: Any, keys: Sequence[Json]) -> None:
    """Set keys of the curve, each ``{frame, value, interpolation?}``."""
    for each in keys:
        point = curve.keyframe_points.insert(each["frame"], each["value"])
        if "interpolation" in each:
            point.interpolation = blenders_word(each["interpolation"])
    curve.update()


def blenders_word(interpolation: str) -> str:
    """Return Blender's name of an interpolation, such as ``BEZIER`` for ``smooth``."""
    return _WORDS.get(interpolation, interpolation.upper())


def keys_json(curve: Any, start: float, end: float) -> list[Json]:
    """Return the curve's keys in a range of frames as ``{frame, value, interpolation}``."""
    return [
        {
            "frame": float(each.co.x),
            "value": float(each.co.y),
            "interpolation": _BLENDERS.get(each.interpolation, each.interpolation.lower()),
        }
        for each in curve.keyframe_points
        if start <= each.co.x <= end
    ]


def _at(owner: Any, curves: Sequence[Any], place: tuple[str, int]) -> Any:
    fitting = (each for each in curves if each.array_index == place[1])
    return next((each for each in fitting if _plain(owner, each.data_path) == place[0]), None)


def _plain(owner: Any, path: str) -> str:
    """Return the path as Blender writes it, which numbers the inputs of nodes in place of their
    names."""
    try:
        return str(owner.path_resolve(path, False).path_from_id())
    except (AttributeError, ValueError):
        return path
