"""Tools that read networks and change nothing."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

import hou

from callboard.content import Json
from callboard_houdini.parts.networks import network_at, node_at, summary

#: Maximum number of characters of a string parameter in an answer.
_TEXT = 4000
_PLAIN = ("Int", "Float", "String", "Toggle", "Menu")


def list_nodes(
    ctx: Any,
    network: str = "/obj",
    pattern: str | None = None,
    offset: int = 0,
    limit: int = 100,
) -> Json:
    listed = [
        node
        for node in network_at(network).children()
        if pattern is None or fnmatchcase(node.name().lower(), pattern.lower())
    ]
    page = listed[offset : offset + limit]
    answer: Json = {
        "network": network,
        "nodes": [summary(node) for node in page],
        "total": len(listed),
        "offset": offset,
    }
    end = offset + len(page)
    return {**answer, "next_offset": end} if page and end < len(listed) else answer


def get_node(ctx: Any, path: str, all_parms: bool = False) -> Json:
    node = node_at(path)
    brief = summary(node)
    return {
        **{key: brief[key] for key in ("name", "path", "type", "inputs", "errors")},
        "outputs": [each.path() for each in node.outputs()],
        "children": [each.name() for each in node.children()],
        "parms": {
            several.name(): _value(several)
            for several in node.parmTuples()
            if several.parmTemplate().type().name() in _PLAIN
            and (all_parms or not several.isAtDefault())
        },
        "warnings": list(node.warnings()),
    }


def find_node_types(ctx: Any, text: str, network: str = "/obj", limit: int = 50) -> Json:
    wanted = text.lower()
    types = network_at(network).childTypeCategory().nodeTypes()
    matching = [
        {"name": name, "label": type.description(), "max_inputs": type.maxNumInputs()}
        for name, type in sorted(types.items())
        if not type.hidden() and (wanted in name.lower() or wanted in type.description().lower())
    ]
    return {"types": matching[:limit], "total": len(matching)}


def cook_node(ctx: Any, path: str) -> Json:
    node = node_at(path)
    try:
        node.cook(force=True)
        cooked = not node.errors()
    except hou.OperationFailed:
        cooked = False
    answer: Json = {
        "path": node.path(),
        "cooked": cooked,
        "errors": list(node.errors()),
        "warnings": list(node.warnings()),
    }
    shape = node.geometry() if cooked and isinstance(node, hou.SopNode) else None
    if shape is None:
        return answer
    points, primitives = (shape.intrinsicValue(f"{part}count") for part in ("point", "primitive"))
    return {**answer, "points": points, "primitives": primitives}


def _value(several: Any) -> Any:
    values = [_plain(parm) for parm in several]
    return values[0] if len(values) == 1 else values


def _plain(parm: Any) -> Any:
    kind = parm.parmTemplate().type().name()
    if kind == "Menu":
        return parm.evalAsString()
    value = parm.unexpandedString() if kind == "String" and not parm.keyframes() else parm.eval()
    return value[:_TEXT] if isinstance(value, str) else value
