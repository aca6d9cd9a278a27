"""The tool of the ``blender-library`` skill."""

from __future__ import annotations

from typing import Any

import bpy
from mathutils import Matrix

from callboard.content import Json
from callboard.errors import HostError
from callboard_blender.application.linked_data import is_own_object, refuse_left_linked
from callboard_blender.application.names import find

#: Maximum number of paths in an answer. The count is always complete.
LISTED = 200


def make_override(ctx: Any, name: str) -> Json:
    reader = ctx.port("scene.read")
    ctx.port("scene.mutate")
    before = set(reader.names())
    path = reader.get(name)["path"]
    made = _made(find(path))
    bpy.context.view_layer.update()
    new = [each for each in reader.names() if each not in before]
    created = [each for each in new if is_own_object(find(each))] or [made.name_full]
    return {
        "changed": [],
        "created": created[:LISTED],
        "created_count": len(created),
        "object": reader.get(made.name_full),
        "verified": True,
    }


def _made(obj: bpy.types.Object) -> bpy.types.Object:
    """Return the editable override of this linked object."""
    if obj.override_library is not None and obj.override_library.is_system_override:
        obj.override_library.is_system_override = False
        return obj
    instanced = obj.instance_collection
    if obj.library is None and instanced is not None and instanced.library is not None:
        for each in instanced.all_objects:
            if each.library != instanced.library:
                # It would stay linked, so it couldn't follow the empty any more.
                refuse_left_linked(each)
        _hang(_override(instanced, obj), obj)
        return obj
    if obj.library is None:
        raise HostError(f"'{obj.name}' isn't linked, so it can be changed as it is")
    around = _around(obj)
    if around is None:
        if not any(map(_is_plain, obj.users_collection)):
            refuse_left_linked(obj)
        return _there(obj.override_create(remap_local_usages=True), obj)
    collection = _override(around, None)
    for holder in (bpy.context.scene.collection, *bpy.data.collections):
        # The override takes the linked object's place.
        if _is_plain(holder) and around in holder.children.values():
            holder.children.unlink(around)
    overrides = (o for o in collection.all_objects if o.override_library is not None)
    return _there(next((o for o in overrides if o.override_library.reference == obj), None), obj)


def _override(collection: Any, instance: bpy.types.Object | None) -> Any:
    made = collection.override_hierarchy_create(
        bpy.context.scene,
        bpy.context.view_layer,
        reference=instance,
        do_fully_editable=True,
    )
    return _there(made, collection)


def _hang(collection: Any, empty: bpy.types.Object) -> None:
    """Parent the overrides to the empty that instanced the originals, and keep their positions."""
    offset = Matrix.Translation(-collection.instance_offset)
    empty.instance_type, empty.instance_collection = "NONE", None
    for obj in collection.all_objects:
        if obj.parent is None and obj.library is None:
            obj.parent = empty
            obj.matrix_parent_inverse = offset


def _around(obj: bpy.types.Object) -> Any:
    """Return the scene's linked collection of which an override overrides the object, or None."""

    def holds(collection: Any) -> Any:
        for child in collection.children:
            if child.library is not None and obj in _overridden(child):
                return child
            if _is_plain(child) and (holder := holds(child)) is not None:
                return holder
        return None

    return holds(bpy.context.scene.collection)


def _overridden(collection: Any) -> list[bpy.types.Object]:
    """Return the objects that Blender overrides with the linked collection. It leaves out those
    that the collection's file links itself, and the shapes of bones."""
    own = [each for each in collection.all_objects if each.library == collection.library]
    shapes = {bone.custom_shape for each in own if each.pose for bone in each.pose.bones}
    return [each for each in own if each not in shapes]


def _is_plain(holder: bpy.types.Collection) -> bool:
    """Return whether what the collection holds can be taken out of it."""
    return holder.library is None and holder.override_library is None


def _there(made: Any, of: Any) -> Any:
    if made is None:
        raise HostError(f"Blender can't make an override of '{of.name_full}'")
    return made
