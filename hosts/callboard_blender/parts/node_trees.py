"""Finds node trees, and what uses them: those of materials, worlds, lights, scenes and line styles,
and node groups. Their sockets have the same names in all versions of Blender."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import bpy

from callboard.errors import HostError
from callboard.host import Json, nearest_names
from callboard_blender.parts.data_blocks import collections
from callboard_blender.parts.node_facts import used
from callboard_blender.parts.pointers import named_by

#: The collections of ``bpy.data`` whose datablocks have a tree. From Blender 5.0, the tree of a
#: scene is a node group, which is listed as such.
KINDS = ("materials", "worlds", "lights", "linestyles", "node_groups", "scenes")
#: Maximum number of users of each kind that are named, and of names in an error.
_MOST_USERS, _MOST = 50, 40


@dataclass(frozen=True)
class Tree:
    """A node tree. ``name`` is the full name of its material, world, light, scene or group, and
    ``owner`` is the datablock with which it is saved."""

    kind: str
    name: str
    owner: Any
    tree: Any

    @property
    def library(self) -> Any:
        return self.owner.library


def trees(kind: str | None = None) -> list[Tree]:
    """Return the file's trees, each once."""
    chosen: dict[Any, Tree] = {}
    for each in KINDS if kind is None else (kind,):
        for block in getattr(bpy.data, each):
            tree = _tree_of(block)
            if tree is not None and tree not in chosen:
                owner = block if tree.is_embedded_data else tree
                chosen[tree] = Tree(each, str(block.name_full), owner, tree)
    return list(chosen.values())


def tree_named(name: str, kind: str | None = None) -> Tree:
    """Return the tree of the datablock with that name. Raises HostError."""
    known = trees(kind)
    named = [each for each in known if each.name == name]
    if not named and kind is None:  # From Blender 5.0, a scene shares its tree with a group.
        named = [each for each in trees("scenes") if each.name == name]
    named = named or [each for each in known if each.owner.name == name]
    if len(named) > 1:
        kinds = ", ".join(sorted({each.kind for each in named}))
        raise HostError(
            f"several things named '{name}' have nodes, so give kind: {kinds}"
            if len({each.kind for each in named}) > 1
            else f"several {kinds} are named '{name}': {listed(each.name for each in named)}"
        )
    if not named:
        bare = [
            each
            for each in KINDS
            if kind in (None, each) and getattr(bpy.data, each).get(name) is not None
        ]
        if bare:
            raise HostError(f"'{name}', of the {bare[0]}, has no nodes")
        names = [each.name for each in known]
        near = nearest_names(name, names) or names[:5]
        what = f"the {kind}" if kind else "everything with nodes"
        raise HostError(
            f"there is no '{name}' among {what}"
            + (f"; some of it: {', '.join(near)}" if near else "; there is nothing")
        )
    return named[0]


def trees_named(names: Sequence[str] | None, kind: str | None = None) -> tuple[list[Tree], bool]:
    """Return the trees with these names, or those that fit a name as a pattern, and whether each
    was named exactly. Without names, return all trees."""
    if names is None:
        return trees(kind), False
    chosen: dict[Any, Tree] = {}
    exact = True
    for name in names:
        known = trees(kind)
        if any(mark in name for mark in "*?") and not any(each.name == name for each in known):
            fitting = [each for each in known if fnmatchcase(each.name, name)]
            exact = False
        else:
            fitting = [tree_named(name, kind)]
        if not fitting:
            raise HostError(f"no name of a tree fits '{name}'")
        chosen.update((each.tree, each) for each in fitting)
    return list(chosen.values()), exact


def refuse_foreign(tree: Tree) -> None:
    """Raise HostError when saving this file wouldn't keep a change to the tree."""
    if tree.library is not None:
        raise HostError(
            f"'{tree.name}' is linked from '{bpy.path.basename(tree.library.filepath)}', so a"
            " change would be lost when this file is opened again; change it in that file, or have"
            " the artist make it local"
        )
    if tree.owner.override_library is not None:
        raise HostError(
            f"'{tree.name}' is an override of linked data, which doesn't keep changes to nodes;"
            " change it in its own file"
        )


def users_of(chosen: Iterable[Tree], known: Mapping[Any, Any] | None = None) -> Json:
    """Return the names of what the trees are used by, by kind: what uses a group, also through
    other groups, and the objects with a material. ``known`` is Blender's map of all users, for
    several calls."""
    level = {each.owner for each in chosen}
    seen, users = set(level), defaultdict(list)
    while level:
        using = bpy.data.user_map(subset=level) if known is None else known
        level = {one for each in level for one in using.get(each, ())} - seen
        seen |= level
        for each in level:
            if kind_of(each) not in _WINDOWS:
                users[kind_of(each)].append(str(each.name_full))
        level = {
            each
            for each in level
            if isinstance(each, bpy.types.NodeTree) or kind_of(each) in _SHAPES
        }
    return {kind: sorted(users[kind])[:_MOST_USERS] for kind in sorted(users)}


#: What belongs to Blender's window.
_WINDOWS = ("window_managers", "screens", "workspaces")
#: Data through which an object has a material.
_SHAPES = ("meshes", "curves", "metaballs", "hair_curves", "volumes", "pointclouds")


def kind_of(block: bpy.types.ID) -> str:
    """Return the collection of ``bpy.data`` that a datablock is in."""
    return next((name for name, kind in _kinds() if isinstance(block, kind)), "others")


@cache
def _kinds() -> list[tuple[str, type]]:
    properties = bpy.data.bl_rna.properties
    kinds = [(name, properties[name].fixed_type.identifier) for name, _ in collections()]
    # In Blender 5.2, `all_ids` has all datablocks again.
    return [(name, getattr(bpy.types, kind)) for name, kind in kinds if kind != "ID"]


def collection_for(rna: Any) -> str | None:
    """Return the collection of ``bpy.data`` with the datablocks that a pointer may have, or None
    if it is a pointer to something else."""
    kind = getattr(bpy.types, rna.fixed_type.identifier, None)
    return next((name for name, each in _kinds() if kind is each), None)


def sockets_of(node: Any, side: str) -> dict[str, Any]:
    """Return the node's available sockets by name, or by identifier if several have the same
    name. ``side`` is ``inputs`` or ``outputs``."""
    return _by_name(
        each
        for each in getattr(node, side)
        if each.enabled and each.bl_idname != "NodeSocketVirtual"
    )


def socket_named(node: Any, side: str, name: str) -> Any:
    """Return the socket with that name, identifier or label. Raises HostError."""
    known = sockets_of(node, side)
    if name in known:
        return known[name]
    fitting = [
        each
        for each in known.values()
        if name == each.identifier or name.lower() in (each.name.lower(), _label(each).lower())
    ]
    if len(fitting) != 1:
        why = "several" if fitting else "no"
        raise HostError(
            f"'{node.name}' has {why} {side[:-1]} '{name}'; its {side} are: {listed(known)}"
        )
    return fitting[0]


def _label(socket: Any) -> str:
    return str(getattr(socket, "label", ""))


def interface_of(tree: Any, direction: str) -> dict[str, Any]:
    """Return the sockets that a group offers, by name, or by identifier if several have the same
    name. ``direction`` is ``input`` or ``output``."""
    interface = getattr(tree, "interface", None)
    if interface is None:  # Before Blender 4.0, inputs and outputs are apart.
        return _by_name(getattr(tree, f"{direction}s"))
    return _by_name(
        each
        for each in interface.items_tree
        if each.item_type == "SOCKET" and each.in_out == direction.upper()
    )


def _by_name(sockets: Iterable[Any]) -> dict[str, Any]:
    known = list(sockets)
    count: dict[str, int] = defaultdict(int)
    for each in known:
        count[each.name] += 1
    return {each.name if count[each.name] == 1 else each.identifier: each for each in known}


def node_named(tree: Tree, name: str) -> Any:
    """Return the node with that name, or the only one with that label. Raises HostError."""
    nodes = tree.tree.nodes
    node = nodes.get(name)
    labelled = [] if node else [each for each in nodes if each.label == name]
    if node is None and len(labelled) != 1:
        known = [each.name for each in nodes]
        near = nearest_names(name, known)
        names = [*near, *(each for each in known if each not in near)]
        why = "several nodes with the label" if labelled else "no node"
        raise HostError(f"'{tree.name}' has {why} '{name}'; its nodes are: {listed(names)}")
    return node or labelled[0]


def fitting_nodes(
    tree: Tree, names: Sequence[str] | None, type: str | None, uses: str | None
) -> Iterator[Any]:
    """Yield the nodes whose name or label fits one of the patterns, that are of the type, and that
    use a datablock with a name that fits ``uses``. None fits all."""
    for node in tree.tree.nodes:
        called = (node.name, node.label)
        if (
            (names is None or any(n == c or fnmatchcase(c, n) for n in names for c in called))
            and (type is None or type.lower() in types_of(node))
            and (uses is None or any(fits(each, uses) for each in used_by(node)))
        ):
            yield node


def types_of(node: Any) -> set[str]:
    """Return the words for the node's type, in lower case: ``ShaderNodeBump``, ``BUMP``, and what
    the menu calls it."""
    return {each.lower() for each in (node.bl_idname, node.type, node.bl_label)}


def used_by(node: Any) -> Iterator[bpy.types.ID]:
    """Yield the datablocks that the node's own properties and its inputs name."""
    yield from used(node).values()
    for socket in node.inputs:
        value = getattr(socket, "default_value", None)
        if isinstance(value, bpy.types.ID):
            yield value


def fits(block: bpy.types.ID, name: str) -> bool:
    return name in (block.name, block.name_full) or fnmatchcase(block.name_full, name)


def require_used(uses: str) -> None:
    """Raise HostError unless a datablock that a node can use has a name that fits."""
    known = [each for name in _USED for each in getattr(bpy.data, name, ())]
    if not any(fits(each, uses) for each in known):
        near = nearest_names(uses, [each.name_full for each in known])
        some = f"; did you mean {', '.join(near)}?" if near else ""
        raise HostError(f"nothing that a node can use is called '{uses}'{some}")


_USED = (
    *("node_groups", "images", "objects", "collections", "materials", "textures", "texts"),
    *("movieclips", "masks", "scenes", "fonts", "sounds", "actions"),
)


def modifiers_with(uses: str | None) -> Iterator[tuple[bpy.types.Object, Any]]:
    """Yield each geometry nodes modifier of the file with its object, if its group or something in
    its inputs has a name that fits. None fits all."""
    for obj in bpy.data.objects:
        for each in obj.modifiers:
            if each.type != "NODES" or each.node_group is None:
                continue
            if uses is None or any(fits(one, uses) for one in named_by(each)):
                yield obj, each


def listed(names: Iterable[str]) -> str:
    there = list(names)
    more = f" and {len(there) - _MOST} more" if len(there) > _MOST else ""
    return ", ".join(f"'{each}'" for each in there[:_MOST]) + more if there else "none"


def _tree_of(block: Any) -> Any:
    if isinstance(block, bpy.types.NodeTree):
        return block
    if hasattr(block, "compositing_node_group"):  # a scene, from Blender 5.0
        return block.compositing_node_group
    return getattr(block, "node_tree", None)
