"""Reads and sets the settings of datablocks, one by one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import bpy

from callboard.errors import HostError, WrongArgument
from callboard.host import MOST_ELEMENTS, Json, nearest_names
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.linked_data import refuse_linked
from callboard_blender.application.names import forget, view_layer
from callboard_blender.parts.curves import curves_of, drivers_of, strip_curves_of
from callboard_blender.parts.data_blocks import DataBlocks, nested
from callboard_blender.parts.property_values import (
    FILES,
    choices,
    converted,
    limits,
    plain,
    type_of,
)
from callboard_blender.parts.setting_paths import (
    Place,
    chosen_from,
    has_own,
    is_setting,
    kind_of,
    may_be_new,
    place_of,
    refers,
    unknown,
)
from callboard_blender.parts.transforms import component_of
from callboard_blender.parts.world import doubt

#: Kinds without settings for agents, with the reason.
_CLOSED = {
    "brushes": "undo can't take back a change to a brush",
    "texts": "a text can be code, which only script__execute runs",
    "workspaces": "a workspace belongs to the artist's window",
}
#: Tools that set what a property refers to, by the property and its owner's type.
_SETS = (
    ("parent", "Object", "scene__set_parent"),
    ("active_material", "Object", "materials__assign"),
    ("material", "MaterialSlot", "materials__assign"),
    ("target", "Constraint", "blender_data__set_constraint"),
    ("filepath", "RenderSettings", "blender_data__set_output"),
)
#: Names of values that are code, or parts of files' names, or that Blender computes.
_RAW = (
    "bytecode",
    "bytecode_hash",
    "file_suffix",
    "_handle",
    "_handle_tweak_storage",
    "identifier",
    "name_display",
)
#: Switches with which data isn't saved, or is kept without users.
_INTERNAL = ("tag", "is_runtime_data", "use_extra_user")
_FREESTYLE = bpy.types.FreestyleSettings
_CACHES = (bpy.types.PointCache, bpy.types.PointCacheItem)
#: Maximum number of numbers in a value that isn't a custom property. Longer ones are data.
_MOST_NUMBERS = 64
_OURS = "callboard"
#: Settings that only change what the interface shows.
_SHOWN = ("active", "show_expanded")
#: Maximum number of words that a setting's choices show, and a limit that isn't worth telling.
_MOST_CHOICES, _ENDLESS = 40, 1e6


class BlockSettings:
    def __init__(self, changes: SceneChanges, blocks: DataBlocks) -> None:
        self._changes = changes
        self._blocks = blocks

    def block(self, kind: str, name: str) -> Any:
        """Return the datablock. Raises HostError for a kind that has no settings here."""
        if kind in _CLOSED:
            raise HostError(f"{kind} have no settings here: {_CLOSED[kind]}")
        return self._blocks.find(kind, name)

    def set(self, block: bpy.types.ID, values: Mapping[str, Any]) -> None:
        """Set the values, by their paths. Raises HostError when one can't be set."""
        holders = {block}
        for path, value in values.items():
            place = place_of(block, path)
            holders.add(place.holder)
            refuse(place, path)
            # A bare word that nothing has is more likely a slip than a new property.
            if place.rna is None and not has_own(place) and not path.endswith('"]'):
                raise unknown(path, place.owner, place.key)
            self.put(place, value, path)
        self.update(*holders)

    def put(self, place: Place, value: Any, path: str) -> None:
        """Set the value. Raises HostError when it doesn't fit."""
        made = self._made(place, value, path)
        if isinstance(made, str) and made:
            _refuse_unknown_bone(place.owner, place.key, made)
        self._changes.touch()
        owner, key = place.owner, place.key
        try:
            if place.index is not None:
                (owner[key] if place.rna is None else getattr(owner, key))[place.index] = made
            elif place.rna is None:
                owner[key] = made
            else:
                setattr(owner, key, made)
                for one in _keys_of_strip(place):
                    one.co_ui = one.co[0], made
        except (TypeError, ValueError, OverflowError, AttributeError, RuntimeError) as error:
            raise HostError(f"Blender could not set '{path}': {error}") from None
        if place.rna is not None and place.rna.type == "POINTER" and getattr(owner, key) != made:
            raise HostError(
                f"Blender doesn't take {_named(made)} as '{path}' of '{place.holder.name}'"
            )
        if place.rna is None and isinstance(made, bool) and owner[key] is not made:
            raise HostError(
                "this Blender stores true and false in an object's own attributes as 1 and 0; "
                "set a whole number"
            )

    def update(self, *changed: bpy.types.ID) -> None:
        """Have Blender evaluate these datablocks."""
        for each in changed:
            each.update_tag()
        view_layer().update()
        forget()

    def _made(self, place: Place, value: Any, path: str) -> Any:
        if value is None and (place.rna is None or place.rna.type != "POINTER"):
            raise WrongArgument(f"'{path}' needs a value; null only clears a reference")
        if (known := chosen_from(place)) is not None:
            return _chosen(known, value, path)
        if refers(place.rna):
            return self._referred(place, value)
        if place.index is None:
            return converted(value, place.owner, place.key, place.rna, path)
        there = plain(_raw(place))
        there[place.index] = value
        return converted(there, place.owner, place.key, place.rna, path)[place.index]

    def _referred(self, place: Place, name: object) -> Any:
        """Return the data with that name that the setting is to refer to, or None."""
        if name is None:
            return None
        kind = kind_referred(place)
        if not isinstance(name, str):
            raise HostError(f"'{place.key}' refers to {kind}; give a name, or null for none")
        referred = self._blocks.find(kind, name)
        holder = place.holder
        if place.key == "instance_collection" and _shows(referred, holder):
            raise HostError(f"'{referred.name}' contains '{holder.name}', which can't show itself")
        # Blender's list of choices leaves such groups out, but a script could set one.
        geometry = isinstance(place.owner, bpy.types.Modifier) and kind == "node_groups"
        if geometry and referred.bl_idname != "GeometryNodeTree":
            raise HostError(f"'{referred.name}' isn't a group of geometry nodes")
        return referred


def setting_json(place: Place) -> Json:
    """Return ``{type, value, count?, refers_to?}``. ``count`` is the length of a value that is
    longer than what is told of it, and ``refers_to`` is the kind of data that a reference names.
    Raises HostError for a custom property that isn't there."""
    if place.rna is None and not has_own(place):
        raise unknown(place.path, place.owner, place.key)
    if refers(place.rna):
        now = getattr(place.owner, place.key)
        return {
            "type": place.rna.fixed_type.name.lower(),
            "value": None if now is None else now.name_full,
            "refers_to": kind_referred(place),
        }
    if chosen_from(place) is not None:
        kind = place.rna.fixed_type.name.lower()
        return {"type": kind, "value": _name(getattr(place.owner, place.key)), "refers_to": kind}
    kind, value = type_of(place.owner, place.key, place.rna)
    told = plain(value)
    if place.index is not None:
        return {"type": kind.partition("[")[0], "value": told[place.index]}
    cut = isinstance(told, list) and len(value) > MOST_ELEMENTS
    return {"type": kind, "value": told, **({"count": len(value)} if cut else {})}


def choices_json(place: Place) -> Json:
    """Return ``{choices?, range?, unit?}``: what the setting can be set to."""
    rna = place.rna
    if (known := chosen_from(place)) is not None:
        return {"choices": [_name(each) for each in known][:_MOST_CHOICES]}
    if rna is None or rna.type not in ("ENUM", "INT", "FLOAT"):
        return {}
    if rna.type == "ENUM":
        return {"choices": choices(place.owner, place.key)[:_MOST_CHOICES]}
    low, high = limits(rna)
    told: Json = {"range": [low, high]} if max(-low, high) < _ENDLESS else {}
    return {**told, "unit": "radians"} if rna.unit == "ROTATION" else told


def refuse(place: Place, path: str) -> None:
    """Raise HostError when the setting can't be set, or when something else determines it."""
    if why := refusal(place):
        raise HostError(f"'{path}' can't be set here: {why}")
    refuse_linked(place.holder)
    if why := determined(place):
        raise HostError(f"'{path}' can't be set here: {why}")
    if place.rna is None and not has_own(place):
        if isinstance(place.owner, bpy.types.Modifier):
            raise unknown(path, place.owner, place.key)
        if not may_be_new(place):
            raise HostError(f"'{path}' can't be the name of a new custom property")


def refusal(place: Place) -> str | None:
    """Return why nobody can set the setting here, or None."""
    owner, key, rna = place.owner, place.key, place.rna
    overrides = place.holder.override_library is not None
    if rna is None:
        if isinstance(owner.get(key), str) and _imports_files(owner):
            return "the modifier's nodes import files, and it could name one"
        if overrides and not (
            has_own(place) and owner.is_property_overridable_library(f'["{key}"]')
        ):
            return "an override keeps only custom properties that the linked data lets it change"
        return "it is callboard's own" if key.startswith(_OURS) else None
    if tool := _setter(owner, key):
        return f"{tool} sets it"
    own = place.holder.library is None  # All of linked data is read-only.
    if rna.is_readonly or (own and owner.is_property_readonly(key)):
        where = " in an override" if overrides else ""
        return f"Blender computes it, or makes it read-only{where}"
    if key == "name":
        if isinstance(owner, bpy.types.Object):
            return "use scene__rename to rename objects"
        if isinstance(owner, bpy.types.ID):
            return "use blender_data__rename to rename data"
        return "it stays, because references use it"
    if key in _INTERNAL or (
        key in ("mode", "use_fake_user") and isinstance(owner, bpy.types.Object)
    ):
        return "Blender keeps it internal"
    if isinstance(owner, _CACHES) and not key.startswith("frame_"):
        return "it decides where Blender keeps files of a simulation"
    if key == "shading_system" or (key == "mode" and isinstance(owner, _FREESTYLE)):
        return "it decides whether code in the file runs"
    if rna.type == "POINTER":
        return "it names a script" if rna.fixed_type.identifier == "Text" else None
    if rna.subtype in FILES:
        return "it names a file; use a tool for files, such as blender_data__set_file"
    if key.endswith(_RAW):
        return "it is code, a part of a file's name, or internal to Blender"
    if getattr(rna, "is_array", False) and sum(map(bool, rna.array_dimensions)) > 1:
        return "it is a matrix; scene__transform places objects"
    if getattr(rna, "array_length", 0) > _MOST_NUMBERS:
        return "it is data, not a setting"
    if isinstance(owner, bpy.types.NlaStrip) and key in ("influence", "strip_time"):
        switch = f"use_animated_{key.removeprefix('strip_')}"
        told = (
            f"Blender computes it until {switch} is true, as blender_animation__set_track makes it"
        )
        return None if getattr(owner, switch) else told
    return None


def determined(place: Place) -> str | None:
    """Return a description of whatever else determines the value, such as keys, or None."""
    holder = place.holder

    def among(curves: Any) -> bool:
        return any(
            each.data_path == place.path
            and place.index in (None, each.array_index)
            and not each.mute
            for each in curves
        )

    if among(drivers_of(holder)):
        return "a driver determines its value; see blender_data__list_drivers"
    if among(curves_of(holder)):
        return "it has keys, which restore its value at the next frame"
    if among(strip_curves_of(holder)):
        return "a strip of the non-linear animation determines its value"
    if len(_keys_of_strip(place)) > 1:
        return "the strip has several keys, which determine its value"
    return None


def misplaced(place: Place) -> str | None:
    """Return why the value, if it is a part of the transform, isn't what places the object."""
    if not isinstance(obj := place.owner, bpy.types.Object):
        return None
    concerned = component_of("scale" if place.key == "dimensions" else place.key)
    whole = place.key.startswith("matrix_")
    told = doubt(obj) if whole or concerned else None
    return told["doubt"] if told and (whole or concerned in told["doubtful"]) else None


def is_default(place: Place) -> bool:
    """Return whether the setting has Blender's default value. A custom property has none."""
    rna = place.rna
    if rna is None:
        return False
    if rna.type == "POINTER":
        return getattr(place.owner, place.key) is None
    if rna.type == "ENUM":
        default: Any = sorted(rna.default_flag) if rna.is_enum_flag else rna.default
    else:
        default = list(rna.default_array) if getattr(rna, "is_array", False) else rna.default
    now = plain(_raw(place))
    if rna.type != "FLOAT":
        return bool(now == default)
    pairs = zip(now, default, strict=False) if isinstance(now, list) else [(now, default)]
    return all(isinstance(a, float) and math.isclose(a, b, abs_tol=1e-6) for a, b in pairs)


def differing(owner: Any) -> Json:
    """Return the owner's own settings that don't have Blender's default values, by name."""
    settings = (each for each in owner.bl_rna.properties if is_setting(each))
    places = [Place(owner, each.identifier, each, "") for each in settings]
    return {
        each.key: setting_json(each)["value"]
        for each in places
        if each.key not in _SHOWN and refusal(each) is None and not is_default(each)
    }


def _keys_of_strip(place: Place) -> list[Any]:
    """Return the keys of a value of a strip. Blender itself makes the first one."""
    if not isinstance(place.owner, bpy.types.NlaStrip):
        return []
    curves = [one for one in place.owner.fcurves if one.data_path == place.key]
    return [key for one in curves for key in one.keyframe_points]


def kind_referred(place: Place) -> str:
    """Return the kind of data that the setting refers to, such as ``objects``."""
    wanted, now = place.rna.fixed_type.identifier, getattr(place.owner, place.key)
    if wanted == "ID" and getattr(place.owner, "type", "") == "EMPTY":
        wanted = "Image"
    elif wanted == "ID" and now is not None:
        return kind_of(now)
    for prop in bpy.data.bl_rna.properties:
        if prop.type == "COLLECTION" and prop.fixed_type.identifier == wanted != "ID":
            return str(prop.identifier)
    raise HostError(f"'{place.key}' refers to data that can't be named here")


def _imports_files(owner: Any) -> bool:
    """Return whether nodes of the modifier import files whose names they may be given."""
    group = getattr(owner, "node_group", None)
    trees = () if group is None else {group, *nested(group)}
    return any(
        node.bl_idname.startswith("GeometryNodeImport") for tree in trees for node in tree.nodes
    )


def _setter(owner: Any, key: str) -> str | None:
    return next(
        (tool for name, of, tool in _SETS if name == key and isinstance(owner, _type(of))), None
    )


def _type(name: str) -> Any:
    return getattr(bpy.types, name)


def _raw(place: Place) -> Any:
    return type_of(place.owner, place.key, place.rna)[1]


def _name(chosen: Any) -> str | None:
    if chosen is None:
        return None
    return str(chosen.name_display if hasattr(chosen, "name_display") else chosen.name)


def _named(made: Any) -> str:
    return "nothing" if made is None else f"'{getattr(made, 'name_full', None) or _name(made)}'"


def _chosen(known: Any, name: Any, path: str) -> Any:
    if name is None:
        return None
    named = [each for each in known if _name(each) == name]
    if not named:
        there = ", ".join(str(_name(each)) for each in known) or "none"
        raise HostError(f"there is no '{name}' for '{path}'; there is: {there}")
    return named[0]


def _shows(collection: Any, obj: Any) -> bool:
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


def _refuse_unknown_bone(owner: Any, key: str, name: str) -> None:
    """Raise HostError when the setting names a bone, or a vertex group, that isn't there."""
    if key == "parent_bone" and isinstance(owner, bpy.types.Object):
        target, whose = owner.parent, f"the parent of '{owner.name}'"
    elif key.endswith("subtarget"):
        words = (key.replace("subtarget", word) for word in ("target", "object"))
        target = next((at for word in words if (at := getattr(owner, word, None))), None)
        whose = "its target, which isn't set," if target is None else f"'{target.name}'"
    else:
        return
    bones = target.data.bones if target and target.type == "ARMATURE" else {}
    known = [*bones.keys(), *([] if bones or target is None else target.vertex_groups.keys())]
    if name not in known:
        there = ", ".join(nearest_names(name, known) or known[:_MOST_CHOICES]) or "none"
        raise HostError(f"{whose} has no bone '{name}'; it has: {there}")
