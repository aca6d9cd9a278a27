"""Compares the vertex groups of meshes with the bones of armatures, and renames the groups."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import bpy

from callboard.errors import HostError, WrongArgument
from callboard.host import Json
from callboard_blender.parts.constraints import constraints_of

_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![a-z])|\d+|[^\w\s.-]")
_SIDES = {"l": "l", "left": "l", "r": "r", "right": "r"}


class Weights(NamedTuple):
    """``used``: the names of the groups with weights. ``stray``: the number of vertices with
    weights only for groups that no bone has. ``bare``: the number of vertices without weights."""

    used: set[str]
    stray: int
    bare: int


def deforming(rig: bpy.types.Object) -> set[str]:
    """Return the names of the armature's bones that deform meshes."""
    return {each.name for each in rig.data.bones if each.use_deform}


def bindings(obj: bpy.types.Object) -> list[Any]:
    """Return the object's armature modifiers."""
    return [each for each in obj.modifiers if each.type == "ARMATURE"]


def bones_of(obj: bpy.types.Object) -> set[str]:
    """Return the names of the bones of all armatures that the object's modifiers name."""
    return {bone for rig in rigs_of(obj) for bone in deforming(rig)}


def rigs_of(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Return the armatures that the object's modifiers name."""
    return [each.object for each in bindings(obj) if each.object is not None]


def weights_of(obj: bpy.types.Object, bones: set[str], step: int = 1) -> Weights:
    """Read the weights of each ``step``-th vertex."""
    names = {each.index: each.name for each in obj.vertex_groups}
    used: set[str] = set()
    stray = bare = 0
    for number in range(0, len(obj.data.vertices), step):
        groups = obj.data.vertices[number].groups
        here = {names[each.group] for each in groups if each.weight > 0 and each.group in names}
        used |= here
        bare += not here
        stray += bool(here) and here.isdisjoint(bones)
    return Weights(used, stray, bare)


def alike(groups: Iterable[str], bones: set[str]) -> dict[str, str]:
    """Map groups that no bone has to the bone with the same words and side, such as ``UpperArm_L``
    to ``upper_arm.L``. Ambiguous names, and bones that have a group, are left out."""
    names = set(groups)
    spelled: dict[tuple[str, frozenset[str]], list[set[str]]] = {}
    for number, each in enumerate((names - bones, bones)):
        for name in each:
            spelled.setdefault(_words(name), [set(), set()])[number].add(name)
    pairs = (each for each in spelled.values() if len(each[0]) == len(each[1]) == 1)
    similar = {old: new for (old,), (new,) in pairs if new not in names}
    return dict(sorted(similar.items()))


def _words(name: str) -> tuple[str, frozenset[str]]:
    """Return the name in lower case without separators, prefixes and sides, and its sides."""
    plain = re.sub(r"^(.*:|DEF-)", "", name)
    words = [each.lower() for each in _WORD.findall(plain)]
    sides = frozenset(_SIDES[each] for each in words if each in _SIDES)
    return "".join(each for each in words if each not in _SIDES) or plain, sides


def unmatched(obj: bpy.types.Object, bones: set[str], names: Iterable[str]) -> list[Json]:
    """Return those of the groups ``names`` that none of ``bones`` has and no modifier uses, each
    with the bone whose name is alike. ``why`` says that a bone has the name, but doesn't deform."""
    similar = alike((each.name for each in obj.vertex_groups), bones)
    kept = {getattr(holder, key) for holder, key in _mentions(obj)}
    there = {name for rig in rigs_of(obj) for name in rig.data.bones.keys()}  # noqa: SIM118
    strays: list[Json] = []
    for name in sorted(set(names) - bones - kept):
        entry = {"group": name, **({"alike": similar[name]} if name in similar else {})}
        if name in there:
            entry["why"] = f"the bone '{name}' doesn't deform (use_deform is off)"
        strays.append(entry)
    return strays


def can_rename(obj: bpy.types.Object) -> bool:
    """Return whether this file keeps the names of the groups, which belong to the mesh."""
    return obj.data.library is None and obj.data.override_library is None


def rename_groups(obj: bpy.types.Object, names: Mapping[str, str], bones: set[str]) -> list[str]:
    """Give vertex groups the names of bones, also where modifiers, shape keys and constraints name
    the groups. Return the other objects with this mesh, which has the groups. Raise WrongArgument
    before any change if a name can't be used."""
    there = {each.name for each in obj.vertex_groups}
    for old, new in names.items():
        if old not in there:
            known = ", ".join(sorted(there)[:50]) or "none"
            raise WrongArgument(f"'{obj.name}' has no vertex group '{old}'; it has: {known}")
        if new not in bones:
            known = ", ".join(sorted(bones)[:50]) or "none"
            raise WrongArgument(
                f"'{new}' isn't a deforming bone of the armature; those are: {known}"
            )
        if new in there or list(names.values()).count(new) > 1:
            raise WrongArgument(
                f"'{new}' can't be the name of '{old}': another group has that name"
            )
    sharing = [each for each in bpy.data.objects if each.data == obj.data]
    for old, new in names.items():
        obj.vertex_groups[old].name = new
        if new not in obj.vertex_groups or old in obj.vertex_groups:
            raise HostError(f"Blender did not rename the vertex group '{old}' to '{new}'")
    for each in sharing:
        for holder, key in _mentions(each):
            setattr(holder, key, names.get(getattr(holder, key), getattr(holder, key)))
    for each in bpy.data.objects:
        for one, _ in constraints_of(each):
            if getattr(one, "target", None) in sharing and getattr(one, "subtarget", "") in names:
                one.subtarget = names[one.subtarget]
    return sorted(each.name_full for each in sharing if each != obj)


def _mentions(obj: bpy.types.Object) -> Iterator[tuple[Any, str]]:
    """Yield what names a vertex group of the object, such as a modifier, with the property."""
    keys = getattr(obj.data, "shape_keys", None)
    parts = [*obj.modifiers, *obj.particle_systems, *(keys.key_blocks if keys else ())]
    for kind in ("settings", "collision_settings", "flow_settings"):
        parts += [getattr(each, kind) for each in obj.modifiers if hasattr(each, kind)]
    for each in parts:
        for prop in each.bl_rna.properties if each is not None else ():
            key = prop.identifier
            if prop.type == "STRING" and "vertex_group" in key and getattr(each, key):
                yield each, key
