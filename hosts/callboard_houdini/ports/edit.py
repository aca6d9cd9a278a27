"""The ``scene.mutate`` port: changing the scene."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import hou

from callboard.errors import HostError
from callboard.host import PrimitiveKind, Vector
from callboard_houdini.application.names import (
    check_new_name,
    family,
    find,
    parent_of,
    root,
    selected_paths,
    set_selection,
    telling,
)
from callboard_houdini.parts import object_color, shapes, transforms
from callboard_houdini.parts.assets import refuse_inside_asset


class HoudiniSceneEditor:
    def create(self, kind: PrimitiveKind, name: str | None, dimensions: Mapping[str, float]) -> str:
        named = kind.capitalize() if name is None else name
        check_new_name(named)
        with telling(f"create a {kind}"):
            return str(shapes.create(kind, named, dimensions).path())

    def set_transform(
        self, name: str, translate: Vector | None, rotate: Vector | None, scale: Vector | None
    ) -> str:
        node = find(name)
        refuse_inside_asset(node, values_only=True)
        transforms.write(node, translate, rotate, scale)
        return str(node.path())

    def set_parent(self, name: str, parent: str | None, keep_world: bool) -> str:
        node = find(name)
        above = None if parent is None else find(parent)
        if above is not None and above in family(node):
            raise HostError(f"'{parent}' can't be the parent: it is '{name}' itself, or below it")
        if above == parent_of(node):
            return str(node.path())
        for each in (node, above):
            if each is not None:
                refuse_inside_asset(each)
        with telling(f"parent '{node.name()}'"):
            local, world = node.localTransform(), node.worldTransform()
            node = _moved(node, root() if above is None else above.parent() or root())
            _wire(node, above)
            if keep_world:
                local = world * node.parentAndSubnetTransform().inverted()
            if not node.localTransform().isAlmostEqual(local):
                transforms.write_matrix(node, local)
        return str(node.path())

    def rename(self, name: str, new_name: str) -> str:
        node = find(name)
        check_new_name(new_name)
        if node.name() == new_name:
            return str(node.path())
        refuse_inside_asset(node)
        around = node.parent()
        if around is not None and around.node(new_name) is not None:
            raise HostError(f"'{new_name}' is taken; use another name")
        with telling(f"rename '{node.name()}'"):
            node.setName(new_name)
        return str(node.path())

    def delete(self, names: Sequence[str]) -> list[str]:
        doomed = {each.path(): each for name in names for each in family(find(name))}
        for node in doomed.values():
            refuse_inside_asset(node)
        for path, node in doomed.items():
            around = node.parent()
            if around is not None and around.path() in doomed:
                continue  # The object is deleted with its subnet.
            with telling(f"delete '{path}'"):
                node.destroy()
        return list(doomed)

    def duplicate(self, name: str, new_name: str | None) -> str:
        node = find(name)
        named = node.name() if new_name is None else new_name
        check_new_name(named)
        refuse_inside_asset(node)
        inside = node.parent() or root()
        wired = node.inputs()
        with telling(f"duplicate '{node.name()}'"):
            # A subnet's content is copied with the subnet.
            members = [each for each in family(node) if each.parent() == inside]
            selected = selected_paths()
            copy = hou.copyNodesTo(members, inside)[0]
            set_selection(selected)
            copy.setName(named, unique_name=True)
            copy.setInput(0, wired[0] if wired else None)
            return str(copy.path())

    def select(self, names: Sequence[str]) -> list[str]:
        chosen = [find(name) for name in dict.fromkeys(names)]
        with telling("select them"):
            set_selection([node.path() for node in chosen])
        return list(dict.fromkeys(node.path() for node in chosen))

    def set_color(self, name: str, color: Vector) -> str:
        node = find(name)
        object_color.set_color(node, color)
        return str(node.path())


def _wire(node: hou.ObjNode, above: hou.ObjNode | None) -> None:
    """Wire the object without Houdini's own option to keep its position, which the artist may have
    switched on."""
    keeps = node.parm("keeppos")
    before = keeps.eval() if keeps is not None else 0
    if keeps is not None and before:
        keeps.set(0)
    node.setInput(0, above)
    if keeps is not None and before:
        keeps.set(before)


def _moved(node: hou.ObjNode, network: hou.Node) -> hou.ObjNode:
    """Move the object into that network, with everything wired to it, because wires don't cross
    networks."""
    inside = node.parent()
    if inside is None or inside == network:
        return node
    members = [each for each in family(node) if each.parent() == inside]
    selected, paths = selected_paths(), [each.path() for each in members]
    moved = hou.moveNodesTo(members, network)
    # Houdini selects the nodes that it has moved.
    now = dict(zip(paths, (each.path() for each in moved), strict=True))
    set_selection([now.get(path, path) for path in selected])
    top = moved[0]
    assert isinstance(top, hou.ObjNode)
    return top
