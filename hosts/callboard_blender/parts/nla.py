"""Changes to the non-linear animation: its tracks and strips, and the active action beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import bpy

from callboard.errors import HostError, WrongArgument
from callboard.host import Json
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.linked_data import refuse_linked
from callboard_blender.application.names import forget, view_layer
from callboard_blender.parts.data_blocks import DataBlocks

#: What can be set of a track, of a strip, and of the active action with the animation around it.
_OF_TRACK = ("mute", "solo")
_OF_STRIP = (
    *("mute", "influence", "blend", "extrapolation", "slot"),
    *("start", "scale", "repeat", "action_frames"),
)
_OF_ACTIVE = ("nla", "influence", "blend", "extrapolation", "slot")
#: Blender's names of those that are set as they are, of a strip and of the active action.
_STRIP_NAMES = {"blend": "blend_type", "start": "frame_start_ui"}
_ACTIVE_NAMES = {
    "nla": "use_nla",
    "influence": "action_influence",
    "blend": "action_blend_type",
    "extrapolation": "action_extrapolation",
}


class NlaChanges:
    def __init__(self, changes: SceneChanges, blocks: DataBlocks) -> None:
        self._changes = changes
        self._blocks = blocks

    def set(
        self, kind: str, name: str, track: str | None, strip: str | None, values: Json
    ) -> tuple[bpy.types.ID, Any, Any]:
        """Set values of a track, of a strip in it or, without a track, of the active action. Return
        the datablock that is animated, the track or None, and the strip or None."""
        block = self._blocks.find(kind, name)
        part, there = _animated(block, track)
        inside = None if strip is None else _strip(there, strip)
        _refuse_unfit(values, track, strip)
        _refuse_foreign(part, there)
        self._changes.touch()
        others = {} if there is None else _frames(there.strips, inside)
        for key, value in values.items():
            if inside is not None:
                _set_of_strip(inside, key, value)
            elif there is not None:
                setattr(there, "is_solo" if key == "solo" else key, value)
            else:
                _set(part.animation_data, _ACTIVE_NAMES.get(key, key), value)
        part.update_tag(**({"refresh": {"TIME"}} if isinstance(part, bpy.types.Object) else {}))
        view_layer().update()
        forget()
        if there is not None and _frames(there.strips, inside) != others:
            raise HostError(
                "there is no room for it among the track's other strips, which it moved"
            )
        return part, there, inside


def track_json(track: Any) -> Json:
    return {"track": track.name, "mute": track.mute, "solo": track.is_solo}


def strip_json(strip: Any) -> Json:
    """Return the values that can be set of a strip. ``frames`` is where it lies."""
    return {
        "strip": strip.name,
        "mute": strip.mute,
        "frames": [strip.frame_start, strip.frame_end],
        "start": strip.frame_start,
        "scale": strip.scale,
        "repeat": strip.repeat,
        "action_frames": [strip.action_frame_start, strip.action_frame_end],
        "influence": _influence(strip) if strip.use_animated_influence else None,
        "blend": strip.blend_type.lower(),
        "extrapolation": strip.extrapolation.lower(),
        "slot": _slot_of(strip),
    }


def active_json(animation: Any) -> Json:
    return {
        "action": animation.action.name_full if animation.action else None,
        "nla": animation.use_nla,
        "influence": animation.action_influence,
        "blend": animation.action_blend_type.lower(),
        "extrapolation": animation.action_extrapolation.lower(),
        "slot": _slot_of(animation),
    }


def _animated(block: Any, track: str | None) -> tuple[Any, Any]:
    """Return the datablock whose animation data has the track, and the track. Without a track,
    return the first with an action."""
    animated = [each for each in _parts(block) if getattr(each, "animation_data", None) is not None]
    if not animated:
        raise HostError(f"'{block.name_full}' isn't animated")
    if track is None:
        return next((each for each in animated if each.animation_data.action), animated[0]), None
    fitting = [
        (part, each)
        for part in animated
        for each in part.animation_data.nla_tracks
        if each.name == track
    ]
    if len(fitting) != 1:
        names = [each.name for part in animated for each in part.animation_data.nla_tracks]
        count = "several tracks" if fitting else "no track"
        raise HostError(f"'{block.name_full}' has {count} '{track}'; {_listed(names)}")
    return fitting[0]


def _parts(block: Any) -> Iterator[Any]:
    """Yield what has its own animation data, without an object's materials."""
    data = block.data if isinstance(block, bpy.types.Object) else None
    yield block
    yield from (each for each in (data, getattr(data or block, "shape_keys", None)) if each)
    if (tree := getattr(block, "node_tree", None)) is not None:
        yield tree


def _strip(track: Any, name: str) -> Any:
    if track is None:
        raise WrongArgument("give the strip's track too")
    fitting = [each for each in _inside(track.strips) if each.name == name]
    if len(fitting) != 1:
        names = [each.name for each in _inside(track.strips)]
        count = "several strips" if fitting else "no strip"
        raise HostError(f"the track '{track.name}' has {count} '{name}'; {_listed(names)}")
    return fitting[0]


def _inside(strips: Any) -> Iterator[Any]:
    for each in strips:
        yield each
        yield from _inside(each.strips)


def _listed(names: Sequence[str]) -> str:
    return f"it has: {', '.join(names[:50])}" if names else "it has none"


def _refuse_unfit(values: Mapping[str, Any], track: str | None, strip: str | None) -> None:
    kind = "a strip" if strip else "a track" if track else "the active action"
    known = _OF_STRIP if strip else _OF_TRACK if track else _OF_ACTIVE
    if unfit := [key for key in values if key not in known]:
        more = "" if strip else "; give strip for more" if track else "; give track for more"
        raise WrongArgument(f"of {kind}, give {', '.join(known)}, not {', '.join(unfit)}{more}")


def _refuse_foreign(part: Any, track: Any) -> None:
    if isinstance(part, bpy.types.Object):
        refuse_linked(part)
    elif part.library is not None:
        raise HostError(f"'{part.name_full}' comes from another file; change it there")
    if part.animation_data.use_tweak_mode:
        raise HostError("the artist edits a strip's action now; ask to leave the tweak mode first")
    if part.override_library is not None and track is not None and track.is_override_data:
        raise HostError(
            f"the track '{track.name}' comes from another file, so a change would be lost when this"
            " file is opened again; change it there"
        )


def _frames(strips: Any, apart: Any) -> dict[str, tuple[float, float]]:
    return {each.name: (each.frame_start, each.frame_end) for each in strips if each != apart}


def _set_of_strip(strip: Any, key: str, value: Any) -> None:
    if key == "influence":
        strip.use_animated_influence = True
        points = _influence_keys(strip)
        if len(points) > 1:
            raise HostError(
                f"the influence of the strip '{strip.name}' has {len(points)} keys of its own; ask"
                " the artist to remove them first"
            )
        for point in points:
            point.co.y = value
        strip.influence = value
    elif key == "action_frames":
        strip.action_frame_end = value[1]
        strip.action_frame_start = value[0]
        strip.action_frame_end = value[1]
    else:
        _set(strip, _STRIP_NAMES.get(key, key), value)


def _set(user: Any, key: str, value: Any) -> None:
    if key == "slot":
        user.action_slot = slot = _slot(user, value)
        if user.action_slot != slot:
            raise HostError(f"Blender doesn't choose the slot '{value}'")
        return
    try:
        setattr(user, key, value.upper() if isinstance(value, str) else value)
    except (TypeError, AttributeError) as error:
        raise HostError(f"Blender can't set that: {error}") from None


def _slot(user: Any, name: str) -> Any:
    """Return the slot of the user's action with this name."""
    if user.action is None:
        raise HostError("there is no action whose slot could be chosen")
    if not hasattr(user, "action_slot"):
        raise HostError("actions have slots only since Blender 4.4")
    slots = list(user.action_suitable_slots)
    fitting = [each for each in slots if name in (each.name_display, each.identifier)]
    if len(fitting) != 1:
        fits = ", ".join(each.name_display for each in slots) or "none"
        raise HostError(
            f"'{user.action.name_full}' has no slot '{name}' that fits; these fit: {fits}"
        )
    return fitting[0]


def _slot_of(user: Any) -> str | None:
    slot = getattr(user, "action_slot", None)
    return None if slot is None else str(slot.name_display)


def _influence_keys(strip: Any) -> list[Any]:
    curves = [each for each in strip.fcurves if each.data_path == "influence"]
    return [point for each in curves for point in each.keyframe_points]


def _influence(strip: Any) -> float:
    """Return the influence of the strip. Blender computes the property itself from its keys."""
    points = _influence_keys(strip)
    return float(points[0].co.y if len(points) == 1 else strip.influence)
