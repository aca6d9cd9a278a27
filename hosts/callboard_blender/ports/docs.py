"""The ``docs`` port: the documentation in Blender's RNA and operators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy

from callboard.content import Json
from callboard.host import MOST_LISTED, DocEntry, KeptDocs

#: Marks in the names of types that are left out: types that draw the interface, and operators,
#: which are listed under ``bpy.ops``.
_LEFT_OUT = ("_OT_", "_PT_", "_MT_", "_HT_", "_UL_")


class BlenderDocs(KeptDocs):
    """Entries for types with their own properties and functions, and for operators, including those
    of add-ons."""

    def _read(self) -> Iterator[DocEntry]:
        for name in (*dir(bpy.types), *_groups()):
            rna = _rna_of(name)
            if rna is None or any(mark in name for mark in _LEFT_OUT):
                continue
            yield DocEntry(name, "type", _text(rna))
            inherited = set(rna.base.properties.keys()) if rna.base else {"rna_type"}
            for prop in rna.properties:
                if prop.identifier not in inherited:
                    yield DocEntry(f"{name}.{prop.identifier}", "property", _text(prop))
            inherited = set(rna.base.functions.keys()) if rna.base else set()
            for function in rna.functions:
                if function.identifier not in inherited:
                    full = f"{name}.{function.identifier}"
                    yield DocEntry(full, "function", function.description)
        for group in dir(bpy.ops):
            for name in dir(getattr(bpy.ops, group)):
                rna = getattr(getattr(bpy.ops, group), name).get_rna_type()
                yield DocEntry(f"bpy.ops.{group}.{name}", "operator", _text(rna))

    def details(self, entry: DocEntry) -> Json:
        if entry.kind == "operator":
            group, name = entry.name.split(".")[2:]
            return _parameters(getattr(getattr(bpy.ops, group), name).get_rna_type().properties)
        owner, _, name = entry.name.partition(".")
        rna = _rna_of(owner)
        if rna is None:  # The add-on has been disabled in the meantime.
            return {}
        if entry.kind == "type":
            names = [prop.identifier for prop in rna.properties if prop.identifier != "rna_type"]
            base = {"base": rna.base.identifier} if rna.base else {}
            return {**base, "properties": names[:MOST_LISTED]}
        if entry.kind == "function" and name in rna.functions:
            return _parameters(rna.functions[name].parameters)
        return _explained(rna.properties[name]) if name in rna.properties else {}


def _groups() -> list[str]:
    """Return the names of add-ons' settings, such as those of Cycles. ``dir(bpy.types)`` leaves
    them out."""
    return [kind.__name__ for kind in bpy.types.PropertyGroup.__subclasses__()]


def _rna_of(name: str) -> Any:
    kind = getattr(bpy.types, name, None) or bpy.types.PropertyGroup.bl_rna_get_subclass_py(name)
    return getattr(kind, "bl_rna", None)


def _text(rna: Any) -> str:
    """Return the description. The label from the interface is put in front if it contains words
    that the name and the description don't."""
    told = f"{rna.identifier} {rna.description}".lower()
    if all(word in told for word in rna.name.lower().split()):
        return str(rna.description)
    return f"{rna.name}: {rna.description}" if rna.description else str(rna.name)


def _parameters(parameters: Any) -> Json:
    reported = [
        {"name": one.identifier, "text": one.description or one.name, **_explained(one)}
        for one in parameters
        if one.identifier != "rna_type"
    ]
    return {"parameters": reported[:MOST_LISTED]}


def _explained(prop: Any) -> Json:
    """Return a property's facts, and the meanings of its choices."""
    details = _of_property(prop)
    if "choices" in details:
        # Items may be freed when their iterator ends.
        meanings = {item.identifier: item.description for item in prop.enum_items}
        meanings = {one: meanings[one] for one in details["choices"] if meanings.get(one)}
        if meanings:
            details["meanings"] = meanings
    return details


def _of_property(prop: Any) -> Json:
    details: Json = {"type": prop.type.lower()}
    if prop.type in ("INT", "FLOAT", "BOOLEAN"):
        size = getattr(prop, "array_length", 0)
        details["default"] = list(prop.default_array)[:16] if size else prop.default
        if size:
            details["length"] = size
    if prop.type in ("INT", "FLOAT"):
        details["range"] = [prop.hard_min, prop.hard_max]
        if prop.unit != "NONE":
            details["unit"] = prop.unit.lower()
    elif prop.type == "ENUM":
        details["choices"] = [item.identifier for item in prop.enum_items][:MOST_LISTED]
        details["default"] = prop.default
    elif prop.type == "STRING":
        details["default"] = prop.default
    elif prop.type in ("POINTER", "COLLECTION"):
        details["of"] = prop.fixed_type.identifier if prop.fixed_type else None
    if prop.is_readonly:
        details["read_only"] = True
    return details
