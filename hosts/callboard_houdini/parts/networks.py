"""Finds nodes of any network by path, for the ``houdini-networks`` skill."""

from __future__ import annotations

import re
from typing import Any

import hou

from callboard.errors import WrongArgument

Json = dict[str, Any]

_PATH = re.compile(r"/[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)*")


def node_at(path: str) -> Any:
    """Return the node. Raises WrongArgument, which lists the existing nodes."""
    node = hou.node(path) if _PATH.fullmatch(path) else None
    if node is not None:
        return node
    above = hou.node(path.rsplit("/", 1)[0] or "/") if _PATH.fullmatch(path) else None
    near = ", ".join(child.name() for child in above.children()[:20]) if above is not None else ""
    hint = f"; the existing nodes are: {near}" if near else "; paths look like /obj/Crate/box1"
    raise WrongArgument(f"there is no node '{path}'{hint}")


def network_at(path: str) -> Any:
    node = node_at(path)
    if not node.isNetwork():
        raise WrongArgument(f"'{path}' is a {node.type().name()}, which can't contain nodes")
    return node


def summary(node: Any) -> Json:
    return {
        "name": node.name(),
        "path": node.path(),
        "type": node.type().name(),
        "inputs": [each.path() if each is not None else None for each in node.inputs()],
        "displayed": displayed(node),
        "errors": list(node.errors()),
    }


def displayed(node: Any) -> bool | None:
    if isinstance(node, hou.ObjNode):
        return bool(node.isObjectDisplayed())
    if isinstance(node, (hou.SopNode, hou.LopNode)):
        return bool(node.isDisplayFlagSet())
    return None
