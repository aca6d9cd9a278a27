"""Finds the data that modifiers and constraints point at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
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
        yield from (value for value, _ in inputs_of(each) if isinstance(value, bpy.types.ID))


def inputs_of(nodes: Any) -> Iterator[tuple[Any, Callable[[Any], None]]]:
    """Yield the value of each input of a geometry nodes modifier, and a function that sets it."""
    own = getattr(getattr(nodes, "properties", None), "inputs", None)
    if own is None:  # Before Blender 5.2, they are the modifier's custom properties.
        for key, value in list(nodes.items()):
            yield value, partial(nodes.__setitem__, key)
        return
    for prop in own.bl_rna.properties:
        if prop.type == "POINTER" and prop.identifier != "rna_type":
            held = getattr(own, prop.identifier)
            yield getattr(held, "value", None), partial(setattr, held, "value")


@cache
def _pointers(name: str) -> tuple[str, ...]:
    properties = getattr(bpy.types, name).bl_rna.properties
    return tuple(each.identifier for each in properties if each.type == "POINTER")
