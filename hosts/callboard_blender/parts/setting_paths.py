"""Finds a setting of a datablock by its path, such as ``hide_render``, ``modifiers["Bevel"].width``
or ``pose.bones["shin.L"].lock_ik_z``, and lists the paths that a datablock has. An object's data,
and the shape keys of a mesh, are reached through what has them, such as ``data.lens``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import bpy

from callboard.errors import HostError
from callboard.host import nearest_names

_STEP = re.compile(r'(?:(?:^|\.)([A-Za-z_]\w*)|\["([^"\\]{1,255})"\]|\[(\d{1,5})\])')
_NODES = "blender_nodes__read and blender_nodes__set read and set nodes"
#: Names that lead to what can't be read or set here, with the reason or what to do instead. Blender
#: 4.3 crashes when parts of `tool_settings` are read.
_TOOLS = {
    "drivers": "blender_data__list_drivers and blender_data__set_driver read and set drivers",
    "fcurves": "blender_animation__list_curves and animation__list_keys read curves",
    "nodes": _NODES,
    "links": _NODES,
    "cursor": "undo doesn't take the 3D cursor back",
    "interface": _NODES,
    "pixels": "a picture's pixels are data; viewport__look and render__still make pictures",
    "tool_settings": "undo doesn't take the tools' settings back",
    "node_tree": _NODES,
}
#: Names that lead to code, to other data, or to Blender's internal data.
_BARRED = {
    "asset_data",
    "bl_rna",
    "depsgraph",
    "exporters",
    "id_data",
    "keying_sets",
    "keying_sets_all",
    "library_weak_reference",
    "original",
    "override_library",
    "preview",
    "rna_type",
}
#: Datablocks that belong to the one above, by the property that leads to them.
_WITHIN = ("data", "shape_keys")
#: Lists whose entries have no names, but numbers from 0.
_NUMBERED = ("background_images", "elements", "splines", "targets")
#: What artists give custom properties, and what has inputs that are stored like them.
_CUSTOM = (
    bpy.types.ID,
    bpy.types.Modifier,
    bpy.types.PoseBone,
    bpy.types.Bone,
    bpy.types.ViewLayer,
)
#: What a setting can refer to besides datablocks, with the list that has it.
_CHOSEN = {
    "ActionSlot": "action_suitable_slots",
    "Bone": "bones",
    "PoseBone": "bones",
    "ShapeKey": "key_blocks",
}
#: Depth of the parts that are listed.
_DEEPEST = 6
_MOST_NAMED = 40


@dataclass(frozen=True)
class Place:
    """The location of a setting: ``key`` of ``owner``, and of a list of numbers perhaps only the
    one at ``index``. ``rna`` is Blender's description of it, or None for a custom property.
    ``path`` starts at ``holder``, the datablock that has the keys and drivers."""

    owner: Any
    key: str
    rna: Any
    path: str
    index: int | None = None

    @property
    def holder(self) -> Any:
        return self.owner.id_data


def place_of(block: bpy.types.ID, path: str) -> Place:
    """Return the location of the setting. Raises HostError."""
    steps = _steps(path)
    index = int(steps.pop()[2]) if steps[-1][2] and len(steps) > 1 else None
    owner: Any = block
    walked, at = "", 0
    while at < len(steps) - 1:
        word = steps[at][0]
        prop = _leading(owner, word, path)
        inner, at = getattr(owner, word), at + 1
        step = f"{walked}.{word}".removeprefix(".")
        if prop.type == "COLLECTION":
            inner, at = _entry(owner, word, inner, steps[at]), at + 1
            step = f"{step}{_written(steps[at - 1])}"
        if inner is None:
            raise HostError(f"'{_called(owner)}' has no {word}")
        if isinstance(inner, bpy.types.ID) and _is_within(owner, word, inner):
            step = ""
        elif inner.id_data != owner.id_data or isinstance(inner, bpy.types.ID):
            raise _separate(word, inner.id_data)
        owner, walked = inner, step
    if at == len(steps):
        raise HostError(f"'{path}' isn't a single value; name a value inside it")
    place = _last(owner, steps[at], walked, path)
    return place if index is None else _component(place, index, path)


def settings_of(block: bpy.types.ID, start: str = "") -> Iterator[tuple[str, Place]]:
    """Yield the path and the location of each setting: first the datablock's own, then those of its
    parts. Parts without settings whose paths begin with ``start``, in lower case, are left out."""
    blocks = list(_blocks(block))
    for before, each in blocks:
        yield from _own(each, before, "")
    for before, each in blocks:
        yield from _of_parts(each, before, "", start, _DEEPEST)


def is_setting(prop: Any) -> bool:
    """Return whether Blender's property holds a value, or refers to something."""
    if prop.identifier in _BARRED or prop.identifier in _TOOLS or prop.type == "COLLECTION":
        return False
    if prop.type != "POINTER":
        return True
    return not prop.is_readonly and (refers(prop) or prop.fixed_type.identifier in _CHOSEN)


def refers(rna: Any) -> bool:
    """Return whether the setting refers to a datablock."""
    if rna is None or rna.type != "POINTER":
        return False
    kind = getattr(bpy.types, rna.fixed_type.identifier, object)
    return issubclass(kind, bpy.types.ID)


def chosen_from(place: Place) -> Iterable[Any] | None:
    """Return the bones, shape keys or slots of which the setting refers to one, or None."""
    if place.rna is None or place.rna.type != "POINTER" or refers(place.rna):
        return None
    word = _CHOSEN[place.rna.fixed_type.identifier]
    holder = place.holder
    # A cloth's rest shape is one of the mesh's keys, and a bone's shape is drawn at another bone.
    keys = getattr(getattr(holder, "data", None), "shape_keys", None)
    for each in (place.owner, getattr(holder, "pose", None), holder, keys):
        if hasattr(each, word):
            return list(getattr(each, word))
    return []


def kind_of(block: Any) -> str:
    """Return the kind of a datablock, such as ``meshes``. It is empty if it can't be named."""
    known = {each.__name__ for each in type(block).__mro__}
    for prop in bpy.data.bl_rna.properties:
        if prop.type == "COLLECTION" and prop.fixed_type.identifier in known - {"ID"}:
            return str(prop.identifier)
    return ""


def has_own(place: Place) -> bool:
    """Return whether there is a custom property with a value that can be told."""
    return _simple(_customs(place.owner).get(place.key))


def may_be_new(place: Place) -> bool:
    """Return whether a new custom property can have this name. It can't if Blender or an add-on
    already uses the name."""
    return (
        place.key not in _customs(place.owner)
        and place.key not in place.owner.bl_rna.properties
        and not isinstance(place.owner, bpy.types.Modifier)
        and not place.key.startswith("_")
        and _nameable(place.key)
    )


def _blocks(block: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    yield before, block
    for word in _WITHIN:
        inner = getattr(block, word, None)
        if isinstance(inner, bpy.types.ID) and _is_within(block, word, inner):
            yield from _blocks(inner, f"{before}{word}.")


def _is_within(owner: Any, word: str, inner: Any) -> bool:
    return word in _WITHIN and isinstance(owner, bpy.types.ID) and not inner.is_embedded_data


def _own(owner: Any, before: str, walked: str) -> Iterator[tuple[str, Place]]:
    """Yield the owner's own settings. ``before`` leads to its datablock, and ``walked`` from there
    to the owner."""
    for prop in filter(is_setting, owner.bl_rna.properties):
        path = f"{walked}.{prop.identifier}".removeprefix(".")
        yield f"{before}{path}", Place(owner, prop.identifier, prop, path)
    for key, value in _customs(owner).items():
        if _simple(value) and _nameable(key) and key not in owner.bl_rna.properties:
            path = f'{walked}["{key}"]'
            start = before if walked else before.removesuffix(".")
            yield f"{start}{path}", Place(owner, key, None, path)


def _customs(owner: Any) -> dict[str, Any]:
    if not isinstance(owner, _CUSTOM):
        return {}
    try:
        return dict(owner.items())
    except TypeError:  # Most modifiers have none.
        return {}


def _of_parts(
    owner: Any, before: str, walked: str, start: str, depth: int
) -> Iterator[tuple[str, Place]]:
    """Yield the settings of what is inside the owner."""
    for prop in owner.bl_rna.properties if depth else ():
        word = prop.identifier
        named = word in _BARRED or word in _TOOLS
        if named or prop.type not in ("POINTER", "COLLECTION") or refers(prop):
            continue
        step = f"{walked}.{word}".removeprefix(".")
        if prop.type == "POINTER":
            inner = getattr(owner, word) if prop.is_readonly else None
            parts = {step: inner} if inner is not None else {}
        else:
            parts = {f"{step}{key}": each for key, each in _entries(owner, prop)}
        for path, inner in parts.items():
            led = f"{before}{path}".lower()
            if not (led.startswith(start) or start.startswith(led)):
                continue
            # Many lists and properties lead to what another path leads to, such as a bone's parent.
            if inner.id_data == owner.id_data and _path(inner) in (None, path):
                yield from _own(inner, before, path)
                yield from _of_parts(inner, before, path, start, depth - 1)


def _entries(owner: Any, prop: Any) -> Iterator[tuple[str, Any]]:
    word, kind = prop.identifier, prop.fixed_type
    if issubclass(getattr(bpy.types, kind.identifier, object), bpy.types.ID):
        return
    if word in _NUMBERED:
        yield from ((f"[{at}]", each) for at, each in enumerate(getattr(owner, word)))
    elif kind.name_property is not None:
        known = dict(getattr(owner, word).items())
        yield from ((f'["{key}"]', each) for key, each in known.items() if _nameable(key))


def _path(inner: Any) -> str | None:
    """Return the path that Blender gives for a part of a datablock, or None if it gives none."""
    try:
        return str(inner.path_from_id())
    except (ValueError, TypeError):
        return None


def _leading(owner: Any, word: str, path: str) -> Any:
    """Return Blender's description of the property that leads to the next step."""
    if word in _TOOLS:
        raise HostError(f"'{path}' can't be reached here: {_TOOLS[word]}")
    prop = owner.bl_rna.properties.get(word)
    if not word or prop is None or word in _BARRED or prop.type not in ("POINTER", "COLLECTION"):
        raise unknown(path, owner, word)
    return prop


def _entry(owner: Any, word: str, there: Any, step: tuple[str, str, str]) -> Any:
    if word in _NUMBERED:
        if not step[2] or int(step[2]) >= len(there):
            raise HostError(f"'{word}' has {len(there)} entries; name one by its number from 0")
        return there[int(step[2])]
    try:
        entry = there.get(step[1]) if step[1] else None
    except TypeError:  # Its entries have no names.
        entry = None
    if entry is not None:
        return entry
    if len(there) and isinstance(there[0], bpy.types.ID):
        raise _separate(word, there[0])
    known = [name for name, _ in there.items() if name and isinstance(name, str)]
    if step[1] and known:
        near = ", ".join(nearest_names(step[1], known) or known[:_MOST_NAMED])
        raise HostError(f"'{_called(owner)}' has no '{step[1]}' among its {word}; it has: {near}")
    if known:
        raise HostError(f"name an entry of {word}, which are {', '.join(known[:_MOST_NAMED])}")
    raise HostError(f"'{_called(owner)}' has nothing with a name in {word}")


def _separate(word: str, block: Any) -> HostError:
    kind = "" if block.is_embedded_data else kind_of(block)
    if not kind:
        return HostError(f"'{word}' can't be reached here")
    if kind == "armatures":
        return HostError(f"'{word}' belongs to the armature; start the path with data.bones")
    return HostError(
        f"'{word}' is separate data, '{block.name_full}' among the {kind}; blender_data__get_values"
        f" and blender_data__set_values with kind {kind} read and set it"
    )


def _last(owner: Any, step: tuple[str, str, str], walked: str, path: str) -> Place:
    word, key, _ = step
    before = walked if isinstance(owner, bpy.types.ID) else _path(owner) or walked
    if word and (prop := owner.bl_rna.properties.get(word)) is not None:
        if word in _TOOLS:
            raise HostError(f"'{path}' can't be reached here: {_TOOLS[word]}")
        if not is_setting(prop):
            raise HostError(f"'{path}' isn't a single value; name a value inside it")
        return Place(owner, word, prop, f"{before}.{word}".removeprefix("."))
    key = key or word
    if not key or not isinstance(owner, _CUSTOM):
        raise unknown(path, owner, key)
    return Place(owner, key, None, f'{before}["{key}"]')


def _component(place: Place, index: int, path: str) -> Place:
    there: Any = None
    if place.rna is not None and getattr(place.rna, "is_array", False):
        there = getattr(place.owner, place.key)
    elif place.rna is None and has_own(place):
        there = place.owner[place.key]
    count = 0 if isinstance(there, str) or not hasattr(there, "__len__") else len(there)
    if index >= count:
        raise HostError(
            f"'{path}': there are {count} values; the first is [0]"
            if count
            else f"'{path}' has no values with numbers; leave [{index}] out"
        )
    return replace(place, index=index)


def _steps(path: str) -> list[tuple[str, str, str]]:
    steps, at = [], 0
    while at < len(path) and (match := _STEP.match(path, at)):
        steps.append((match[1] or "", match[2] or "", match[3] or ""))
        at = match.end()
    if not steps or at < len(path):
        raise HostError(
            f"'{path}' isn't the path of a setting, such as data.energy, location[2],"
            ' modifiers["Bevel"].width, pose.bones["Arm"].lock_ik_x or ["mood"]'
        )
    return steps


def _written(step: tuple[str, str, str]) -> str:
    return f'["{step[1]}"]' if step[1] else f"[{step[2]}]"


def _called(owner: Any) -> str:
    name = owner.bl_rna.name_property
    return str(owner.id_data.name_full if name is None else getattr(owner, name.identifier))


def unknown(path: str, owner: Any, word: str) -> HostError:
    """Return the error for a path on which the owner has no such word."""
    known = [each.identifier for each in owner.bl_rna.properties if each.identifier not in _BARRED]
    hint = f"; some that it has: {', '.join(nearest_names(word, known))}" if word else ""
    return HostError(f"'{path}' isn't a setting of '{_called(owner)}'{hint}")


def _nameable(key: str) -> bool:
    """Return whether the name can be written in a path."""
    return 0 < len(key.encode()) <= 63 and not re.search(r'["\\\x00-\x1f]', key)


def _simple(value: object) -> bool:
    if isinstance(value, (bool, int, float, str)):
        return True
    if isinstance(value, list):
        return all(isinstance(each, (bool, int, float, str)) for each in value)
    return hasattr(value, "to_list")
