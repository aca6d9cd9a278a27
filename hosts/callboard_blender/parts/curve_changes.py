"""Changes to whole animation curves: their modifiers, and all of their keys at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import bpy

from callboard.errors import HostError
from callboard.host import Json
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.linked_data import refuse_linked
from callboard_blender.application.names import find, forget, view_layer
from callboard_blender.parts.curve_keys import blenders_word
from callboard_blender.parts.curves import curves_of, driven_parts, own_action
from callboard_blender.parts.drivers import drives_of, is_named
from callboard_blender.parts.property_values import converted, plain

#: What every modifier has, but nobody sets.
_INNER = ("rna_type", "type", "show_expanded", "active", "is_valid")


class CurveChanges:
    def __init__(self, changes: SceneChanges) -> None:
        self._changes = changes

    def named(self, name: str) -> dict[str, Any]:
        """Return the curves of the object, its data, shape keys and materials, by name."""
        return {label: curve for _, label, curve in _curves(find(name), True)}

    def chosen(self, name: str, curves: Sequence[str], bones: Sequence[str]) -> dict[str, Any]:
        """Return these curves of the object, or those of these bones, or all, by name."""
        obj = find(name)
        _refuse_unknown_bones(obj, bones)
        named = self.named(name)
        if not curves and not bones:
            return named
        labels = _fitting(obj, curves, bones, with_materials=True)
        return {label: each for label, each in named.items() if label in labels}

    def set_interpolation(
        self,
        name: str,
        curves: Sequence[str],
        bones: Sequence[str],
        interpolation: str,
        start: float,
        end: float,
    ) -> list[str]:
        """Set the interpolation of the keys from ``start`` to ``end``. Return the names of the
        curves that have such keys."""
        chosen = self._chosen(name, curves, bones)
        keyed = {
            label: points
            for label, each in chosen.items()
            if (points := [one for one in each.keyframe_points if start <= one.co.x <= end])
        }
        if not keyed:
            raise HostError(f"these curves of '{name}' have no keys there")
        for label, points in keyed.items():
            for point in points:
                point.interpolation = blenders_word(interpolation)
            chosen[label].update()
        return self._changed(name, {label: chosen[label] for label in keyed})

    def parts(self, name: str) -> dict[Any, Any]:
        """Return what of the object can be animated, with the datablock that it belongs to."""
        return dict(driven_parts(find(name)))

    def add_modifier(
        self, name: str, curves: Sequence[str], bones: Sequence[str], kind: str, values: Json
    ) -> list[str]:
        """Add a modifier to each of these curves, or to all curves of the object. Return the
        names of the curves."""
        chosen = self._chosen(name, curves, bones)
        known = [
            each.identifier.lower()
            for each in bpy.types.FModifier.bl_rna.properties["type"].enum_items
            if each.identifier != "NULL"
        ]
        if kind not in known:
            raise HostError(f"there is no modifier '{kind}'; there are: {', '.join(known)}")
        for label, curve in chosen.items():
            made = curve.modifiers.new(kind.upper())
            if made is None:
                raise HostError(
                    f"Blender can't add '{kind}' to '{label}'; cycles can only be the first of a"
                    " curve's modifiers"
                )
            _set(made, kind, values)
            curve.update()
        return self._changed(name, chosen)

    def set_modifier(
        self,
        name: str,
        curves: Sequence[str],
        bones: Sequence[str],
        kind: str,
        number: int | None,
        values: Json,
    ) -> list[str]:
        chosen = self._chosen(name, curves, bones)
        holding = _holding(chosen, kind, number, bool(curves))
        for label, each in holding.items():
            _set(each, kind, values)
            chosen[label].update()
        return self._changed(name, holding)

    def remove_modifier(
        self, name: str, curves: Sequence[str], bones: Sequence[str], kind: str, number: int | None
    ) -> list[str]:
        chosen = self._chosen(name, curves, bones)
        holding = _holding(chosen, kind, number, bool(curves))
        for label, each in holding.items():
            chosen[label].modifiers.remove(each)
            chosen[label].update()
        return self._changed(name, holding)

    def move_keys(
        self,
        name: str,
        curves: Sequence[str],
        bones: Sequence[str],
        offset: float,
        scale: float,
        pivot: float | None,
    ) -> Json:
        """Scale the times of all keys of these curves about the frame ``pivot``, or about the first
        key, and then add ``offset``. Without ``curves`` or ``bones``, these are all curves of the
        object, its data and its shape keys. Return ``{curves, keys, was, now, pivot}``. ``was`` and
        ``now`` are the first and the last frame."""
        chosen = self._chosen(name, curves, bones)
        keyed = {label: each for label, each in chosen.items() if len(each.keyframe_points)}
        before = {label: frames_of(each) for label, each in keyed.items()}
        frames = [frame for each in before.values() for frame in each]
        if not frames:
            raise HostError(f"'{name}' has no such keys")
        about = min(frames) if pivot is None else pivot
        for each in keyed.values():
            for part in ("co", "handle_left", "handle_right"):
                flat = [0.0] * (2 * len(each.keyframe_points))
                each.keyframe_points.foreach_get(part, flat)
                flat[::2] = [about + (x - about) * scale + offset for x in flat[::2]]
                each.keyframe_points.foreach_set(part, flat)
            each.update()
        self._changed(name, keyed)
        for label, each in keyed.items():
            wanted = [about + (x - about) * scale + offset for x in before[label]]
            if any(abs(a - b) > 1e-2 for a, b in zip(wanted, frames_of(each), strict=True)):
                raise HostError(f"Blender didn't move the keys of '{label}' as asked")
        now = [frame for each in keyed.values() for frame in frames_of(each)]
        return {
            "curves": list(keyed),
            "keys": len(frames),
            "was": [min(frames), max(frames)],
            "now": [min(now), max(now)],
            "pivot": about,
        }

    def _chosen(self, name: str, curves: Sequence[str], bones: Sequence[str]) -> dict[str, Any]:
        """Return the curves by name, to be changed. Their actions belong to nothing else then."""
        obj = find(name)
        refuse_linked(obj)
        _refuse_unknown_bones(obj, bones)
        # A material's keys change only if they are named, because other objects may have it.
        labels = _fitting(obj, curves, bones, with_materials=bool(curves))
        parts = {part for part, label, _ in _curves(obj, True) if label in labels}
        for part in parts:
            if part.library is not None:
                raise HostError(f"'{part.name_full}' comes from another file; change it there")
        self._changes.touch()
        for part in parts:
            own_action(part)
        return {label: curve for _, label, curve in _curves(obj, True) if label in labels}

    def _changed(self, name: str, curves: Mapping[str, Any]) -> list[str]:
        obj = find(name)
        for part, label, _ in _curves(obj, True):
            if label in curves:
                part.update_tag()
        obj.update_tag(refresh={"TIME"})
        view_layer().update()
        forget()
        return list(curves)


def curve_json(label: str, curve: Any) -> Json:
    """Return ``{curve, keys, frames?, extrapolation, modifiers, muted?}``. ``frames`` are the first
    and the last frame with a key."""
    frames = frames_of(curve)
    return {
        "curve": label,
        "keys": len(frames),
        **({"frames": [frames[0], frames[-1]]} if frames else {}),
        "extrapolation": curve.extrapolation.lower(),
        "modifiers": [modifier_json(each) for each in curve.modifiers],
        **({"muted": True} if curve.mute else {}),
    }


def modifier_json(each: Any) -> Json:
    values = {key: plain(getattr(each, key)) for key in _settable(each)}
    return {"type": each.type.lower(), **values}


def frames_of(curve: Any) -> list[float]:
    flat = [0.0] * (2 * len(curve.keyframe_points))
    curve.keyframe_points.foreach_get("co", flat)
    return flat[::2]


def _curves(obj: bpy.types.Object, with_materials: bool) -> list[tuple[Any, str, Any]]:
    """Return each curve with the part of the object that it belongs to, and with its name."""
    listed = []
    for part, holder in driven_parts(obj):
        own = part in (obj, obj.data, getattr(obj.data, "shape_keys", None))
        if own or with_materials:
            before = "" if part == obj else f"{holder.name_full}: "
            listed += [(part, before + drives_of(each, part), each) for each in curves_of(part)]
    return listed


def _fitting(
    obj: bpy.types.Object, names: Sequence[str], bones: Sequence[str], with_materials: bool
) -> set[str]:
    known = {label: curve for _, label, curve in _curves(obj, with_materials)}
    starts = tuple(f'pose.bones["{bpy.utils.escape_identifier(each)}"]' for each in bones)
    if starts:
        known = {label: each for label, each in known.items() if each.data_path.startswith(starts)}
    chosen = set()
    for name in names:
        fits = {label for label, each in known.items() if _is_called(name, label, each)}
        if not fits:
            raise HostError(f"'{obj.name}' has no curve '{name}'; {_listed(known)}")
        chosen |= fits
    if not names:
        chosen = set(known)
    if not chosen:
        raise HostError(f"'{obj.name}' has no such curves; blender_animation__list_curves lists it")
    return chosen


def _is_called(name: str, label: str, curve: Any) -> bool:
    """Return whether ``name`` is the curve's label, with or without the index."""
    before = label[: label.rindex(curve.data_path)]
    return name.startswith(before) and is_named(curve, name[len(before) :])


def _listed(names: Mapping[str, Any]) -> str:
    shown = ", ".join(list(names)[:20])
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return f"it has: {shown}{more}" if names else "it has none"


def _refuse_unknown_bones(obj: bpy.types.Object, bones: Sequence[str]) -> None:
    known = obj.pose.bones if obj.pose else {}
    for each in bones:
        if each not in known:
            raise HostError(
                f"'{obj.name}' has no bone '{each}'; {_listed(dict.fromkeys(known.keys()))}"
            )


def _holding(
    curves: Mapping[str, Any], kind: str, number: int | None, all_of_them: bool
) -> dict[str, Any]:
    """Return the modifier of this type of each curve that has it, by the curve's name. ``number``
    is its place among the curve's modifiers, from 0."""
    holding: dict[str, Any] = {}
    for label, curve in curves.items():
        fits = [
            each
            for at, each in enumerate(curve.modifiers)
            if each.type.lower() == kind and number in (None, at)
        ]
        if len(fits) > 1:
            raise HostError(f"'{label}' has several modifiers of the type {kind}; give number")
        if fits:
            holding[label] = fits[0]
        elif all_of_them:
            there = ", ".join(each.type.lower() for each in curve.modifiers) or "none"
            raise HostError(f"'{label}' has no such modifier '{kind}'; it has: {there}")
    if not holding:
        raise HostError(f"none of these curves has such a modifier '{kind}'")
    return holding


def _settable(each: Any) -> list[str]:
    return [
        prop.identifier
        for prop in each.bl_rna.properties
        if prop.identifier not in _INNER
        and prop.type not in ("POINTER", "COLLECTION")
        and not prop.is_readonly
    ]


def _set(each: Any, kind: str, values: Json) -> None:
    known = _settable(each)
    for key, value in values.items():
        if key not in known:
            raise HostError(f"a {kind} modifier has no '{key}'; it has: {', '.join(known)}")
        rna = each.bl_rna.properties[key]
        try:
            setattr(each, key, converted(value, each, key, rna, key))
        except (TypeError, ValueError) as error:
            raise HostError(f"Blender can't set '{key}': {error}") from None
