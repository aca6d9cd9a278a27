"""Describes nodes, the sockets of groups, and the inputs of geometry nodes modifiers as JSON."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import bpy

from callboard.host import Json
from callboard_blender.parts.node_facts import CONSTANT, settings, used_json, value_json
from callboard_blender.parts.node_trees import interface_of, sockets_of

#: Nodes that end what a tree computes, besides those whose type begins with ``OUTPUT_``.
_ENDS = ("GROUP_OUTPUT", "COMPOSITE")
#: How a color ramp's colors are blended.
RAMP = ("color_mode", "interpolation", "hue_interpolation")
#: A limit of a number that is no limit.
_ENDLESS = 2**31 - 1
#: Maximum number of nodes that are named for one reason.
_MOST = 5


class Flow:
    """The links of one tree: what each input reads, and which nodes an output depends on."""

    def __init__(self, tree: Any, groups: dict[Any, Flow] | None = None) -> None:
        #: The same of the groups in it, as far as known.
        self._groups = {} if groups is None else groups
        #: The identifiers of the group's own inputs that its output depends on.
        self.takes: set[str] = set()
        #: The links to each input, and those from each node by its name.
        self.into: dict[Any, list[Any]] = defaultdict(list)
        self._out_of: dict[str, list[Any]] = defaultdict(list)
        self._zones = {
            each.paired_output_node.name: each
            for each in tree.nodes
            if getattr(each, "paired_output_node", None) is not None
        }
        for link in tree.links:
            self.into[link.to_socket].append(link)
            self._out_of[link.from_node.name].append(link)
        #: The names of the nodes that an output depends on.
        self.reached: set[str] = set()
        self._reach([each for each in tree.nodes if _is_end(each)])

    def _reach(self, ends: list[Any]) -> None:
        self.reached.update(each.name for each in ends)
        seen, waiting = set(), [socket for each in ends for socket in each.inputs]
        while waiting:
            socket = waiting.pop()
            if socket in seen:
                continue
            seen.add(socket)
            for link in self.into.get(socket, ()):
                if not link.is_muted and link.is_valid:
                    node = link.from_node
                    self.reached.add(node.name)
                    if node.type == "GROUP_INPUT":
                        self.takes.add(link.from_socket.identifier)
                    waiting += self._before(node, link.from_socket)

    def _before(self, node: Any, socket: Any) -> Iterator[Any]:
        """Yield the inputs that determine the value of a node's output."""
        if node.mute:  # Only what passes through it counts.
            for link in node.internal_links:
                if link.to_socket == socket:
                    yield link.from_socket
            return
        inner = self._inside(node)
        yield from (each for each in node.inputs if inner is None or each.identifier in inner.takes)
        if node.name in self._zones:
            self.reached.add(self._zones[node.name].name)
            yield from self._zones[node.name].inputs

    def _inside(self, node: Any) -> Flow | None:
        """Return the flow of the node's group. Blender doesn't let a group contain itself."""
        group = getattr(node, "node_tree", None)
        if group is None:
            return None
        if group not in self._groups:
            self._groups[group] = Flow(group, self._groups)
        return self._groups[group]

    def why_not(self, node: Any) -> str | None:
        """Return why the node has no effect on the tree's output, or None if it may have."""
        if node.mute:
            return "it is muted"
        if node.name in self.reached or node.type == "FRAME":
            return None
        if not len(node.outputs):
            return "another output node is the active one" if _ends(node) else "renders ignore it"
        links = self._out_of.get(node.name, ())
        if not links:
            return "none of its outputs is linked"
        if all(link.is_muted for link in links):
            return "its links are muted"
        after = dict.fromkeys(map(self._dead_end, links))
        return f"it is only linked to {', '.join([*after][:_MOST])}"

    def _dead_end(self, link: Any) -> str:
        node = link.to_node
        if node.mute:
            return f"'{node.name}', which is muted"
        if node.name in self.reached and self._inside(node) is not None:
            return f"'{node.name}', whose group makes nothing of the input '{link.to_socket.name}'"
        return f"'{node.name}', from which nothing reaches an output"


def _ends(node: Any) -> bool:
    return node.type.startswith("OUTPUT_") or node.type in _ENDS


def _is_end(node: Any) -> bool:
    return _ends(node) and not node.mute and getattr(node, "is_active_output", True)


def node_json(node: Any, flow: Flow) -> Json:
    """Return the node's type, values and links. A linked input is ``{from, output}``, or a list of
    such."""
    entry: Json = {"name": node.name, "type": node.bl_idname}
    if node.label:
        entry["label"] = node.label
    if node.parent is not None:
        entry["frame"] = node.parent.label or node.parent.name
    if node.type == "FRAME":
        return entry
    why = flow.why_not(node)
    entry |= {"mute": True} if node.mute else {}
    entry["reaches_output"] = why is None
    if why is not None:
        entry["why"] = why
    if properties := properties_json(node):
        entry["properties"] = properties
    if inputs := _inputs(node, flow):
        entry["inputs"] = inputs
    if node.type in CONSTANT:
        entry["value"] = value_json(node.outputs[0].default_value)
    if outputs := list(sockets_of(node, "outputs")):
        entry["outputs"] = outputs
    return entry


def properties_json(node: Any) -> Json:
    """Return the node's own properties. Those that name a datablock come first."""
    named: Json = {**used_json(node), **settings(node, bpy.types.Node)}
    if ramp := getattr(node, "color_ramp", None):
        named["color_ramp"] = [value_json([each.position, *each.color]) for each in ramp.elements]
        named.update((f"color_ramp.{key}", getattr(ramp, key)) for key in RAMP)
    for key in ("mapping", "curve"):
        if isinstance(mapping := getattr(node, key, None), bpy.types.CurveMapping):
            named[key] = [
                [value_json(point.location) for point in curve.points] for curve in mapping.curves
            ]
    return named


def _inputs(node: Any, flow: Flow) -> Json:
    inputs: Json = {}
    for name, each in sockets_of(node, "inputs").items():
        links = [
            {"from": link.from_node.name, "output": _key(link.from_node, link.from_socket)}
            for link in flow.into.get(each, ())
        ]
        if links:
            inputs[name] = links if len(links) > 1 else links[0]
        elif hasattr(each, "default_value") and not each.hide_value:
            inputs[name] = value_json(each.default_value)
    return inputs


def _key(node: Any, socket: Any) -> str:
    known = sockets_of(node, "outputs").items()
    return next((name for name, each in known if each == socket), str(socket.identifier))


def socket_json(item: Any) -> Json:
    """Return ``{type, default?, min?, max?, panel?, description?}`` of a group's socket."""
    kind = getattr(item, "socket_type", None) or item.bl_socket_idname
    entry: Json = {"type": kind}
    for key, word in (("default_value", "default"), ("min_value", "min"), ("max_value", "max")):
        value = value_json(getattr(item, key, None))
        if hasattr(item, key) and not (word in ("min", "max") and abs(value) >= _ENDLESS):
            entry[word] = value
    panel = getattr(getattr(item, "parent", None), "name", "")
    entry |= {"panel": panel} if panel else {}
    return {**entry, "description": item.description} if item.description else entry


def interface_json(tree: Any, direction: str) -> list[Json]:
    return [
        {"name": name, **socket_json(item)} for name, item in interface_of(tree, direction).items()
    ]


def modifier_json(obj: bpy.types.Object, modifier: Any) -> Json:
    """Return ``{object, modifier, switched_off?, group, inputs}``."""
    return {
        "object": obj.name_full,
        "modifier": modifier.name,
        **({} if modifier.show_viewport and modifier.show_render else {"switched_off": True}),
        **group_json(modifier),
    }


def group_json(modifier: Any) -> Json:
    """Return ``{group, inputs}`` of a geometry nodes modifier, and nothing of others. An input that
    reads an attribute is ``{attribute}``."""
    group = modifier.node_group if modifier.type == "NODES" else None
    if group is None:
        return {}
    inputs: Json = {}
    for name, item in interface_of(group, "input").items():
        if hasattr(item, "default_value"):
            inputs[name] = modifier_value(modifier, item)
    return {"group": group.name_full, "inputs": inputs}


def modifier_value(modifier: Any, item: Any) -> Any:
    key = item.identifier
    own = getattr(getattr(modifier, "properties", None), "inputs", None)
    if own is not None:  # from Blender 5.2
        held = getattr(own, key, None)
        if held is None:
            return value_json(item.default_value)
        reads = held.type == "ATTRIBUTE" and held.attribute_name
        return {"attribute": reads} if reads else value_json(held.value)
    if modifier.get(f"{key}_use_attribute"):
        return {"attribute": modifier.get(f"{key}_attribute_name", "")}
    if key not in modifier:
        return value_json(item.default_value)
    value = modifier[key]
    if item.bl_rna.properties["default_value"].type == "BOOLEAN":
        return bool(value)
    if item.bl_rna.properties["default_value"].type == "ENUM":
        return next((word for word, number in choices(modifier, key) if number == value), value)
    return value_json(value)


def choices(modifier: Any, key: str) -> list[tuple[str, int]]:
    """Return the words of a modifier's menu before Blender 5.2, with their numbers."""
    items = modifier.id_properties_ui(key).as_dict().get("items") or ()
    return [(each[0], each[-1]) for each in items]
