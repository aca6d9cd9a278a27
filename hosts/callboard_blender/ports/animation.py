"""The ``animation`` port: the timeline and an object's keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import bpy

from callboard.errors import HostError
from callboard.host import Json, Vector
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.linked_data import refuse_linked
from callboard_blender.application.names import find, paths, scene
from callboard_blender.parts import transforms
from callboard_blender.parts.actions import sharers, strips_json
from callboard_blender.parts.bake import bake, go_to, insert
from callboard_blender.parts.curves import (
    TRANSFORM,
    driven_parts,
    drivers_of,
    motion_json,
    motion_of,
    own_action,
    strip_curves_of,
)

_INTERPOLATIONS = {"constant": "CONSTANT", "linear": "LINEAR", "smooth": "BEZIER"}
#: Maximum number of frames that are listed for a value.
_MOST_FRAMES = 20
_WORDS = {blenders: word for word, blenders in _INTERPOLATIONS.items()}


class BlenderAnimation:
    def __init__(self, changes: SceneChanges) -> None:
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
        go_to(frame)

    def set_range(self, start: float, end: float) -> None:
        if start != int(start) or end != int(end):
            raise HostError("Blender's playback range must be in whole frames")
        if start < 0:
            raise HostError("Blender's playback range must start at frame 0 or later")
        shown = scene()
        first, last = _range_fields(shown)
        self._changes.touch()
        setattr(shown, last, int(end))
        setattr(shown, first, int(start))

    def set_fps(self, fps: float) -> None:
        """Set the frames per second, which Blender stores as a whole number and a divisor."""
        render = scene().render
        whole = max(1, round(fps))
        self._changes.touch()
        render.fps, render.fps_base = whole, whole / fps

    def interpolations(self, name: str, component: str | None = None) -> dict[float, str]:
        reported: dict[float, str] = {}
        for curve in _curves(find(name), component):
            for point in curve.keyframe_points:
                word = _WORDS.get(point.interpolation, point.interpolation.lower())
                frame = float(point.co.x)
                reported[frame] = word if reported.get(frame, word) == word else "mixed"
        return reported

    def set_interpolation(
        self, name: str, component: str, frame: float, interpolation: str
    ) -> None:
        obj = find(name)
        refuse_linked(obj)
        self._changes.touch()
        own_action(obj)
        for curve in _curves(obj, component):
            for point in curve.keyframe_points:
                if abs(point.co.x - frame) < 1e-3:
                    point.interpolation = _INTERPOLATIONS[interpolation]
            curve.update()
        obj.update_tag(refresh={"TIME"})

    def keys(self, name: str) -> list[Json]:
        obj = find(name)
        curves = transforms.curves_of_transform(obj)
        keyed: dict[float, set[str]] = {}
        for curve in curves:
            for point in curve.keyframe_points:
                keyed.setdefault(float(point.co.x), set()).add(
                    transforms.COMPONENTS[curve.data_path]
                )
        answer: list[Json] = []
        for frame in sorted(keyed):
            values = transforms.local_at(obj, curves, frame)
            answer.append({"frame": frame, **{c: values[c] for c in values if c in keyed[frame]}})
        return answer

    def others(self, name: str) -> Json:
        """Return the object's action, what shares that, and what else of the object has keys than
        its transform. Strips that don't play are among that, with the reason."""
        obj = find(name)
        parts = dict(driven_parts(obj))
        own = {curve.data_path for curve in transforms.curves_of_transform(obj)}
        others = {
            of: {"of": of, "keys": len(each["frames"]), **each, "frames": _first(each["frames"])}
            for of, each in motion_of(obj.name_full, parts).items()
            if of not in own and each["frames"]
        }
        for each in strips_json(parts):
            if not each["plays"]:
                before = "" if each["of"] == obj.name_full else f"{each['of']}: "
                silent = {key: each[key] for key in ("frames", "action", "track", "why")}
                of = f"{before}strip {each['strip']}"
                others[of] = {"of": of, "keys": 2, **silent}
        action = obj.animation_data.action if obj.animation_data is not None else None
        answer: Json = {} if action is None else {"action": action.name_full}
        if shared := sharers(obj):
            answer["shared_by"] = shared
        return {**answer, "others": [*others.values()]} if others else answer

    def animated(self) -> Iterator[Json | None]:
        """Yield the motion of the objects whose own values, data, shape keys or materials have keys
        or strips. Then yield the motion of other animated data, such as worlds and scenes. Yield
        None after each object."""
        seen: set[Any] = set()
        for name in paths():
            with suppress(LookupError):  # The object may be gone by now.
                obj = find(name)
                parts = dict(driven_parts(obj))
                seen.update(parts)
                yield motion_json(obj.name_full, parts)
            yield None
        for kind in ("scenes", "worlds", "node_groups"):
            for block in getattr(bpy.data, kind):
                for part in {block, getattr(block, "node_tree", None)} - {None, *seen}:
                    yield motion_json(block.name_full, {part: block})

    def set_key(
        self,
        name: str,
        frame: float,
        translate: Vector | None,
        rotate: Vector | None,
        scale: Vector | None,
    ) -> str:
        obj = find(name)
        refuse_linked(obj)
        asked = {"location": translate, "rotation": rotate, "scale": scale}
        _refuse_mixed(obj, tuple(key for key, value in asked.items() if value is not None))
        self._changes.touch()
        transforms.write_channels(obj, translate, rotate, scale)
        own_action(obj)
        for channel, value in (
            ("location", translate),
            (transforms.rotation_channel(obj), rotate),
            ("scale", scale),
        ):
            if value is not None:
                insert(obj, channel, frame)
        # The keys determine the value at the current frame.
        obj.update_tag(refresh={"TIME"})
        return str(obj.name_full)

    def delete_keys(self, name: str, start: float, end: float) -> int:
        obj = find(name)
        refuse_linked(obj)
        doomed = [
            (curve.data_path, curve.array_index, float(point.co.x))
            for curve in transforms.curves_of_transform(obj)
            for point in curve.keyframe_points
            if start <= point.co.x <= end
        ]
        if not doomed:
            return 0
        self._changes.touch()
        own_action(obj)
        for channel, index, frame in doomed:
            try:
                obj.keyframe_delete(channel, index=index, frame=frame)
            except (RuntimeError, TypeError) as error:
                raise HostError(f"Blender could not delete keys of '{obj.name}': {error}") from None
        obj.update_tag(refresh={"TIME"})
        return len({frame for _, _, frame in doomed})

    def bake(self, names: Sequence[str], start: int, end: int, step: int) -> list[str]:
        """Bake the motion, and remove what moved the objects: constraints, drivers, and the keys
        inside the range. Keys outside the range stay."""
        baked = {(obj := find(name)).name_full: obj for name in names}
        for obj in baked.values():
            refuse_linked(obj)
        self._changes.touch()
        bake(list(baked.values()), range(start, end + 1, step))
        return list(baked)


def _range_fields(shown: bpy.types.Scene) -> tuple[str, str]:
    """Return the names of the fields with the playback range, or with the preview range if that is
    on."""
    if shown.use_preview_range:
        return "frame_preview_start", "frame_preview_end"
    return "frame_start", "frame_end"


def _curves(obj: bpy.types.Object, component: str | None) -> list[Any]:
    curves = transforms.curves_of_transform(obj)
    if component is None:
        return curves
    return [each for each in curves if transforms.COMPONENTS[each.data_path] == component]


def _first(frames: Iterable[float]) -> list[float]:
    return sorted(frames)[:_MOST_FRAMES]


def _refuse_mixed(obj: bpy.types.Object, channels: tuple[str, ...]) -> None:
    """Raise HostError when keys alone wouldn't determine the result."""
    for driver in drivers_of(obj):
        if driver.data_path.removeprefix("delta_").startswith(channels):
            raise HostError(
                f"a driver sets {driver.data_path} of '{obj.name}', so keys have no effect; bake"
                " the object first"
            )
    data = obj.animation_data
    mixed = data is not None and (data.action_blend_type != "REPLACE" or data.action_influence < 1)
    if mixed and any(curve.data_path.startswith(TRANSFORM) for curve in strip_curves_of(obj)):
        raise HostError(
            f"strips of the non-linear animation move '{obj.name}', and keys would mix with them;"
            " ask the artist to mute its tracks, or to let its action replace them"
        )
