"""Changes to whole animation curves: their modifiers, and all of their keys at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any

import bpy

from callboard.errors import HostError, WrongArgument
from callboard.host import Json
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.linked_data import refuse_linked
from callboard_blender.application.names import find, forget, view_layer
from callboard_blender.parts.actions import own_actions, used_by
from callboard_blender.parts.curve_choice import Channel, Which, channels, choose, labels_of
from callboard_blender.parts.curve_keys import blenders_word, put_keys
from callboard_blender.parts.curves import bags_of, driven_parts, has_slots, own_action
from callboard_blender.parts.data_blocks import DataBlocks
from callboard_blender.parts.property_values import converted, plain

#: What every modifier has, but nobody sets.
_INNER = ("rna_type", "type", "show_expanded", "active", "is_valid")

#: Where the first and the last key are in a list of keys.
_ENDS = {"first": 0, "last": -1}


class CurveChanges:
    def __init__(self, changes: SceneChanges, blocks: DataBlocks) -> None:
        self._changes = changes
        self._blocks = blocks

    def named(self, which: Which) -> dict[str, Any]:
        """Return all curves of the object or action, by name, with those of materials."""
        return labels_of(channels(which, self.action(which), with_materials=True))

    def chosen(self, which: Which) -> list[Channel]:
        """Return the curves that are meant, with those of materials."""
        return choose(which, self.action(which), with_materials=True)

    def action(self, which: Which) -> Any:
        """Return the action that is named, or None if the active ones are meant."""
        if which.action is None:
            if which.slot is not None:
                raise WrongArgument("slot belongs to an action; give action too")
            return None
        return self._blocks.find("actions", which.action)

    def change_json(self, which: Which, before: Mapping[bpy.types.ID, str]) -> Json:
        """Return ``{changed, own_actions?, used_by?}`` of a change: what uses the action that was
        named, or else what got its own. ``before`` are the active actions before the change."""
        if (action := self.action(which)) is None:
            return {"changed": [which.name], **own_actions(before)}
        return {"changed": [action.name_full], **used_by(action)}

    def set_interpolation(
        self,
        which: Which,
        interpolation: str,
        start: float,
        end: float,
    ) -> list[str]:
        """Set the interpolation of the keys from ``start`` to ``end``. Return the names of the
        curves that have such keys."""
        chosen = self._chosen(which)
        keyed = {
            label: points
            for label, each in chosen.items()
            if (points := [one for one in each.keyframe_points if start <= one.co.x <= end])
        }
        if not keyed:
            raise HostError(f"these curves of '{which.name}' have no keys there")
        for label, points in keyed.items():
            for point in points:
                point.interpolation = blenders_word(interpolation)
            chosen[label].update()
        return self._changed(which, {label: chosen[label] for label in keyed})

    def parts(self, name: str) -> dict[Any, Any]:
        """Return what of the object can be animated, with the datablock that it belongs to."""
        return dict(driven_parts(find(name)))

    def add_modifier(self, which: Which, kind: str, values: Json) -> list[str]:
        """Add a modifier to each of these curves, or to all curves of the object. Return the
        names of the curves."""
        chosen = self._chosen(which)
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
        return self._changed(which, chosen)

    def set_modifier(
        self,
        which: Which,
        kind: str,
        number: int | None,
        values: Json,
    ) -> list[str]:
        chosen = self._chosen(which)
        holding = _holding(chosen, kind, number, bool(which.curves))
        for label, each in holding.items():
            _set(each, kind, values)
            chosen[label].update()
        return self._changed(which, holding)

    def remove_modifier(self, which: Which, kind: str, number: int | None) -> list[str]:
        chosen = self._chosen(which)
        holding = _holding(chosen, kind, number, bool(which.curves))
        for label, each in holding.items():
            chosen[label].modifiers.remove(each)
            chosen[label].update()
        return self._changed(which, holding)

    def move_keys(
        self,
        which: Which,
        offset: float,
        scale: float,
        pivot: float | None,
    ) -> Json:
        """Scale the times of all keys of these curves about the frame ``pivot``, or about the first
        key, and then add ``offset``. Return ``{curves, keys, was, now, pivot}``. ``was`` and
        ``now`` are the first and the last frame."""
        chosen = self._chosen(which)
        keyed = {label: each for label, each in chosen.items() if len(each.keyframe_points)}
        before = {label: frames_of(each) for label, each in keyed.items()}
        frames = [frame for each in before.values() for frame in each]
        if not frames:
            raise HostError(f"'{which.name}' has no such keys")
        about = min(frames) if pivot is None else pivot
        for each in keyed.values():
            for part in ("co", "handle_left", "handle_right"):
                flat = [0.0] * (2 * len(each.keyframe_points))
                each.keyframe_points.foreach_get(part, flat)
                flat[::2] = [about + (x - about) * scale + offset for x in flat[::2]]
                each.keyframe_points.foreach_set(part, flat)
            each.update()
        self._changed(which, keyed)
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

    def set_keys(self, which: Which, keys: Sequence[Json]) -> tuple[str, Any]:
        """Set ``keys`` of one curve that is there. Return its name and the curve."""
        chosen = self._chosen(which)
        if len(chosen) > 1:
            raise WrongArgument(f"curve names several channels, so add an index: {[*chosen]}")
        ((label, curve),) = chosen.items()
        _refuse_locked(chosen)
        put_keys(curve, keys)
        self._changed(which, chosen)
        return label, curve

    def delete(self, which: Which, start: float, end: float) -> Json:
        """Delete the keys of these curves from ``start`` to ``end``, and the curves without keys
        then. Return ``{curves, removed, keys}``: the curves with such keys, those that are gone,
        and the number of keys."""
        chosen = self._chosen(which)
        _refuse_locked(chosen)
        holders = _holders(chosen.values())
        touched, removed, keys = [], [], 0
        for label, curve in chosen.items():
            points = curve.keyframe_points
            numbers = [at for at, x in enumerate(frames_of(curve)) if start <= x <= end]
            whole = len(numbers) == len(points)
            if not numbers and not (whole and start == -inf and end == inf):
                continue
            touched.append(label)
            keys += len(numbers)
            if whole:
                removed.append(label)
                _remove(holders[curve.as_pointer()], curve)
                continue
            for at in reversed(numbers):
                points.remove(points[at], fast=True)
            curve.update()
        if not touched:
            raise HostError(f"these curves of '{which.name}' have no keys there")
        self._changed(which, touched)
        return {"curves": touched, "removed": removed, "keys": keys}

    def copy_keys(self, which: Which, source: str | float, target: str | float) -> dict[str, Json]:
        """Give the key at ``target``, which is made if there is none, the value at ``source``: of
        the first or the last key, or at a frame. Handles keep their slopes. Return ``{frame, was?,
        value}`` by the curves' names."""
        chosen, told = self._chosen(which), {}
        _refuse_locked(chosen)
        for label, curve in chosen.items():
            frames = frames_of(curve)
            if not frames:
                continue
            value, frame = curve.evaluate(_frame(source, frames)), _frame(target, frames)
            if source in _ENDS:
                value = curve.keyframe_points[_ENDS[str(source)]].co.y
            at = next((at for at, x in enumerate(frames) if abs(x - frame) < 1e-3), None)
            told[label] = {"frame": frame, "value": value}
            if at is None:
                curve.keyframe_points.insert(frame, value)
            else:
                point = curve.keyframe_points[at]
                told[label]["was"] = float(point.co.y)
                point.co_ui.y = value
            curve.update()
        if not told:
            raise HostError(f"these curves of '{which.name}' have no keys")
        self._changed(which, told)
        return told

    def _chosen(self, which: Which) -> dict[str, Any]:
        """Return the curves by name, to be changed. Active actions belong to nothing else then.
        An action that is named stays the same for all that use it."""
        action = self.action(which)
        # A material's keys change only if they are named, because other objects may have it.
        with_materials = bool(which.curves)
        listed = choose(which, action, with_materials)
        if not listed:
            raise HostError(
                f"'{which.action or which.name}' has no such curves;"
                " blender_animation__list_curves lists them"
            )
        if action is not None:
            refuse_linked(action)
            self._changes.touch()
            return labels_of(listed)
        refuse_linked(find(which.name))
        parts = {each.part for each in listed}
        for part in parts:
            if part.library is not None:
                raise HostError(f"'{part.name_full}' comes from another file; change it there")
        self._changes.touch()
        for part in parts:
            own_action(part)
        labels = {each.label for each in listed}
        now = channels(which, action, with_materials)
        return labels_of(each for each in now if each.label in labels)

    def _changed(self, which: Which, curves: Iterable[str]) -> list[str]:
        obj, action = find(which.name), self.action(which)
        for part in driven_parts(obj) if action is None else [(action, action)]:
            part[0].update_tag()
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


def _refuse_locked(curves: Mapping[str, Any]) -> None:
    if locked := [label for label, each in curves.items() if each.lock]:
        raise HostError(f"locked: {', '.join(locked[:5])}; ask the artist to unlock that")


def _holders(curves: Iterable[Any]) -> dict[int, Any]:
    """Return what holds the curves in their actions, by the curves' addresses."""
    actions = {each.id_data for each in curves}
    held = [one for each in actions for one in (bags_of(each) if has_slots(each) else [each])]
    return {curve.as_pointer(): holder for holder in held for curve in holder.fcurves}


def _remove(holder: Any, curve: Any) -> None:
    """Remove a curve and, if that was all of it, its group."""
    group = curve.group.name if curve.group is not None else None
    holder.fcurves.remove(curve)
    # Blender itself removes groups of slots.
    left = holder.groups.get(group) if group is not None else None
    if left is not None and not len(left.channels):
        holder.groups.remove(left)


def _frame(place: str | float, frames: Sequence[float]) -> float:
    return frames[_ENDS[place]] if isinstance(place, str) else place


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
