"""Adds and removes nodes, links, and the sockets that a group offers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import bpy

from callboard.errors import HostError, WrongArgument
from callboard.host import Json, nearest_names
from callboard_blender.application.linked_data import is_own_object
from callboard_blender.parts.node_changes import (
    FILES,
    NodeChanges,
    moved_paths,
    refuse_shifted,
    require_range,
)
from callboard_blender.parts.node_facts import value_json
from callboard_blender.parts.node_json import modifier_value
from callboard_blender.parts.node_trees import (
    Tree,
    fitting_nodes,
    interface_of,
    listed,
    modifiers_with,
    node_named,
    socket_named,
    sockets_of,
    trees,
)

#: Beginnings of the names of node types. In each tree, its own come first.
_FAMILIES = ("ShaderNode", "GeometryNode", "CompositorNode", "FunctionNode", "TextureNode", "Node")
#: Words for the types of a group's sockets.
SOCKETS = (
    *("Float", "Int", "Bool", "Vector", "Color", "String", "Shader", "Geometry", "Object", "Image"),
    *("Material", "Collection", "Texture", "Rotation", "Matrix", "Menu", "Bundle", "Closure"),
)
#: What Blender before 4.0 doesn't check.
_BEFORE_4 = {
    "ShaderNodeTree": ("Float", "Vector", "Color", "Shader"),
    "CompositorNodeTree": ("Float", "Vector", "Color"),
}


class NodeLinks:
    def __init__(self, values: NodeChanges) -> None:
        self._values = values

    def add(self, tree: Tree, type: str, name: str | None) -> Any:
        self._values.begin(tree)
        nodes = tree.tree.nodes
        if name is not None and name in nodes:
            raise HostError(f"'{tree.name}' has a node '{name}' already; use another name")
        node = None
        for each in _node_types(tree.tree, type):
            try:
                node = nodes.new(each)
                break
            except RuntimeError:  # This type can't be in a tree of this kind.
                continue
        if node is None:
            known = [label for _, label in _types() if label]
            near = nearest_names(type, known) or nearest_names(type, [each for each, _ in _types()])
            some = f"; did you mean {', '.join(near)}?" if near else ""
            raise HostError(f"'{tree.name}' can't have a node of the type '{type}'{some}")
        if name is not None:
            node.name = name
        node.select = False
        return node

    def place(self, tree: Tree, made: Sequence[Any]) -> None:
        """Put new nodes beside what they are linked to, or below all others."""
        for node in reversed(made):
            after = [each.to_node for each in tree.tree.links if each.from_node == node]
            before = [each.from_node for each in tree.tree.links if each.to_node == node]
            if after:
                x, y = after[0].location
                node.location = (x - node.width - 60, y - 60 * (len(after[0].inputs) > 1))
            elif before:
                x, y = before[0].location
                node.location = (x + before[0].width + 60, y)
            else:
                others = [each.location for each in tree.tree.nodes if each not in made]
                low = min((each.y for each in others), default=0)
                node.location = (min((each.x for each in others), default=0), low - 300)

    def remove(
        self, tree: Tree, names: Sequence[str], reconnect: bool
    ) -> tuple[list[str], list[str]]:
        """Remove nodes. With ``reconnect``, link what passed through each of them. Return the
        names, and which values had keys or drivers that are gone too."""
        doomed = [*fitting_nodes(tree, names, None, None)]
        if not doomed:
            node_named(tree, names[0])
            raise HostError(f"no node of '{tree.name}' fits {listed(names)}")
        self._values.begin(tree)
        gone = [str(each.name) for each in doomed]
        keys = [f"{one.name}: {each}" for one in doomed for each in moved_paths(tree.tree, one)]
        links = tree.tree.links
        for node in doomed:
            through = [(each.from_socket, each.to_socket) for each in node.internal_links]
            for inside, outside in through if reconnect else ():
                sources = [each.from_socket for each in inside.links]
                for target in [each.to_socket for each in outside.links]:
                    for source in sources:
                        links.new(target, source)
            tree.tree.nodes.remove(node)
        left = [name for name in gone if name in tree.tree.nodes]
        if left:
            raise HostError(f"Blender didn't remove {listed(left)}")
        return gone, keys

    def link(self, tree: Tree, asked: Mapping[str, str]) -> tuple[Json, list[Json]]:
        """Link an output to an input. Return the link, and the links that it replaces."""
        source, target = node_named(tree, asked["from"]), node_named(tree, asked["to"])
        outside = _socket(source, "outputs", asked.get("output"))
        inside = _socket(target, "inputs", asked.get("input"))
        self._values.begin(tree)
        rna = inside.bl_rna.properties.get("default_value")
        if rna is not None and rna.type == "STRING" and rna.subtype in FILES:
            raise HostError(f"'{inside.name}' of '{target.name}' names a file, so it isn't linked")
        links = tree.tree.links
        before = [_pair(each) for each in links if each.to_socket == inside]
        broken = {_ends(each) for each in links if not each.is_valid}
        links.new(inside, outside)
        there = [each for each in links if _ends(each) == (outside, inside)]
        what = f"'{outside.name}' of '{source.name}' to '{inside.name}' of '{target.name}'"
        if not there:
            raise HostError(f"Blender doesn't link {what}")
        if {_ends(each) for each in links if not each.is_valid} - broken:
            if there[0].is_valid or outside.type == inside.type:
                raise HostError(f"linking {what} would make a loop")
            raise HostError(
                f"Blender can't link {what}: {outside.type.lower()} doesn't become"
                f" {inside.type.lower()}"
            )
        now = [_pair(each) for each in links if each.to_socket == inside]
        return _pair(there[0]), [each for each in before if each not in now]

    def unlink(self, tree: Tree, asked: Mapping[str, str]) -> list[Json]:
        """Remove the links that fit. Return them."""
        source, target = (
            node_named(tree, asked[key]) if key in asked else None for key in ("from", "to")
        )
        outside = _socket(source, "outputs", asked["output"]) if "output" in asked else None
        inside = _socket(target, "inputs", asked["input"]) if "input" in asked else None
        concerned = [
            each
            for each in tree.tree.links
            if source in (None, each.from_node) and target in (None, each.to_node)
        ]
        doomed = [
            each
            for each in concerned
            if outside in (None, each.from_socket) and inside in (None, each.to_socket)
        ]
        if not doomed:
            there = (
                f"{e['from']}: {e['output']} to {e['to']}: {e['input']}"
                for e in map(_pair, concerned)
            )
            raise HostError(f"no link fits; the links of what you named are: {listed(there)}")
        self._values.begin(tree)
        gone = [_pair(each) for each in doomed]
        for each in doomed:
            tree.tree.links.remove(each)
        return gone

    def set_socket(
        self, tree: Tree, direction: str, name: str, type: str | None, asked: Mapping[str, Any]
    ) -> Any:
        """Set what a group's socket is like. Add it first if ``type`` is given. ``asked`` has any
        of new_name, description, min, max and default. Return Blender's description of it."""
        self._values.begin(tree)
        if type is not None:
            there = _added(tree, direction, name, type)
        else:
            there = interface_socket(tree, direction, name)
        for key, word in (("new_name", "name"), ("description", "description")):
            if key in asked:
                if key == "new_name" and asked[key] in interface_of(tree.tree, direction):
                    raise HostError(f"'{tree.name}' has another {direction} '{asked[key]}'")
                setattr(there, word, asked[key])
        for key in ("min", "max", "default"):
            if key in asked:
                self._set(tree, there, key, asked[key], f"{key} of '{there.name}' in '{tree.name}'")
        if hasattr(there, "min_value") and there.min_value > there.max_value:
            raise HostError(f"min {there.min_value:g} is above max {there.max_value:g}")
        return there

    def _set(self, tree: Tree, there: Any, key: str, value: Any, what: str) -> None:
        place = "default_value" if key == "default" else f"{key}_value"
        if not hasattr(there, place):
            raise WrongArgument(f"'{there.name}' has no {key}, because of its type")
        self._values.set_value(tree.tree, there, place, value, what)
        if key == "default":
            require_range(there, there.default_value, what)

    def spread(self, tree: Tree, there: Any, value: Any) -> list[str]:
        """Set an input's value in all nodes and modifiers that use the group, except in linked data
        and where the input is linked. Return what changed."""
        done = []
        for each, node in using(tree.tree):
            socket = _own_socket(node, there)
            linked = each.library or each.owner.override_library
            if socket is not None and not socket.is_linked and not linked:
                self._values.set_node(each, node, {socket.identifier: value}, {}, {})
                done.append(f"{each.name}: {node.name}")
        for obj, modifier in modifiers_with(None):
            if modifier.node_group == tree.tree and is_own_object(obj):
                self._values.set_modifier(obj, modifier, {there.identifier: value})
                done.append(f"{obj.name}: {modifier.name}")
        return done

    def remove_socket(self, tree: Tree, direction: str, name: str) -> list[str]:
        """Remove a socket of a group. Return the links that are lost."""
        self._values.begin(tree)
        there = interface_socket(tree, direction, name)
        for each, node in using(tree.tree) if direction == "input" else ():
            left = [one.name for one in node.inputs if one.identifier != there.identifier]
            refuse_shifted(each, node, left)
        lost = [
            f"{each.name}: {link.from_node.name} to {link.to_node.name}"
            for each, node in using(tree.tree)
            for socket in getattr(node, f"{direction}s")
            if socket.identifier == there.identifier
            for link in socket.links
        ]
        side, kind = ("outputs", "INPUT") if direction == "input" else ("inputs", "OUTPUT")
        lost += [
            f"{tree.name}: {link.from_node.name} to {link.to_node.name}"
            for node in tree.tree.nodes
            if node.type == f"GROUP_{kind}"
            for socket in getattr(node, side)
            if socket.identifier == there.identifier
            for link in socket.links
        ]
        if hasattr(tree.tree, "interface"):
            tree.tree.interface.remove(there)
        else:
            getattr(tree.tree, f"{direction}s").remove(there)
        return lost


def kept_values(tree: Tree, there: Any, value: Any) -> list[Json]:
    """Return the nodes and modifiers whose own value of a group's input isn't ``value``."""
    kept = []
    for each, node in using(tree.tree):
        socket = _own_socket(node, there)
        if socket is not None and not socket.is_linked and hasattr(socket, "default_value"):
            kept.append(
                {"of": each.name, "node": node.name, "value": value_json(socket.default_value)}
            )
    for obj, modifier in modifiers_with(None):
        if modifier.node_group == tree.tree and hasattr(there, "default_value"):
            now = modifier_value(modifier, there)
            kept.append({"of": obj.name_full, "modifier": modifier.name, "value": now})
    return [each for each in kept if each["value"] != value]


def using(group: Any) -> Iterator[tuple[Tree, Any]]:
    """Yield the nodes that use a group, with their trees."""
    for tree in trees():
        for node in tree.tree.nodes:
            if getattr(node, "node_tree", None) == group:
                yield tree, node


def interface_socket(tree: Tree, direction: str, name: str) -> Any:
    """Return the group's socket with that name. Raises HostError."""
    if tree.owner != tree.tree:
        raise HostError(f"'{tree.name}' is not a node group, so it has no {direction}s of its own")
    known = interface_of(tree.tree, direction)
    fitting = [known[name]] if name in known else []
    fitting = fitting or [each for each in known.values() if each.name.lower() == name.lower()]
    if len(fitting) != 1:
        why = "several" if fitting else "no"
        raise HostError(
            f"'{tree.name}' has {why} {direction} '{name}'; its {direction}s are: {listed(known)}"
        )
    return fitting[0]


def _own_socket(node: Any, there: Any) -> Any:
    return next((each for each in node.inputs if each.identifier == there.identifier), None)


def _added(tree: Tree, direction: str, name: str, type: str) -> Any:
    if tree.owner != tree.tree:
        raise HostError(f"'{tree.name}' is not a node group, so it has no {direction}s of its own")
    if name in interface_of(tree.tree, direction):
        raise HostError(f"'{tree.name}' has the {direction} '{name}' already; leave out type")
    word = next(
        (each for each in SOCKETS if type.lower() in (each.lower(), f"nodesocket{each}".lower())),
        type,
    )
    kind = word if word.startswith("NodeSocket") else f"NodeSocket{word}"
    try:
        if word not in _BEFORE_4.get(tree.tree.bl_idname, SOCKETS) and bpy.app.version < (4, 0):
            raise TypeError("such groups have no such sockets")
        if hasattr(tree.tree, "interface"):
            made = tree.tree.interface.new_socket(name, in_out=direction.upper(), socket_type=kind)
        else:
            made = getattr(tree.tree, f"{direction}s").new(kind, name)
    except (TypeError, RuntimeError) as error:
        raise HostError(
            f"'{tree.name}' can't have an {direction} of the type '{type}': {error}. Types are"
            f" {', '.join(each.lower() for each in SOCKETS)}"
        ) from None
    return made


def _socket(node: Any, side: str, name: str | None) -> Any:
    known = sockets_of(node, side)
    if name is None and len(known) == 1:
        return next(iter(known.values()))
    if name is None:
        raise WrongArgument(f"'{node.name}' has several {side}, so name one: {listed(known)}")
    return socket_named(node, side, name)


def _ends(link: Any) -> tuple[Any, Any]:
    return link.from_socket, link.to_socket


def _pair(link: Any) -> Json:
    def name(node: Any, side: str, socket: Any) -> str:
        known = sockets_of(node, side).items()
        return next((key for key, each in known if each == socket), str(socket.identifier))

    return {
        "from": link.from_node.name,
        "output": name(link.from_node, "outputs", link.from_socket),
        "to": link.to_node.name,
        "input": name(link.to_node, "inputs", link.to_socket),
    }


@cache
def _types() -> list[tuple[str, str]]:
    """Return Blender's node types with what its menus call them."""
    names = [each for each in dir(bpy.types) if each.startswith(_FAMILIES)]
    kinds = [(each, getattr(bpy.types, each)) for each in names]
    internal = bpy.types.NodeInternal
    return [(name, kind.bl_rna.name) for name, kind in kinds if issubclass(kind, internal)]


def _node_types(tree: Any, type: str) -> list[str]:
    """Return the node types that the word may mean, the tree's own first."""
    family = tree.bl_idname.removesuffix("Tree")
    fitting = [name for name, label in _types() if type.lower() in (name.lower(), label.lower())]
    # What the menu calls "Group" has various names.
    fitting += [f"{family}Group"] if type.lower() == "group" else []
    return sorted(fitting, key=lambda name: not name.startswith(family))
