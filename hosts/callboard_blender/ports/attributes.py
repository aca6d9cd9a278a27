"""The ``attributes`` port: any attribute of any object. An attribute's name is its path in Blender,
relative to the object: ``hide_render``, ``data.energy``, ``modifiers["Bevel"].width``, and
``["mood"]`` or plain ``mood`` for a custom property."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import bpy

from callboard.errors import HostError
from callboard.host import MOST_ELEMENTS, AttributeNotFound, Json
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.linked_data import refuse_linked, refuse_linked_data
from callboard_blender.application.names import find, forget, view_layer
from callboard_blender.parts.copies import own_data
from callboard_blender.parts.curves import curves_of, drivers_of
from callboard_blender.parts.data_blocks import DataBlocks
from callboard_blender.parts.property_values import FILES, converted, plain, type_of
from callboard_blender.parts.transforms import component_of
from callboard_blender.parts.world import doubt

_STEP = re.compile(r'(?:(?:^|\.)([A-Za-z_]\w*)|\["([^"\\\]]{1,63})"\])')
#: An object's lists whose entries have settable values.
_LISTS = ("modifiers", "constraints")
#: Names that lead to code, to other data, or to Blender's internal data.
_BARRED = {"animation_data", "bl_rna", "rna_type", "id_data", "original", "library_weak_reference"}
#: Tools that set what a property refers to, by the property and whether a constraint has it.
_SETS = {
    ("parent", False): "scene__set_parent",
    ("active_material", False): "materials__assign",
    ("target", True): "blender_data__set_constraint",
}
_OURS = "callboard"


@dataclass(frozen=True)
class _Place:
    """The location of an attribute: ``key`` of ``owner``. ``rna`` is Blender's description of the
    attribute, or None for a custom property."""

    owner: Any
    key: str
    rna: Any
    #: The attribute's path, starting at the object or its data, whichever has the keys and drivers.
    path: str
    of_data: bool


class BlenderAttributes:
    def __init__(self, changes: SceneChanges) -> None:
        self._changes = changes

    def names(self, name: str) -> list[str]:
        obj = find(name)
        names = list(_reported(obj, ""))
        if obj.data is not None:
            names += _reported(obj.data, "data.")
        for kind in _LISTS:
            for each in getattr(obj, kind):
                if '"' not in each.name and "\\" not in each.name and "]" not in each.name:
                    names += _reported(each, f'{kind}["{each.name}"].')
        return names

    def get(self, name: str, attribute: str) -> Json:
        obj = find(name)
        place = _place(obj, attribute)
        if place.rna is None and not _has_own(place):
            raise AttributeNotFound(obj.name, attribute, self.names(name))
        if _refers(place.rna):
            kind, value = place.rna.fixed_type.name.lower(), getattr(place.owner, place.key)
            reported: Any = None if value is None else value.name_full
        else:
            kind, value = type_of(place.owner, place.key, place.rna)
            reported = plain(value)
        why = _driven(obj, place) or _misplaced(obj, place)
        answer: Json = {
            "path": obj.name_full,
            "attribute": attribute,
            "type": kind,
            "value": reported,
            "writable": _refusal(place) is None,
            **({"refers_to": _kind(place)} if _refers(place.rna) else {}),
            **({"doubt": why} if why else {}),
        }
        if not isinstance(reported, list) or len(value) <= MOST_ELEMENTS:
            return answer
        return {**answer, "count": len(value)}

    def set(self, name: str, attribute: str, value: object) -> str:
        obj = find(name)
        place = _place(obj, attribute)
        if why := _refusal(place):
            raise HostError(f"'{attribute}' can't be set here: {why}")
        if place.of_data:
            refuse_linked_data(obj)
        else:
            refuse_linked(obj)
        if why := _driven(obj, place):
            raise HostError(f"'{attribute}' can't be set here: {why}")
        if place.rna is None and not _has_own(place) and not _may_be_new(place):
            raise HostError(f"'{attribute}' can't be the name of a new attribute")
        if _refers(place.rna):
            made = self._referred(obj, place, value)
        else:
            made = converted(value, place.owner, place.key, place.rna, attribute)
        if place.key == "parent_bone" and made:
            _refuse_unknown_bone(obj, made)
        self._changes.touch()
        if place.of_data:
            own_data(obj)
            place = _place(obj, attribute)
        try:
            if place.rna is None:
                place.owner[place.key] = made
            else:
                setattr(place.owner, place.key, made)
        except (TypeError, ValueError, OverflowError, AttributeError, RuntimeError) as error:
            raise HostError(f"Blender could not set '{attribute}': {error}") from None
        if _refers(place.rna) and getattr(place.owner, place.key) != made:
            named = "nothing" if made is None else f"'{made.name_full}'"
            raise HostError(f"Blender doesn't take {named} as '{attribute}' of '{obj.name}'")
        if place.rna is None and isinstance(made, bool) and place.owner[place.key] is not made:
            raise HostError(
                "this Blender stores true and false in an object's own attributes as 1 and 0; "
                "set a whole number"
            )
        place.owner.id_data.update_tag()
        view_layer().update()
        forget()
        return str(obj.name_full)

    def _referred(self, obj: bpy.types.Object, place: _Place, name: object) -> Any:
        """Return the data with that name that the property is to refer to, or None."""
        if name is None:
            return None
        kind = _kind(place)
        if not isinstance(name, str):
            raise HostError(f"'{place.key}' refers to {kind}; give a name, or null for none")
        referred = DataBlocks(self._changes).find(kind, name)
        if place.key == "instance_collection" and _shows(referred, obj):
            raise HostError(f"'{referred.name}' contains '{obj.name}', which can't show itself")
        # Blender's list of choices leaves such groups out, but a script could set one.
        geometry = isinstance(place.owner, bpy.types.Modifier) and kind == "node_groups"
        if geometry and referred.bl_idname != "GeometryNodeTree":
            raise HostError(f"'{referred.name}' isn't a group of geometry nodes")
        return referred


def _misplaced(obj: bpy.types.Object, place: _Place) -> str | None:
    """Return why the value, if it is a part of the transform, isn't what places the object."""
    if place.owner != obj:
        return None
    told = doubt(obj)
    concerned = component_of("scale" if place.key == "dimensions" else place.key)
    whole = place.key.startswith("matrix_")
    return told["doubt"] if told and (whole or concerned in told["doubtful"]) else None


def _reported(owner: Any, before: str) -> Iterator[str]:
    for prop in owner.bl_rna.properties:
        pointer = prop.type == "POINTER" and not (_refers(prop) and not prop.is_readonly)
        if prop.identifier in _BARRED or pointer or prop.type == "COLLECTION":
            continue
        yield f"{before}{prop.identifier}"
    if isinstance(owner, bpy.types.ID):
        for key, value in owner.items():
            place = _Place(owner, key, None, f'["{key}"]', bool(before))
            if _simple(value) and _nameable(key) and key not in owner.bl_rna.properties:
                bare = key.isidentifier() and not before
                yield key if bare else f"{before.removesuffix('.')}{place.path}"


def _place(obj: bpy.types.Object, attribute: str) -> _Place:
    """Return the location of that attribute. Raises HostError."""
    steps = _steps(attribute)
    owner: Any = obj
    of_data = False
    walked = ""
    if steps[:2] == [("pose", ""), ("bones", "")] and len(steps) > 3 and obj.pose is not None:
        bone = obj.pose.bones.get(steps[2][1])
        if bone is None:
            raise HostError(f"'{obj.name}' has no bone '{steps[2][1]}'")
        return _listed(bone, steps[3:], f'pose.bones["{bone.name}"].', attribute)
    for at, (word, key) in enumerate(steps[:-1]):
        if key or word in _BARRED:
            raise _unknown(attribute)
        prop = owner.bl_rna.properties.get(word)
        if prop is None or prop.type not in ("POINTER", "COLLECTION"):
            raise _unknown(attribute)
        inner = getattr(owner, word)
        if prop.type == "COLLECTION":
            if owner != obj or word not in _LISTS:
                raise HostError(f"'{word}' is a list; name an entry of {' or '.join(_LISTS)}")
            return _listed(obj, steps[at:], "", attribute)
        if isinstance(inner, bpy.types.ID):
            if owner != obj or word != "data":
                raise HostError(f"'{word}' is separate data, not a part of '{obj.name}'")
            of_data, walked = True, ""
        else:
            walked = f"{walked}.{word}".removeprefix(".")
        if inner is None:
            raise HostError(f"'{obj.name}' has no {word}")
        owner = inner
    return _last(owner, steps[-1], walked, of_data, attribute)


def _listed(owner: Any, steps: list[tuple[str, str]], before: str, attribute: str) -> _Place:
    """Return the location of a value in a modifier or constraint of an object or a bone."""
    word, named = steps[0][0], steps[1][1] if len(steps) > 1 else ""
    if word not in _LISTS or not hasattr(owner, word) or not named or len(steps) < 3:
        raise HostError(f"'{attribute}' must name a value inside an entry of {' or '.join(_LISTS)}")
    inner = getattr(owner, word)
    if inner.get(named) is None:
        known = ", ".join(each.name for each in inner) or "none"
        raise HostError(f"'{owner.name}' has no '{named}' among its {word}; it has: {known}")
    rest = "".join(_written(step) for step in steps[2:]).removeprefix(".")
    return _inside(inner[named], rest, f'{before}{word}["{named}"]', attribute)


def _inside(owner: Any, rest: str, walked: str, attribute: str) -> _Place:
    """Return the location of a value in one modifier or constraint, or in a structure nested in it
    that isn't a datablock."""
    steps = _steps(rest)
    for word, key in steps[:-1]:
        prop = None if key else owner.bl_rna.properties.get(word)
        inner = getattr(owner, word) if prop is not None and prop.type == "POINTER" else None
        if inner is None or word in _BARRED or isinstance(inner, bpy.types.ID):
            raise _unknown(attribute)
        owner, walked = inner, f"{walked}.{word}"
    return _last(owner, steps[-1], walked, False, attribute)


def _last(owner: Any, step: tuple[str, str], walked: str, of_data: bool, attribute: str) -> _Place:
    word, key = step
    if word and (prop := owner.bl_rna.properties.get(word)) is not None:
        pointer = prop.type == "POINTER" and not _refers(prop)
        if word in _BARRED or pointer or prop.type == "COLLECTION":
            raise HostError(f"'{attribute}' isn't a single value; name a value inside it")
        return _Place(owner, word, prop, f"{walked}.{word}".removeprefix("."), of_data)
    key = key or word
    if not isinstance(owner, (bpy.types.ID, bpy.types.Modifier)):
        raise _unknown(attribute)
    return _Place(owner, key, None, f'{walked}["{key}"]', of_data)


def _refers(rna: Any) -> bool:
    """Return whether the property refers to a datablock."""
    if rna is None or rna.type != "POINTER":
        return False
    kind = getattr(bpy.types, rna.fixed_type.identifier, object)
    return issubclass(kind, bpy.types.ID)


def _kind(place: _Place) -> str:
    """Return the kind of data that the property refers to, such as ``objects``."""
    wanted, now = place.rna.fixed_type.identifier, getattr(place.owner, place.key)
    if wanted == "ID" and getattr(place.owner, "type", "") == "EMPTY":
        wanted = "Image"
    elif wanted == "ID" and now is not None:
        # A light's own type is the kind of light.
        wanted = next(each.__name__ for each in type(now).__mro__ if each.__base__ is bpy.types.ID)
    for prop in bpy.data.bl_rna.properties:
        if prop.type == "COLLECTION" and prop.fixed_type.identifier == wanted != "ID":
            return str(prop.identifier)
    raise HostError(f"'{place.key}' refers to data that can't be named here")


def _shows(collection: Any, obj: bpy.types.Object) -> bool:
    """Return whether the collection contains the object, or shows instances of one that does. Such
    an object as its own instance would crash Blender."""
    seen, waiting = set(), [collection]
    while waiting:
        shown = waiting.pop()
        if shown is not None and shown not in seen:
            seen.add(shown)
            members = set(shown.all_objects)
            if obj in members:
                return True
            waiting += {each.instance_collection for each in members}
    return False


def _refuse_unknown_bone(obj: bpy.types.Object, name: str) -> None:
    bones = obj.parent.data.bones if obj.parent and obj.parent.type == "ARMATURE" else {}
    if name not in bones:
        known = ", ".join(bones.keys()) or "none"
        raise HostError(f"the parent of '{obj.name}' has no bone '{name}'; it has: {known}")


def _steps(attribute: str) -> list[tuple[str, str]]:
    steps, at = [], 0
    while at < len(attribute):
        match = _STEP.match(attribute, at)
        if match is None:
            raise _unknown(attribute)
        steps.append((match[1] or "", match[2] or ""))
        at = match.end()
    if not steps:
        raise _unknown(attribute)
    return steps


def _written(step: tuple[str, str]) -> str:
    return f".{step[0]}" if step[0] else f'["{step[1]}"]'


def _unknown(attribute: str) -> HostError:
    return HostError(
        f"'{attribute}' isn't an attribute; use attributes__list to find one, such as data.energy,"
        ' modifiers["Bevel"].width or ["mood"]'
    )


def _has_own(place: _Place) -> bool:
    return place.key in place.owner and _simple(place.owner[place.key])


def _may_be_new(place: _Place) -> bool:
    """Return whether a new attribute can have this name. It can't if Blender or an add-on already
    uses the name for a group of values."""
    return (
        isinstance(place.owner, bpy.types.ID)
        and place.key not in place.owner
        and not place.key.startswith("_")
        and _nameable(place.key)
    )


def _nameable(key: str) -> bool:
    """Return whether the name can be written in a path and is short enough for Blender."""
    return len(key.encode()) <= 63 and not re.search(r'["\\\]\x00-\x1f]', key)


def _simple(value: object) -> bool:
    if isinstance(value, (bool, int, float, str)):
        return True
    return hasattr(value, "to_list") or isinstance(value, list)


def _refusal(place: _Place) -> str | None:
    """Return why the attribute can't be set, or None."""
    if place.rna is None:
        return "it is callboard's own" if place.key.startswith(_OURS) else None
    if place.rna.is_readonly or place.owner.is_property_readonly(place.key):
        return "Blender computes it, or makes it read-only"
    if tool := _SETS.get((place.key, isinstance(place.owner, bpy.types.Constraint))):
        return f"{tool} sets it"
    if place.rna.type != "POINTER" and place.rna.subtype in FILES:
        return "it names a file; use a tool for files"
    if place.key == "name":
        return "use scene__rename to rename objects; other names stay, because references use them"
    if place.key in ("mode", "use_fake_user", "tag"):
        return "Blender keeps it internal"
    return None


def _driven(obj: bpy.types.Object, place: _Place) -> str | None:
    """Return a description of whatever else determines the value, such as keys, or None."""
    holder = obj.data if place.of_data else obj
    if any(curve.data_path == place.path for curve in curves_of(holder)):
        return "it has keys, which restore its value at the next frame"
    if any(driver.data_path == place.path for driver in drivers_of(holder)):
        return "a driver determines its value"
    return None
