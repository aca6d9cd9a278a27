"""Finds the data that modifiers and constraints point at."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import bpy


def named_by(each: Any) -> Iterator[Any]:
    """Yield the data that a modifier or constraint points at."""
    for key in _pointers(type(each).__name__):
        value = getattr(each, key)
        if isinstance(value, bpy.types.ID):
            yield value
    for target in getattr(each, "targets", ()):  # Armature constraints have targets.
        if target.target is not None:
            yield target.target
    if getattr(each, "type", "") == "NODES":
        yield from (value for value in _inputs(each) if isinstance(value, bpy.types.ID))


def _inputs(nodes: Any) -> Iterator[Any]:
    """Yield the values of the inputs of a geometry nodes modifier."""
    own = getattr(getattr(nodes, "properties", None), "inputs", None)
    if own is None:  # Before Blender 5.2, they are the modifier's custom properties.
        yield from (value for _, value in nodes.items())
        return
    for prop in own.bl_rna.properties:
        if prop.type == "POINTER" and prop.identifier != "rna_type":
            yield getattr(getattr(own, prop.identifier), "value", None)


@cache
def _pointers(name: str) -> tuple[str, ...]:
    properties = getattr(bpy.types, name).bl_rna.properties
    return tuple(each.identifier for each in properties if each.type == "POINTER")
