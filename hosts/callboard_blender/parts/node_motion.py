"""Tells which values of nodes are set by drivers or keys."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import bpy

from callboard.host import Json
from callboard_blender.parts.curves import curves_of, drivers_of, strip_curves_of
from callboard_blender.parts.node_trees import Tree, sockets_of

_NODE = re.compile(r'nodes\["((?:[^"\\]|\\.)+)"\]\.(\w+).*')


def moved(tree: Tree) -> dict[str, Json]:
    """Return ``{driven?, animated?}`` by the names of the nodes: the names of the inputs and
    properties that drivers or keys set. A node's own constant is called ``value``."""
    told: defaultdict[str, Json] = defaultdict(dict)
    for word, path in _paths(tree):
        node, key = _of(tree.tree, path)
        if node is not None and key not in told[node.name].setdefault(word, []):
            told[node.name][word].append(key)
    return told


def _paths(tree: Tree) -> Iterator[tuple[str, str]]:
    # A material's own drivers may reach into its tree.
    for holder, before in ((tree.tree, ""), (tree.owner, "node_tree.")):
        if holder == tree.tree and before:
            continue
        for word, curves in (
            ("driven", drivers_of(holder)),
            ("animated", (*curves_of(holder), *strip_curves_of(holder))),
        ):
            for each in curves:
                if each.data_path.startswith(before) and not each.mute:
                    yield word, each.data_path[len(before) :]


def owner_of(holder: bpy.types.ID, path: str) -> Any:
    """Return what has the property at a path, which may name sockets or number them, or None."""
    try:
        return holder.path_resolve(path.rpartition(".")[0])
    except ValueError:
        return None


def _of(tree: Any, path: str) -> tuple[Any, str]:
    """Return the node that a path leads to, or None, and the name of its input or property."""
    owner = owner_of(tree, path)
    if isinstance(owner, bpy.types.NodeSocket):
        if owner.is_output:
            return owner.node, "value"
        known = sockets_of(owner.node, "inputs").items()
        return owner.node, next((name for name, each in known if each == owner), owner.identifier)
    parts = _NODE.fullmatch(path)
    if owner is None or parts is None:
        return None, ""
    return tree.nodes[bpy.utils.unescape_identifier(parts[1])], parts[2]
