"""Changes to the values of nodes, and of modifiers with geometry nodes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import bpy

from callboard.errors import HostError, WrongArgument
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.linked_data import is_own_object, refuse_linked
from callboard_blender.application.names import forget, view_layer
from callboard_blender.parts.curves import curves_of, drivers_of
from callboard_blender.parts.data_blocks import DataBlocks, nested
from callboard_blender.parts.node_facts import value_json
from callboard_blender.parts.node_json import RAMP, choices, modifier_value
from callboard_blender.parts.node_motion import owner_of
from callboard_blender.parts.node_trees import (
    Tree,
    collection_for,
    interface_of,
    listed,
    modifiers_with,
    refuse_foreign,
    socket_named,
    sockets_of,
)
from callboard_blender.parts.property_values import converted

#: Properties that name files, which other tools set within the workspace's rules.
FILES = ("FILE_PATH", "DIR_PATH", "FILE_NAME")
#: The largest number for an input that has no limit of its own. Counts of parts beyond that make
#: Blender run out of memory.
_MOST_PARTS = 1_000_000


class NodeChanges:
    def __init__(self, changes: SceneChanges, blocks: DataBlocks) -> None:
        self._changes = changes
        self._blocks = blocks

    def begin(self, tree: Tree) -> None:
        """Raise HostError unless the tree may be changed. Record that it is."""
        refuse_foreign(tree)
        self._changes.touch()

    def end(self) -> None:
        """Have Blender evaluate the changes."""
        view_layer().update()
        forget()

    def set_node(
        self,
        tree: Tree,
        node: Any,
        inputs: Mapping[str, Any],
        properties: Mapping[str, Any],
        flags: Mapping[str, Any],
    ) -> list[str]:
        """Set properties, then inputs, and the ``flags`` ``mute`` and ``label`` of one node. Return
        what another group couldn't keep."""
        self.begin(tree)
        what = f"of '{node.name}' in '{tree.name}'"
        lost: list[str] = []
        for key, value in flags.items():
            self.set_value(tree.tree, node, key, value, f"{key} {what}")
        for key, value in properties.items():
            lost += self._set_property(tree, node, key, value, f"{key} {what}")
        for name, value in inputs.items():
            socket = _input(node, name)
            if socket.is_linked:
                raise HostError(
                    f"the input '{name}' {what} is linked from '{socket.links[0].from_node.name}',"
                    " which decides its value; set it there, or call blender_nodes__unlink first"
                )
            self.set_value(tree.tree, socket, "default_value", value, f"{name} {what}")
            _within(node, socket, f"{name} {what}")
        return lost

    def set_value(self, holder: Any, owner: Any, key: str, value: Any, what: str) -> None:
        """Set a value of a node, a socket or a group's interface, and read it back. ``holder`` is
        the datablock with its keys and drivers."""
        _refuse_moved(holder, owner, key, what)
        wanted = self.value(value, owner, key, what)
        try:
            setattr(owner, key, wanted)
        except (TypeError, ValueError, AttributeError, RuntimeError) as error:
            raise HostError(f"Blender could not set '{what}': {error}") from None
        require_same(wanted, getattr(owner, key), what)

    def value(self, value: Any, owner: Any, key: str, what: str) -> Any:
        """Return the value as the property takes it. Raises HostError."""
        rna = owner.bl_rna.properties[key]
        if rna.type == "POINTER":
            return self._named(value, rna, what)
        if rna.type == "STRING" and rna.subtype in FILES:
            raise HostError(f"'{what}' names a file, which these tools don't set")
        if rna.subtype == "COLOR" and isinstance(value, list) and len(value) == 3:
            value = [*value, 1.0][: rna.array_length]
        if rna.type == "FLOAT" and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        return converted(value, owner, key, rna, what)

    def _named(self, value: Any, rna: Any, what: str) -> Any:
        kind = collection_for(rna)
        if kind is None:
            raise HostError(f"'{what}' is not a single value, which these tools don't set")
        if value is None:
            return None
        if not isinstance(value, str):
            raise HostError(f"'{what}' must be a name from the {kind}, or null")
        return self._blocks.find(kind, value)

    def _set_property(self, tree: Tree, node: Any, key: str, value: Any, what: str) -> list[str]:
        if key == "color_ramp" and hasattr(node, key):
            _set_ramp(node.color_ramp, value, what)
            return []
        of, _, blending = key.partition(".")
        if of == "color_ramp" and blending in RAMP and hasattr(node, of):
            self.set_value(tree.tree, node.color_ramp, blending, value, what)
            return []
        rna = node.bl_rna.properties.get(key)
        common = bpy.types.Node.bl_rna.properties
        if rna is None or key in common or rna.is_readonly:
            own = [each for each in node.bl_rna.properties if each.identifier not in common]
            known = [e.identifier for e in own if not e.is_readonly and e.type != "COLLECTION"]
            raise HostError(
                f"'{node.name}' has no property '{key}' that can be set; it has: {listed(known)}."
                f" Its inputs are: {listed(sockets_of(node, 'inputs'))}"
            )
        if key == "node_tree" and isinstance(value, str):
            return self._swap(tree, node, self._blocks.find("node_groups", value))
        self.set_value(tree.tree, node, key, value, what)
        return []

    def replace_group(
        self, old: Any, new: Any, searched: Sequence[Tree], with_modifiers: bool
    ) -> tuple[list[str], list[str]]:
        """Use the group ``new`` where these trees, and modifiers if asked for, use ``old``, except
        inside ``new`` itself and in linked data. Return what changed, and what was lost."""
        if old == new or old.bl_idname != new.bl_idname:
            raise HostError(f"'{new.name}' can't replace '{old.name}': not another of its kind")
        self._changes.touch()
        done, lost = [], []
        inside = {new, *nested(new)}
        for tree in searched:
            if tree.tree in inside or tree.library or tree.owner.override_library:
                continue
            for node in tree.tree.nodes:
                if getattr(node, "node_tree", None) == old:
                    lost += self._swap(tree, node, new)
                    done.append(f"{tree.name}: {node.name}")
        for obj, modifier in modifiers_with(None) if with_modifiers else ():
            if modifier.node_group == old and is_own_object(obj):
                lost += _swap_in(obj, modifier, new)
                done.append(f"{obj.name}: {modifier.name}")
        if not done:
            raise HostError(f"nothing that can be changed here uses '{old.name}'")
        return done, lost

    def _swap(self, tree: Tree, node: Any, group: Any) -> list[str]:
        """Let a node use another group. Keep its values and links by the names of the sockets.
        Return those that the other group doesn't have."""
        refuse_unfit(tree, group)
        refuse_shifted(tree, node, [each.name for each in interface_of(group, "input").values()])
        links = tree.tree.links
        before = sockets_of(node, "inputs")
        values = {name: _copied(each) for name, each in before.items() if not each.is_linked}
        sources = [(name, each.from_socket) for name, one in before.items() for each in one.links]
        targets = [
            (name, each.to_socket)
            for name, one in sockets_of(node, "outputs").items()
            for each in one.links
        ]
        for link in [each for each in links if node in (each.from_node, each.to_node)]:
            links.remove(link)
        node.node_tree = group
        if node.node_tree != group:
            raise HostError(f"Blender doesn't let '{node.name}' use '{group.name}'")
        inputs, outputs = sockets_of(node, "inputs"), sockets_of(node, "outputs")
        lost = [f"the value of {name}" for name in values if name not in inputs]
        defaults = interface_of(group, "input")
        for name, socket in inputs.items():
            if not _put(socket, values.get(name)):
                lost += [f"the value of {name}"] if name in values else []
                _put(socket, _copied(defaults.get(name)))
        for name, source in sources:
            if name not in inputs or not links.new(inputs[name], source).is_valid:
                lost.append(f"the link into {name}")
        for name, target in targets:
            if name not in outputs or not links.new(target, outputs[name]).is_valid:
                lost.append(f"the link from {name}")
        return [f"{each} of '{node.name}' in '{tree.name}'" for each in lost]

    def set_modifier(self, obj: bpy.types.Object, modifier: Any, inputs: Mapping[str, Any]) -> None:
        """Set the inputs of a geometry nodes modifier, and read them back."""
        refuse_linked(obj)
        self._changes.touch()
        for name, value in inputs.items():
            item = modifier_input(modifier, name)
            what = f"{name} of the modifier '{modifier.name}' of '{obj.name}'"
            wanted = self._set_input(obj, modifier, item, value, what)
            require_same(wanted, modifier_value(modifier, item), what)
        obj.update_tag()

    def _set_input(
        self, obj: bpy.types.Object, modifier: Any, item: Any, value: Any, what: str
    ) -> Any:
        """Set one input, and return the value as the input takes it."""
        key = item.identifier
        own = getattr(getattr(modifier, "properties", None), "inputs", None)
        path = f'modifiers["{bpy.utils.escape_identifier(modifier.name)}"]'
        path += f'["{key}"]' if own is None else f".properties.inputs.{key}.value"
        if any(each.data_path == path for each in (*curves_of(obj), *drivers_of(obj))):
            raise HostError(f"keys or a driver decide about '{what}'; remove those first")
        wanted = self.value(value, item, "default_value", what)
        require_range(item, wanted, what)
        try:
            if own is not None:
                getattr(own, key).type = "VALUE"
                getattr(own, key).value = wanted
            elif item.bl_rna.properties["default_value"].type == "ENUM":
                known = dict(choices(modifier, key))
                if wanted not in known:
                    raise HostError(f"'{what}' must be one of {', '.join(known)}")
                modifier[key] = known[wanted]
            else:
                if modifier.get(f"{key}_use_attribute"):
                    modifier[f"{key}_use_attribute"] = False
                modifier[key] = wanted
        except (TypeError, ValueError, AttributeError) as error:
            raise HostError(f"Blender could not set '{what}': {error}") from None
        return wanted


def _copied(socket: Any) -> Any:
    """Return a copy of a socket's value, or None if it has none."""
    value: Any = getattr(socket, "default_value", None)
    return list(value) if hasattr(value, "__len__") and not isinstance(value, str) else value


def _put(socket: Any, value: Any) -> bool:
    """Set a socket's value. Return whether the socket takes a value of that type."""
    if value is None or not hasattr(socket, "default_value"):
        return value is None
    try:
        socket.default_value = value
    except (TypeError, ValueError):
        return False
    return True


def _swap_in(obj: bpy.types.Object, modifier: Any, group: Any) -> list[str]:
    """Let a modifier use another group. Keep its inputs by their names. Return those that the other
    group doesn't have."""
    before = {
        name: (each.bl_rna.identifier, _held(modifier, each))
        for name, each in interface_of(modifier.node_group, "input").items()
        if hasattr(each, "default_value")
    }
    modifier.node_group = group
    inputs = {
        name: each
        for name, each in interface_of(group, "input").items()
        if hasattr(each, "default_value")
    }
    lost = [name for name in before if name not in inputs]
    for name, each in inputs.items():
        kind, values = before.get(name, ("", {}))
        if kind != each.bl_rna.identifier:
            lost += [name] if kind else []
            values = {"value": _copied(each)}
        _hold(modifier, each, values)
    obj.update_tag()
    return [f"the value of {each} of '{modifier.name}' of '{obj.name}'" for each in lost]


#: What a modifier before Blender 5.2 has for each input: the endings of its custom properties.
_ENDINGS = {"value": "", "type": "_use_attribute", "attribute_name": "_attribute_name"}


def _held(modifier: Any, item: Any) -> dict[str, Any]:
    """Return what the modifier holds for one input: the value, or which attribute it reads."""
    own = getattr(getattr(modifier, "properties", None), "inputs", None)
    held = getattr(own, item.identifier, None)
    if own is not None:
        values = {key: getattr(held, key, None) for key in _ENDINGS}
    else:
        values = {key: modifier.get(f"{item.identifier}{end}") for key, end in _ENDINGS.items()}
    return {
        key: list(each) if hasattr(each, "__len__") and not isinstance(each, str) else each
        for key, each in values.items()
        if each is not None
    }


def _hold(modifier: Any, item: Any, values: Mapping[str, Any]) -> None:
    own = getattr(getattr(modifier, "properties", None), "inputs", None)
    for key, value in values.items():
        if value is None:
            continue
        if own is not None:
            setattr(getattr(own, item.identifier), key, value)
        else:
            modifier[f"{item.identifier}{_ENDINGS[key]}"] = value


def modifier_input(modifier: Any, name: str) -> Any:
    """Return the input that a modifier shows under that name. Raises HostError."""
    known = interface_of(modifier.node_group, "input")
    known = {key: each for key, each in known.items() if hasattr(each, "default_value")}
    if name in known:
        return known[name]
    fitting = [
        each
        for each in known.values()
        if each.identifier == name or each.name.lower() == name.lower()
    ]
    if len(fitting) != 1:
        raise HostError(
            f"the modifier '{modifier.name}' of '{modifier.id_data.name}' has"
            f" {'several inputs' if fitting else 'no input'} '{name}'; its inputs are:"
            f" {listed(known)}"
        )
    return fitting[0]


def moved_paths(tree: Any, node: Any) -> list[str]:
    """Return the paths within a node that have keys or drivers, such as
    ``inputs[1].default_value``."""
    start = f"{node.path_from_id()}."
    moving = (*curves_of(tree), *drivers_of(tree))
    paths = [each.data_path for each in moving if each.data_path.startswith(start)]
    return sorted({each.removeprefix(start) for each in paths})


def refuse_shifted(tree: Tree, node: Any, names: Sequence[str]) -> None:
    """Raise HostError if keys or drivers of the node's inputs would be those of other inputs once
    its inputs have these names. Blender counts inputs there."""
    now = [each.name for each in node.inputs]
    for path in moved_paths(tree.tree, node):
        number = re.match(r"inputs\[(\d+)\]", path)
        at = int(number[1]) if number else None
        if at is not None and at < len(now) and [now[at]] != list(names[at : at + 1]):
            raise HostError(
                f"keys or a driver decide about '{now[at]}' of '{node.name}' in '{tree.name}', and"
                " would then decide about another input; remove those first"
            )


def refuse_unfit(tree: Tree, group: Any) -> None:
    """Raise HostError unless the group can be in the tree."""
    if group.bl_idname != tree.tree.bl_idname:
        raise HostError(f"'{group.name}' is a group of another kind than '{tree.name}'")
    if group == tree.tree or tree.tree in nested(group):
        raise HostError(f"'{tree.name}' is inside '{group.name}', which can't be inside itself")


def require_same(wanted: Any, actual: Any, what: str) -> None:
    """Raise HostError unless the value is as requested."""
    asked, now = value_json(wanted), value_json(actual)
    if isinstance(asked, list) and isinstance(now, list) and len(asked) == len(now):
        right = all(_same(*pair) for pair in zip(asked, now, strict=True))
    else:
        right = _same(asked, now)
    if not right:
        raise HostError(f"Blender changed '{what}' to {now}, where {asked} was asked for")


def _same(asked: Any, now: Any) -> bool:
    """Return whether two values are equal, as far as Blender's numbers are exact."""
    if isinstance(asked, (int, float)) and isinstance(now, (int, float)):
        return math.isclose(asked, now, rel_tol=1e-5, abs_tol=1e-5)
    return bool(asked == now)


def _input(node: Any, name: str) -> Any:
    if node.type in ("VALUE", "RGB") and name.lower() in ("value", "color"):
        return node.outputs[0]  # Such a node's value is in its output.
    socket = socket_named(node, "inputs", name)
    if not hasattr(socket, "default_value"):
        raise HostError(f"the input '{name}' of '{node.name}' has no value; it can only be linked")
    return socket


def _within(node: Any, socket: Any, what: str) -> None:
    """Raise HostError if the value is beyond the limits that the node's group sets."""
    group = getattr(node, "node_tree", None)
    if group is not None:
        item = next(
            (
                each
                for each in interface_of(group, "input").values()
                if each.identifier == socket.identifier
            ),
            None,
        )
        if item is not None:
            require_range(item, socket.default_value, what)


def require_range(item: Any, value: Any, what: str) -> None:
    if not hasattr(item, "min_value"):
        return
    low, high = item.min_value, item.max_value
    if isinstance(value, int) and not isinstance(value, bool):
        low, high = max(low, -_MOST_PARTS), min(high, _MOST_PARTS)
    for each in value if hasattr(value, "__len__") else (value,):
        if not low <= each <= high:
            raise HostError(f"'{what}' must be from {low:g} to {high:g}, not {each:g}")


def _refuse_moved(holder: Any, owner: Any, key: str, what: str) -> None:
    for each in (*curves_of(holder), *drivers_of(holder)):
        path = each.data_path
        if path.rpartition(".")[2] == key and owner_of(holder, path) == owner:
            raise HostError(f"keys or a driver decide about '{what}'; remove those first")


def _set_ramp(ramp: Any, value: Any, what: str) -> None:
    """Set the stops of a color ramp, each ``[position, r, g, b, a]``."""
    right = isinstance(value, list) and 1 <= len(value) <= 32
    for each in value if right else ():
        right &= isinstance(each, list) and len(each) == 5
        right = right and all(isinstance(one, (int, float)) and 0 <= one <= 1e4 for one in each)
    if not right or any(each[0] > 1 for each in value):
        raise WrongArgument(
            f"'{what}' must be a list of up to 32 stops [position, r, g, b, a], with positions from"
            " 0 to 1"
        )
    stops = sorted(value)
    while len(ramp.elements) > len(stops):
        ramp.elements.remove(ramp.elements[-1])
    while len(ramp.elements) < len(stops):
        ramp.elements.new(1.0)
    for element, (position, *color) in zip(ramp.elements, stops, strict=True):
        element.position, element.color = position, color
    for element, stop in zip(ramp.elements, stops, strict=True):
        require_same([float(each) for each in stop], [element.position, *element.color], what)
