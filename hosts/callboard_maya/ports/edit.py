"""The ``scene.mutate`` port: changing the scene. It uses commands, so that Maya's undo covers the
changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from maya import cmds

from callboard.errors import HostError
from callboard.host import PrimitiveKind, Vector
from callboard_maya.application.names import (
    bare,
    check_new_name,
    find,
    full_path,
    parent_of,
    paths,
    telling,
    tree,
)
from callboard_maya.application.referenced import refuse_members, refuse_referenced
from callboard_maya.parts import object_color, shapes, transforms
from callboard_maya.parts.keys import copy_keys, refuse_keyed


class MayaSceneEditor:
    def create(self, kind: PrimitiveKind, name: str | None, dimensions: Mapping[str, float]) -> str:
        named = kind.capitalize() if name is None else name
        check_new_name(named)
        with telling(f"create a {kind}"):
            return shapes.create(kind, named, dimensions)

    def set_transform(
        self, name: str, translate: Vector | None, rotate: Vector | None, scale: Vector | None
    ) -> str:
        path = find(name)
        transforms.write(path, translate, rotate, scale)
        return path

    def set_parent(self, name: str, parent: str | None, keep_world: bool) -> str:
        path = find(name)
        above = None if parent is None else find(parent)
        if above is not None and (above == path or above.startswith(f"{path}|")):
            raise HostError(f"'{parent}' can't be the parent: it is '{name}' itself, or below it")
        if above == parent_of(path):
            return path
        if keep_world:
            refuse_keyed(path)
        with telling(f"parent '{bare(path)}'"):
            if above is None:
                moved = cmds.parent(path, world=True, relative=not keep_world)
            else:
                moved = cmds.parent(path, above, relative=not keep_world)
            return full_path(moved[0])

    def rename(self, name: str, new_name: str) -> str:
        path = find(name)
        check_new_name(new_name)
        if bare(path) == new_name:
            return path
        if cmds.objExists(f"{parent_of(path) or ''}|{new_name}"):
            raise HostError(f"'{new_name}' is taken; use another name")
        refuse_referenced([path], "rename")
        refuse_members([path], "rename")
        with telling(f"rename '{bare(path)}'"):
            return full_path(cmds.rename(path, new_name))

    def delete(self, names: Sequence[str]) -> list[str]:
        wanted = list(dict.fromkeys(find(name) for name in names))
        tops = [p for p in wanted if not any(p.startswith(f"{other}|") for other in wanted)]
        below = tuple(f"{top}|" for top in tops)
        doomed = [p for p in paths() if p in tops or p.startswith(below)]
        refuse_referenced(doomed, "delete")
        refuse_members(doomed, "delete")
        with telling("delete them"):
            for top in tops:
                cmds.delete(top)
        return doomed

    def duplicate(self, name: str, new_name: str | None) -> str:
        path = find(name)
        named = bare(path).rsplit(":", 1)[-1] if new_name is None else new_name
        check_new_name(named)
        refuse_members([path], "copy")
        with telling(f"duplicate '{bare(path)}'"):
            copied = full_path(cmds.duplicate(path, name=named, returnRootsOnly=True)[0])
            # The copies are in the order of the originals, but their names may differ, because a
            # copy is not put into the original's namespace.
            for each, twin in zip(tree(path), tree(copied), strict=True):
                copy_keys(each, twin)
            return copied

    def select(self, names: Sequence[str]) -> list[str]:
        chosen = list(dict.fromkeys(find(name) for name in names))
        with telling("select them"):
            if chosen:
                cmds.select(chosen, replace=True)
            else:
                cmds.select(clear=True)
        return chosen

    def set_color(self, name: str, color: Vector) -> str:
        path = find(name)
        object_color.set_color(path, color)
        return path
