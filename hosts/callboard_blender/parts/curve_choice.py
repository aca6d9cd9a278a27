"""Chooses animation curves: those that move an object now, or those of an action that is named,
whether or not anything plays it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import bpy

from callboard.errors import HostError
from callboard_blender.application.names import find
from callboard_blender.parts.curves import bags_of, curves_of, driven_parts, has, has_slots
from callboard_blender.parts.drivers import drives_of, is_named


class Which(NamedTuple):
    """A choice of curves: those of an object that have these names or belong to these bones, or
    all. ``action`` and ``slot`` name another action than the active ones. ``missing`` keeps only
    curves whose bone or property the object doesn't have."""

    name: str
    curves: Sequence[str] = ()
    bones: Sequence[str] = ()
    action: str | None = None
    slot: str | None = None
    missing: bool = False


class Channel(NamedTuple):
    """A curve, with the part of the object whose value it sets, and the name in lists."""

    part: bpy.types.ID
    label: str
    curve: Any

    @property
    def missing(self) -> bool:
        """Return whether the part doesn't have this value, such as when there is no such bone."""
        if not has(self.part, self.curve.data_path):
            return True
        value = self.part.path_resolve(self.curve.data_path)
        several = hasattr(value, "__len__") and not isinstance(value, (str, set))
        return bool(self.curve.array_index >= (len(value) if several else 1))


class _Slot(NamedTuple):
    """A holder of curves in an action. Up to Blender 4.3, that is the action itself."""

    name: str
    kind: str
    users: Sequence[Any]
    curves: Any


def channels(which: Which, action: Any, with_materials: bool) -> list[Channel]:
    """Return all curves of the object, in its active actions or in ``action``."""
    obj = find(which.name)
    own = (obj, obj.data, getattr(obj.data, "shape_keys", None))
    parts = dict(driven_parts(obj))
    held: Iterable[tuple[Any, Any]] = ((part, curves_of(part)) for part in parts)
    if action is not None:
        held = _held(obj, [*parts], action, which.slot)
    listed = []
    for part, curves in held:
        if part in own or with_materials or action is not None:
            before = "" if part == obj else f"{parts[part].name_full}: "
            listed += [Channel(part, before + drives_of(each, part), each) for each in curves]
    return listed


def choose(which: Which, action: Any, with_materials: bool) -> list[Channel]:
    """Return the curves that are meant. Raises HostError if a name fits none."""
    obj, known = find(which.name), channels(which, action, with_materials)
    if which.bones:
        known = _of_bones(obj, known, which.bones)
    if which.missing:
        known = [each for each in known if each.missing]
    if not which.curves:
        return known
    labels: set[str] = set()
    for name in which.curves:
        fits = {each.label for each in known if _is_called(name, each)}
        if not fits:
            raise HostError(
                f"'{obj.name}' has no curve '{name}'; {_listed(e.label for e in known)}"
            )
        labels |= fits
    return [each for each in known if each.label in labels]


def _of_bones(
    obj: bpy.types.Object, known: Sequence[Channel], bones: Sequence[str]
) -> list[Channel]:
    fitting: list[Channel] = []
    for bone in bones:
        start = f'pose.bones["{bpy.utils.escape_identifier(bone)}"]'
        there = [each for each in known if each.curve.data_path.startswith(start)]
        if not there and bone not in (obj.pose.bones if obj.pose else {}):
            names = obj.pose.bones.keys() if obj.pose else ()
            raise HostError(f"'{obj.name}' has no bone '{bone}'; {_listed(names)}")
        fitting += there
    return fitting


def _is_called(name: str, each: Channel) -> bool:
    """Return whether ``name`` is the curve's label, with or without the index."""
    before = each.label[: each.label.rindex(each.curve.data_path)]
    return name.startswith(before) and is_named(each.curve, name[len(before) :])


def _listed(names: Iterable[str]) -> str:
    there = list(names)
    more = f" and {len(there) - 20} more" if len(there) > 20 else ""
    return f"it has: {', '.join(there[:20])}{more}" if there else "it has none"


def _held(
    obj: bpy.types.Object, parts: Sequence[Any], action: Any, named: str | None
) -> Iterator[tuple[Any, Any]]:
    """Return the parts of the object that the action's slots are for, with the curves in these.
    Raises HostError if there is none, or the slot that is ``named`` isn't among them."""
    slots = [each for each in _slots(action, parts) if named in (None, each.name)]
    there = ", ".join(f"{each.name} ({each.kind.lower()})" for each in _slots(action, parts))
    if named is not None and not slots:
        raise HostError(f"'{action.name}' has no slot '{named}' with channels; it has: {there}")
    held = []
    for slot in slots:
        alone = [each.kind for each in slots].count(slot.kind) == 1
        if (part := _part_of(slot, obj, parts, alone)) is not None:
            held.append((part, slot.curves))
    if slots and not held:
        raise HostError(
            f"no slot of '{action.name}' is clearly for '{obj.name}'; give slot, which is one of:"
            f" {there}"
        )
    return iter(held)


def _slots(action: Any, parts: Sequence[Any]) -> list[_Slot]:
    if has_slots(action):
        slots = [(bag.slot, bag.fcurves) for bag in bags_of(action)]
        return [
            _Slot(one.name_display, one.target_id_type, one.users(), curves)
            for one, curves in slots
        ]
    users = [each for each in parts if each.animation_data and each.animation_data.action == action]
    return [_Slot(action.name, action.id_root or "OBJECT", users, action.fcurves)]


def _part_of(slot: _Slot, obj: bpy.types.Object, parts: Sequence[Any], alone: bool) -> Any:
    """Return the part of the object that the slot is for, or None. It uses the slot, has its name,
    or is the only one of its kind."""
    if slot.kind == "UNSPECIFIED":
        return obj if alone else None
    fitting = [each for each in parts if slot.kind in _kinds(each)]
    own = [each for each in fitting if each in slot.users or each.name == slot.name]
    if own or (alone and len(fitting) == 1):
        return (own or fitting)[0]
    return None


def _kinds(part: Any) -> set[str]:
    """Return the words that name the kind of data in slots, such as LIGHT of a point light."""
    kinds = (each for each in type(part).__mro__ if issubclass(each, bpy.types.ID))
    return {each.__name__.upper() for each in kinds}


def labels_of(listed: Iterable[Channel]) -> dict[str, Any]:
    """Return the curves by the names in lists."""
    return {each.label: each.curve for each in listed}
