"""The ``scene.mutate`` port: changing the scene."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pymxs import runtime as rt

from callboard.errors import HostError
from callboard.host import PrimitiveKind, Vector
from callboard_max.application.names import (
    Node,
    check_new_name,
    children_of,
    family,
    find,
    free_name,
    handle,
    is_taken,
    parent_of,
    path_of,
    paths_of,
    telling,
)
from callboard_max.parts import object_color, shapes, transforms
from callboard_max.parts.matrices import alike


class MaxSceneEditor:
    def create(self, kind: PrimitiveKind, name: str | None, dimensions: Mapping[str, float]) -> str:
        named = kind.capitalize() if name is None else name
        check_new_name(named)
        with telling(f"create a {kind}"):
            return path_of(shapes.create(kind, free_name(named), dimensions))

    def set_transform(
        self, name: str, translate: Vector | None, rotate: Vector | None, scale: Vector | None
    ) -> str:
        node = find(name)
        transforms.write(node, translate, rotate, scale)
        return path_of(node)

    def set_parent(self, name: str, parent: str | None, keep_world: bool) -> str:
        node = find(name)
        above = None if parent is None else find(parent)
        if above is not None and handle(above) in map(handle, family(node)):
            raise HostError(f"'{parent}' can't be the parent: it is '{name}' itself, or below it")
        now = parent_of(node)
        if (now and handle(now)) != (above and handle(above)):
            if not keep_world:
                transforms.refuse_locked(node)
            local = transforms.local(node)
            with telling(f"parent '{node.name}'"):
                # 3ds Max preserves the node's world transform.
                node.parent = above
            if not keep_world:
                transforms.write_local(node, local)
        return path_of(node)

    def rename(self, name: str, new_name: str) -> str:
        node = find(name)
        check_new_name(new_name)
        if str(node.name) != new_name:
            # 3ds Max would allow the name, but then two nodes could not be told apart.
            if is_taken(new_name):
                raise HostError(f"'{new_name}' is taken; use another name")
            with telling(f"rename '{node.name}'"):
                node.name = new_name
        return path_of(node)

    def delete(self, names: Sequence[str]) -> list[str]:
        doomed = {handle(each): each for name in names for each in family(find(name))}
        nodes = list(doomed.values())
        paths = paths_of(nodes)
        with telling("delete them"):
            rt.delete(rt.Array(*nodes))
        return paths

    def duplicate(self, name: str, new_name: str | None) -> str:
        node = find(name)
        named = str(node.name) if new_name is None else new_name
        check_new_name(named)
        with telling(f"duplicate '{node.name}'"):
            return path_of(_copy(node, parent_of(node), named))

    def select(self, names: Sequence[str]) -> list[str]:
        chosen = list({handle(node): node for node in map(find, names)}.values())
        with telling("select them"):
            if chosen:
                rt.select(rt.Array(*chosen))
            else:
                rt.clearSelection()
        return paths_of(chosen)

    def set_color(self, name: str, color: Vector) -> str:
        node = find(name)
        object_color.set_color(node, color)
        return path_of(node)


def _copy(node: Node, above: Node | None, name: str) -> Node:
    """Copy the node with everything below it. Copies share their materials until one of them is
    given a different color."""
    made = rt.copy(node)
    made.name = free_name(name)
    made.parent = above
    wanted = transforms.local(node)
    if not alike(transforms.local(made), wanted):
        # The transform is written only if it differs, because writing changes keys at the current
        # frame.
        transforms.write_local(made, wanted)
    for child in children_of(node):
        _copy(child, made, str(child.name))
    return made
