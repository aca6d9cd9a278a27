"""The modifiers of all objects of the file, whichever scene these are in, or none."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import bpy

from callboard.errors import HostError, WrongArgument
from callboard.host import Json, nearest_names
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.names import forget, view_layer
from callboard_blender.parts.curves import curves_of, drivers_of, strip_curves_of
from callboard_blender.parts.data_blocks import DataBlocks
from callboard_blender.parts.modifiers import TYPES
from callboard_blender.parts.node_json import group_json
from callboard_blender.parts.property_values import FILES, converted, plain, type_of

#: A modifier with its object.
Held = tuple[bpy.types.Object, Any]


class FileModifiers:
    def __init__(self, changes: SceneChanges, blocks: DataBlocks) -> None:
        self._changes = changes
        self._blocks = blocks

    def chosen(
        self,
        type: str | None,
        modifier: str | None,
        objects: Sequence[str],
        where: Mapping[str, Any],
        having: Collection[str] = (),
    ) -> list[Held]:
        """Return the modifiers of a type, with a name that fits, and of these objects, or of all of
        them. ``where`` has conditions on values: a value, or ``{above, below}``. Modifiers without
        one of the values in ``where`` or ``having`` don't fit. Raises HostError when no modifier
        has such a value."""
        wanted = None if type is None else _type(type)
        named = [each for name in objects for each in self._blocks.matching("objects", name)]
        fitting = [
            (obj, each)
            for obj in dict.fromkeys(named or bpy.data.objects)
            for each in _modifiers_of(obj)
            if wanted in (None, each.type)
            and (modifier is None or fnmatchcase(each.name.lower(), modifier.lower()))
        ]
        for key in {*where, *having}:
            known = [each for each in fitting if key in each[1].bl_rna.properties]
            if fitting and not known:
                there = sorted({k.identifier for _, m in fitting for k in m.bl_rna.properties})
                near = ", ".join(nearest_names(key, there) or there[:40])
                raise HostError(f"none of these modifiers has the value '{key}', but: {near}")
            fitting = known
        return [each for each in fitting if _fits(each[1], where)]

    def set(
        self, chosen: Sequence[Held], values: Mapping[str, Any]
    ) -> tuple[list[tuple[Held, Json]], list[Json]]:
        """Set the values of the modifiers, except where that wouldn't last. Return the modifiers
        that changed, with their former values, and ``{of, modifier, why}`` of those skipped."""
        skipped, doing = [], []
        for obj, each in chosen:
            if why := _why_not(obj, each, values):
                skipped.append({"of": obj.name_full, "modifier": each.name, "why": why})
                continue
            before = {key: value_of(each, key) for key in values}
            made = {key: _converted(each, key, value) for key, value in values.items()}
            if before != values:
                doing.append(((obj, each), made, before))
        if doing:
            self._changes.touch()
        for (obj, each), made, _ in doing:
            for key, value in made.items():
                try:
                    setattr(each, key, value)
                except (TypeError, ValueError, AttributeError, RuntimeError) as error:
                    raise HostError(
                        f"Blender could not set '{key}' of '{each.name}' of '{obj.name}': {error}"
                    ) from None
            obj.update_tag()
        view_layer().update()
        forget()
        return [(held, before) for held, _, before in doing], skipped


def file_modifier_json(obj: bpy.types.Object, each: Any, keys: Collection[str]) -> Json:
    """Return ``{of, name, type, in_viewports, in_renders, library?, override?, group?, inputs?,
    values?}``."""
    entry: Json = {
        "of": obj.name_full,
        "name": each.name,
        "type": each.type.lower(),
        "in_viewports": bool(each.show_viewport),
        "in_renders": bool(each.show_render),
        **group_json(each),
    }
    if obj.library is not None:
        entry["library"] = obj.library.filepath
    if obj.override_library is not None:
        entry["override"] = True
    values = {key: value_of(each, key) for key in keys if key in each.bl_rna.properties}
    return {**entry, "values": values} if values else entry


def value_of(each: Any, key: str) -> Any:
    """Return the modifier's value as JSON; of what it refers to, the name."""
    rna = each.bl_rna.properties[key]
    if rna.type == "COLLECTION":
        return [one.name for one in getattr(each, key) if hasattr(one, "name")]
    if rna.type == "POINTER":
        return getattr(getattr(each, key), "name_full", None)
    return plain(type_of(each, key, rna)[1])


def _modifiers_of(obj: bpy.types.Object) -> Iterator[Any]:
    yield from obj.modifiers
    # Up to Blender 4.2, those of grease pencil objects are apart.
    yield from getattr(obj, "grease_pencil_modifiers", ())


def _type(word: str) -> str:
    """Return Blender's word for a type of modifiers, which may be given as Blender's interface
    shows it, such as ``Subdivision Surface``, or as ``geometry__modify`` does."""
    known: dict[str, str] = {}
    shown: dict[str, str] = {}
    for name in ("Modifier", "GpencilModifier"):
        if (kind := getattr(bpy.types, name, None)) is not None:
            for item in kind.bl_rna.properties["type"].enum_items:
                known[item.identifier] = item.identifier
                # Those of grease pencils, which come last, are shown like those of meshes.
                shown.setdefault(_plain(item.name), item.identifier)
    known |= {_plain(kind): word for kind, word in TYPES.items()}
    if (blenders := {**shown, **known}.get(_plain(word))) is not None:
        return blenders
    types = sorted({each.lower() for each in known.values()})
    near = ", ".join(nearest_names(word.lower(), types) or types)
    raise WrongArgument(f"there is no type of modifiers '{word}'; types are {near}")


def _plain(word: str) -> str:
    return word.strip().upper().replace(" ", "_")


def _fits(each: Any, where: Mapping[str, Any]) -> bool:
    for key, asked in where.items():
        value = value_of(each, key)
        if not isinstance(asked, Mapping):
            if value != asked:
                return False
            continue
        limits = *asked.keys(), *map(type, asked.values())
        if not set(limits) <= {"above", "below", int, float}:
            raise WrongArgument(f"where: {key} takes a value, or numbers for above or below")
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise HostError(f"'{key}' of '{each.name}' isn't a number, so give the value itself")
        if value <= asked.get("above", -float("inf")) or value >= asked.get("below", float("inf")):
            return False
    return True


def _why_not(obj: bpy.types.Object, each: Any, values: Mapping[str, Any]) -> str | None:
    """Return why the values can't be set, so that they stay, or None."""
    if obj.library is not None:
        return f"'{obj.name}' is linked from '{bpy.path.basename(obj.library.filepath)}'"
    if obj.override_library is not None:
        return f"'{obj.name}' overrides a linked object"
    paths = {each.path_from_id(key): key for key in values}
    for kind, curves in (
        ("a driver determines", drivers_of(obj)),
        ("keys determine", (*curves_of(obj), *strip_curves_of(obj))),
    ):
        if fixed := sorted({paths[one.data_path] for one in curves if one.data_path in paths}):
            return f"{kind} {', '.join(fixed)}"
    return None


def _converted(each: Any, key: str, value: Any) -> Any:
    rna = each.bl_rna.properties[key]
    if rna.type in ("POINTER", "COLLECTION"):
        raise HostError(f"'{key}' refers to other data; attributes__set sets it for one object")
    if key == "name" or rna.is_readonly or each.is_property_readonly(key) or rna.subtype in FILES:
        raise HostError(f"'{key}' can't be set here; it is a name, a file or computed by Blender")
    return converted(value, each, key, rna, key)
