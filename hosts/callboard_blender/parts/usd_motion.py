"""Handles motion in USD files. Blender writes every frame, and reads motion as a link to the file.
If the values change linearly between keys, this module keeps only the samples at the keys. It also
stores a note of all keys. On import, samples become keys again, so that the file is no longer
needed.

The note is custom data of a prim. For each component, it holds the seconds at which there are keys,
and the interpolation after each key. The note is used only if its keys reproduce the motion of the
samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from math import dist, radians
from typing import Any

import bpy
from mathutils import Euler, Matrix

from callboard.host import without_jumps
from callboard_blender.application.names import scene
from callboard_blender.parts.bake import frame_kept, go_to, insert
from callboard_blender.parts.curves import curves_of
from callboard_blender.parts.transforms import COMPONENTS, curves_of_transform, local_at

_NOTE = "sourceKeys"
#: The attribute in which exporters store the name of a prim's object.
OBJECT_NAME = "userProperties:blender:object_name"
_CHANNELS = {"translate": "location", "rotate": "rotation_euler", "scale": "scale"}
_OPS = {"translate": "xformOp:translate", "rotate": "xformOp:rotateXYZ", "scale": "xformOp:scale"}
#: Tolerances within which two motions are considered the same. The tolerance for rotation is in
#: degrees.
_CLOSE = {"translate": 1e-4, "rotate": 1e-2, "scale": 1e-4}
#: Frames that differ by less than this are considered the same.
_FRAME = 1e-4

#: Times in seconds or frames, each with the interpolation after it.
Keys = list[tuple[float, str]]


def object_of(prim: Any) -> bpy.types.Object | None:
    """Return the object for which Blender has just written a prim."""
    name = prim.GetAttribute(OBJECT_NAME)
    return scene().objects.get(name.Get()) if name else None


def note_keys(stage: Any) -> None:
    """Store notes of the keys of this scene's objects in a file that Blender has just written."""
    fps = _fps()
    for prim in stage.TraverseAll():
        obj = object_of(prim)
        if obj is None:
            continue
        _unwind(prim.GetAttribute(_OPS["rotate"]))
        curves = curves_of_transform(obj)
        noted: dict[str, Any] = {}
        for component, keys in _keys_of(obj).items():
            samples = prim.GetAttribute(_OPS[component])
            if not samples or len(samples.GetTimeSamples()) < 2:
                continue
            noted[component] = {
                "seconds": [frame / fps for frame, _ in keys],
                "interpolation": [word for _, word in keys],
            }
            exact = {frame: local_at(obj, curves, frame)[component] for frame, _ in keys}
            _thin(samples, exact, _CLOSE[component])
        if noted:
            prim.SetCustomDataByKey(_NOTE, noted)
            for op in _OPS.values():
                _still(prim.GetAttribute(op))


def take_keys(
    created: Sequence[bpy.types.Object], stage: Any, above: Callable[[bpy.types.Object], Any]
) -> None:
    """Convert imported motion to keys, at this scene's frame rate. ``above`` returns the future
    parent of an object."""
    linked = [
        (obj, each) for obj in created for each in obj.constraints if each.type == "TRANSFORM_CACHE"
    ]
    pace = _fps() / stage.GetTimeCodesPerSecond()
    _retime((obj.data for obj in created if obj.data is not None), pace)
    if not linked:
        return
    prims = {obj: _moving_prim(stage, link.object_path) for obj, link in linked}
    times = {obj: _times(prim) for obj, prim in prims.items()}
    seen: dict[bpy.types.Object, dict[float, Matrix]] = {obj: {} for obj in prims}
    with frame_kept():
        for time in sorted({time for each in times.values() for time in each}):
            # Blender treats time codes as frames, whatever the file's rate is.
            go_to(time)
            graph = bpy.context.evaluated_depsgraph_get()
            for obj, own in times.items():
                if time in own:
                    world = obj.evaluated_get(graph).matrix_world
                    parent = above(obj)
                    if parent is not None:
                        world = parent.evaluated_get(graph).matrix_world.inverted() @ world
                    seen[obj][time] = world.copy()
        caches = {link.cache_file for _, link in linked}
        for obj, link in linked:
            obj.constraints.remove(link)
        for cache in caches:
            if cache is not None and not cache.users:
                bpy.data.batch_remove([cache])
        for obj, prim in prims.items():
            same = above(obj) == obj.parent
            _key(obj, seen[obj], prim, stage.GetTimeCodesPerSecond(), pace, same)


def _keys_of(obj: bpy.types.Object) -> dict[str, Keys]:
    by_component: dict[str, dict[float, str]] = {}
    for curve in curves_of_transform(obj):
        keys = by_component.setdefault(COMPONENTS[curve.data_path], {})
        for point in curve.keyframe_points:
            keys.setdefault(float(point.co.x), point.interpolation)
    return {component: sorted(keys.items()) for component, keys in by_component.items()}


def _unwind(samples: Any) -> None:
    """Make the angles continuous. Blender never writes an angle beyond half a circle, so samples
    jump."""
    times = samples.GetTimeSamples() if samples else []
    turns = [samples.Get(time) for time in times]
    for time, was, now in zip(times, turns, without_jumps(turns), strict=True):
        if dist(was, now) > 1:
            samples.Set(type(was)(*now), time)


def _thin(samples: Any, at: Mapping[float, Sequence[float]], close: float) -> None:
    """If the values change linearly between keys, keep only the samples at the keys. Otherwise keep
    all samples, and add one for each key that falls between two frames. ``at`` holds the values at
    the keys, in order."""
    times = samples.GetTimeSamples()
    kind = type(samples.Get(times[0]))
    straight = all(dist(_straight(at, time), samples.Get(time)) <= close for time in times)
    if straight:
        samples.Clear()
    for frame, value in at.items():
        if straight or frame not in times:
            samples.Set(kind(*value), frame)


def _still(samples: Any) -> None:
    """Turn a single sample into a constant value."""
    times = samples.GetTimeSamples() if samples else []
    if len(times) == 1:
        value = samples.Get(times[0])
        samples.Clear()
        samples.Set(value)


def _straight(at: Mapping[float, Sequence[float]], time: float) -> Sequence[float]:
    frames = list(at)
    for before, after in pairwise(frames):
        if before <= time <= after:
            part = (time - before) / (after - before)
            pairs = zip(at[before], at[after], strict=True)
            return [a + (b - a) * part for a, b in pairs]
    return at[frames[0] if time < frames[0] else frames[-1]]


def _moving_prim(stage: Any, path: str) -> Any:
    """Return the prim whose samples move the object that was read from ``path``. ``path`` may lead
    to a shape below the prim."""
    from pxr import UsdGeom

    prim = stage.GetPrimAtPath(path)
    while prim and not prim.IsPseudoRoot():
        if prim.IsA(UsdGeom.Xformable) and UsdGeom.Xformable(prim).GetTimeSamples():
            return prim
        prim = prim.GetParent()
    return stage.GetPrimAtPath(path)


def _times(prim: Any) -> set[float]:
    from pxr import UsdGeom

    if not prim:
        return set()
    sampled = set(UsdGeom.Xformable(prim).GetTimeSamples())
    rate = prim.GetStage().GetTimeCodesPerSecond()
    noted = {second * rate for keys in _noted(prim).values() for second, _ in keys}
    return sampled | {time for time in noted if _near(time, sampled) is None}


def _near(time: float, times: Iterable[float]) -> float | None:
    """Return the time in the list that equals this one, apart from conversion rounding, or None."""
    return next((each for each in times if abs(each - time) < _FRAME), None)


def _noted(prim: Any) -> dict[str, Keys]:
    note = prim.GetCustomDataByKey(_NOTE) if prim else None
    by_component: dict[str, Keys] = {}
    for component in _OPS:
        each = note.get(component) if isinstance(note, dict) else None
        if not isinstance(each, dict):
            continue
        try:
            seconds = [float(second) for second in each["seconds"]]
            words = [str(word) for word in each["interpolation"]]
        except (KeyError, TypeError, ValueError):
            continue  # The note came with the file and may be malformed.
        if len(seconds) == len(words):
            by_component[component] = sorted(zip(seconds, words, strict=True))
    return by_component


def _key(
    obj: bpy.types.Object,
    seen: Mapping[float, Matrix],
    prim: Any,
    rate: float,
    pace: float,
    same: bool,
) -> None:
    """Set keys. ``same`` is True if the prim's own angles are also the object's."""
    times = sorted(seen)
    turns = prim.GetAttribute(_OPS["rotate"])
    obj.rotation_mode = "XYZ"
    moves: dict[str, list[list[float]]] = {"translate": [], "rotate": [], "scale": []}
    near = Euler(obj.rotation_euler)
    for time in times:
        place, turned, size = seen[time].decompose()
        reported = turns.Get(time) if same and turns and turns.GetTimeSamples() else None
        if reported is not None:
            near = Euler([radians(angle) for angle in reported])
        near = turned.to_euler("XYZ", near)
        for component, value in zip(moves, (place, near, size), strict=True):
            moves[component].append([float(each) for each in value])
    noted = _noted(prim)
    for component, values in moves.items():
        keys = [
            (sampled, word)
            for second, word in noted.get(component, ())
            if (sampled := _near(second * rate, times)) is not None
        ]
        close = radians(_CLOSE[component]) if component == "rotate" else _CLOSE[component]
        if all(dist(value, values[0]) < close * 1e-2 for value in values) and not keys:
            setattr(obj, _CHANNELS[component], values[0])
            continue
        at = dict(zip(times, values, strict=True))
        for chosen in (keys, [(time, "LINEAR") for time in times]):
            if chosen and _keyed(obj, component, at, chosen, pace, close):
                break


def _keyed(
    obj: bpy.types.Object,
    component: str,
    at: Mapping[float, Sequence[float]],
    keys: Keys,
    pace: float,
    close: float,
) -> bool:
    """Key one component, and return whether the keys reproduce the component's motion."""
    channel = _CHANNELS[component]
    for curve in _curves(obj, channel):
        for frame in [point.co.x for point in curve.keyframe_points]:
            obj.keyframe_delete(channel, index=curve.array_index, frame=frame)
    for time, _ in keys:
        setattr(obj, channel, at[time])
        insert(obj, channel, time * pace)
    words = {round(time * pace, 3): word for time, word in keys}
    for curve in _curves(obj, channel):
        for point in curve.keyframe_points:
            word = words.get(round(point.co.x, 3), "LINEAR")
            point.interpolation = word if word in ("CONSTANT", "LINEAR", "BEZIER") else "LINEAR"
        curve.update()
    return all(
        abs(curve.evaluate(time * pace) - value[curve.array_index]) <= close
        for curve in _curves(obj, channel)
        for time, value in at.items()
    )


def _curves(obj: bpy.types.Object, channel: str) -> list[Any]:
    return [curve for curve in curves_of(obj) if curve.data_path == channel]


def _retime(owners: Iterable[bpy.types.ID], pace: float) -> None:
    """Move keys that Blender itself imports, such as the keys of a camera's lens, to this scene's
    rate."""
    if abs(pace - 1) < 1e-9:
        return
    for owner in set(owners):
        for curve in curves_of(owner) if hasattr(owner, "animation_data") else ():
            for point in curve.keyframe_points:
                point.co.x *= pace
            curve.update()


def _fps() -> float:
    return float(scene().render.fps / scene().render.fps_base)
