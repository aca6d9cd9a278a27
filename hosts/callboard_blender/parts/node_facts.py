"""Describes nodes by their values."""

from __future__ import annotations

from functools import cache
from typing import Any

import bpy

from callboard.host import Json
from callboard_blender.parts.property_values import plain

#: Maximum number of nodes that are described for one value.
_MOST = 10
#: Nodes whose value is in their output.
CONSTANT = ("VALUE", "RGB")


def sources(socket: Any) -> list[Json]:
    """Return the nodes that determine the socket's value, nearest first, with what they use and
    with the values of their inputs. A linked input is the name of the node before it."""
    nodes: dict[str, Json] = {}
    waiting = [socket]
    for each in waiting:
        for link in each.links if each.is_linked else ():
            node = link.from_node
            if node.name not in nodes and len(nodes) < _MOST:
                used = {"uses": names} if (names := list(used_json(node).values())) else {}
                nodes[node.name] = {"node": node.name, **used, "inputs": _inputs(node)}
                waiting += node.inputs
    return list(nodes.values())


def _inputs(node: Any) -> Json:
    inputs: Json = {}
    for each in node.inputs:
        name = each.identifier if each.name in inputs else each.name
        if each.is_linked:
            inputs[name] = f"from {each.links[0].from_node.name}"
        elif each.enabled and not each.hide_value and hasattr(each, "default_value"):
            inputs[name] = value_json(each.default_value)
    if node.type in CONSTANT:
        inputs["value"] = value_json(node.outputs[0].default_value)
    return inputs


def used(node: Any) -> dict[str, bpy.types.ID]:
    """Return the datablocks that the node's own properties name, such as its group or picture."""
    pointers = [each.identifier for each in _own(node, bpy.types.Node) if each.type == "POINTER"]
    pointed = {key: getattr(node, key) for key in pointers}
    return {key: each for key, each in pointed.items() if isinstance(each, bpy.types.ID)}


def used_json(node: Any) -> Json:
    return {key: each.name_full for key, each in used(node).items()}


def settings(owner: Any, base: Any) -> Json:
    """Return the values of the owner's settings that not everything of this kind has."""
    return {
        each.identifier: value_json(getattr(owner, each.identifier))
        for each in _own(owner, base)
        if each.type not in ("POINTER", "COLLECTION") and not each.is_readonly
    }


def _own(owner: Any, base: Any) -> list[Any]:
    """Return the properties that not everything of this kind has."""
    common = _common(base)
    return [each for each in owner.bl_rna.properties if each.identifier not in common]


@cache
def _common(base: Any) -> frozenset[str]:
    # Blender itself would search linearly for each name.
    return frozenset(each.identifier for each in base.bl_rna.properties)


def value_json(value: Any) -> Any:
    """Return a value as JSON, and of a datablock its full name."""
    if isinstance(value, bpy.types.ID):
        return value.name_full
    if isinstance(value, set):
        return sorted(value)
    value = plain(value)
    if isinstance(value, list):
        return [round(each, 6) if isinstance(each, float) else each for each in value]
    return round(value, 6) if isinstance(value, float) else value
