"""Changing the scene: the port ``scene.mutate``. Data, not operators: those need a context that
background mode doesn't have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import bpy
from mathutils import Matrix

from callboard.errors import HostError
from callboard.host import PrimitiveKind, Vector
from callboard_blender import materials, shapes, transforms
from callboard_blender.changes import Changes
from callboard_blender.names import find, scene, view_layer


class BlenderSceneEditor:
    def __init__(self, changes: Changes) -> None:
        self._changes = changes

    def create(self, kind: PrimitiveKind, name: str | None, dimensions: Mapping[str, float]) -> str:
        self._changes.touch()
        named = kind.capitalize() if name is None else name
        obj = bpy.data.objects.new(named, shapes.new_mesh(named, kind, dimensions))
        collection = bpy.context.collection or scene().collection
        collection.objects.link(obj)
        view_layer().update()
        return str(obj.name_full)

    def set_transform(
        self, name: str, translate: Vector | None, rotate: Vector | None, scale: Vector | None
    ) -> str:
        obj = find(name)
        self._changes.touch()
        transforms.write(obj, translate, rotate, scale)
        return str(obj.name_full)

    def set_parent(self, name: str, parent: str | None, keep_world: bool) -> str:
        obj = find(name)
        above = None if parent is None else find(parent)
        if above is not None and (above == obj or above in obj.children_recursive):
            raise HostError(f"'{parent}' can't be the parent: it is '{name}' itself, or below it")
        if above == obj.parent:
            return str(obj.name_full)
        self._changes.touch()
        view_layer().update()
        local = transforms.local(obj)
        if keep_world:
            frame = above.matrix_world if above is not None else Matrix.Identity(4)
            if frame.determinant() == 0:
                raise HostError(f"'{parent}' is scaled to zero, so the place can't be kept")
            local = frame.inverted() @ obj.matrix_world
        obj.parent = above
        obj.parent_type = "OBJECT"
        transforms.set_local(obj, local)
        view_layer().update()
        return str(obj.name_full)

    def rename(self, name: str, new_name: str) -> str:
        obj = find(name)
        taken = bpy.data.objects.get(new_name)
        if taken == obj:
            return str(obj.name_full)
        if taken is not None:
            raise HostError(f"'{new_name}' is taken; use another name")
        self._changes.touch()
        obj.name = new_name
        return str(obj.name_full)

    def delete(self, names: Sequence[str]) -> list[str]:
        doomed: dict[str, bpy.types.Object] = {}
        for name in names:
            obj = find(name)
            for each in (obj, *obj.children_recursive):
                doomed[each.name_full] = each
        self._changes.touch()
        data = {obj.data for obj in doomed.values() if obj.data is not None}
        bpy.data.batch_remove(doomed.values())
        bpy.data.batch_remove([each for each in data if each.users == 0])
        view_layer().update()
        return list(doomed)

    def duplicate(self, name: str, new_name: str | None) -> str:
        original = find(name)
        self._changes.touch()
        copy = _copy_tree(original, original.parent)
        if new_name is not None:
            copy.name = new_name
        view_layer().update()
        return str(copy.name_full)

    def select(self, names: Sequence[str]) -> list[str]:
        chosen = list(dict.fromkeys(find(name).name_full for name in names))
        layer = view_layer()
        self._changes.touch()
        for obj in layer.objects:
            obj.select_set(False, view_layer=layer)
        for path in chosen:
            obj = find(path)
            if layer.objects.get(obj.name) is None or not obj.visible_get(view_layer=layer):
                raise HostError(f"'{path}' is hidden, so Blender can't select it")
            obj.select_set(True, view_layer=layer)
            layer.objects.active = obj
        return chosen

    def set_color(self, name: str, color: Vector) -> str:
        obj = find(name)
        self._changes.touch()
        materials.set_color(obj, color)
        view_layer().update()
        return str(obj.name_full)


def _copy_tree(original: bpy.types.Object, parent: bpy.types.Object | None) -> bpy.types.Object:
    copy = original.copy()
    if original.data is not None:
        copy.data = original.data.copy()
    for collection in original.users_collection:
        collection.objects.link(copy)
    between = original.matrix_parent_inverse.copy()
    copy.parent = parent
    copy.matrix_parent_inverse = between
    for child in list(original.children):
        _copy_tree(child, copy)
    return copy
