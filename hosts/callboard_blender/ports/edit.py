"""The ``scene.mutate`` port: changing the scene. It edits data directly, because operators need a
context that background mode doesn't have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import radians

import bpy
from mathutils import Matrix, Quaternion
from mathutils import Vector as Vec

from callboard.errors import HostError
from callboard.host import PrimitiveKind, Vector
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.linked_data import (
    refuse_kept_by_library,
    refuse_linked,
    refuse_linked_data,
)
from callboard_blender.application.names import (
    changed,
    find,
    forget,
    made,
    rename,
    same_objects,
    scene,
    tree,
    view_layer,
)
from callboard_blender.application.unique_names import refuse_miscounted
from callboard_blender.parts import object_color, shapes, transforms
from callboard_blender.parts.copies import copy_tree
from callboard_blender.parts.unused_data import with_keys
from callboard_blender.parts.world import causes, frame_of, world_of

#: Prefixes of the channels that a turn about a point sets.
_TURNED = ("location", "rotation")


class BlenderSceneEditor:
    def __init__(self, changes: SceneChanges) -> None:
        self._changes = changes

    def create(self, kind: PrimitiveKind, name: str | None, dimensions: Mapping[str, float]) -> str:
        refuse_miscounted(name)
        self._changes.touch()
        named = kind.capitalize() if name is None else name
        obj = bpy.data.objects.new(named, shapes.new_mesh(named, kind, dimensions))
        home().objects.link(obj)
        return made(obj)

    def set_transform(
        self, name: str, translate: Vector | None, rotate: Vector | None, scale: Vector | None
    ) -> str:
        obj = find(name, new=True)
        refuse_linked(obj)
        self._changes.touch()
        with same_objects():
            transforms.write(obj, translate, rotate, scale)
        return str(obj.name_full)

    def turn(
        self, names: Sequence[str], axis: Vector, angle: float, about: Vector | None, own: bool
    ) -> dict[str, Matrix]:
        """Turn the objects by ``angle`` degrees about an axis of the world, or, with ``own``, of
        each object, through its origin or the point ``about``. Return the world transforms that
        they should have now, by path. Objects below others of ``names`` must not be named."""
        view_layer().update()
        turn, planned, wanted = Quaternion(axis, radians(angle)), [], {}
        for obj in (find(name) for name in names):
            refuse_linked(obj)
            transforms.refuse_animated(obj, ["rotation"] if about is None else _TURNED)
            frame, world = frame_of(obj), world_of(obj)
            outside, rotation = transforms.turn_within(obj, frame, turn, own)
            pivot = world.translation if about is None else Vec(about)
            around = Matrix.Translation(pivot) @ outside.to_4x4() @ Matrix.Translation(-pivot)
            origin = frame @ obj.matrix_basis.translation
            location = None if about is None else frame.inverted() @ (around @ origin)
            planned.append((obj, rotation, location))
            wanted[obj.name_full] = around @ world
        self._changes.touch()
        with same_objects():
            for each in planned:
                transforms.write_turn(*each)
            view_layer().update()
        return wanted

    def set_parent(self, name: str, parent: str | None, keep_world: bool) -> str:
        obj = find(name)
        refuse_linked(obj)
        above = None if parent is None else find(parent)
        if above is not None and above in tree(obj):
            raise HostError(f"'{parent}' can't be the parent: it is '{name}' itself, or below it")
        if above == obj.parent:
            return str(obj.name_full)
        self._changes.touch()
        view_layer().update()
        local, between = transforms.local(obj), None
        if keep_world:
            local, between = _kept(obj, above)
        obj.parent = above
        obj.parent_type = "OBJECT"
        transforms.set_local(obj, local, between)
        return changed(obj)

    def rename(self, name: str, new_name: str) -> str:
        obj = find(name)
        taken = bpy.data.objects.get((new_name, None))
        if taken == obj:
            return str(obj.name_full)
        refuse_linked(obj)
        if taken is not None:
            raise HostError(f"'{new_name}' is taken; use another name")
        refuse_miscounted(new_name)
        self._changes.touch()
        return rename(obj, new_name)

    def rename_data(self, name: str, new_name: str) -> str | None:
        """Return the data's new name, or None if the object has no data."""
        obj = find(name)
        if obj.data is None:
            return None
        refuse_linked_data(obj)
        self._changes.touch()
        obj.data.name = new_name
        if obj.data.name != new_name:
            raise HostError(f"other data of its kind has the name '{new_name}'; rename that first")
        return str(obj.data.name_full)

    def delete(self, names: Sequence[str]) -> list[str]:
        """Delete objects from this scene. Other scenes and collections keep the objects that they
        contain."""
        doomed = {each: each.name_full for name in names for each in tree(find(name))}
        together = set(doomed)
        for obj in doomed:
            refuse_kept_by_library(obj, together)
        kept = _shown_elsewhere(together)
        self._changes.touch()
        for collection in (scene().collection, *scene().collection.children_recursive):
            for obj in kept.intersection(collection.objects):
                collection.objects.unlink(obj)
        gone, removed = list(doomed.values()), together - kept
        data = {obj.data for obj in removed if obj.data is not None}
        bpy.data.batch_remove(removed)
        bpy.data.batch_remove(with_keys(each for each in data if each.users == 0))
        view_layer().update()
        forget()
        return gone

    def duplicate(self, name: str, new_name: str | None) -> str:
        original = find(name)
        refuse_miscounted(new_name)
        self._changes.touch()
        copy = copy_tree(original, home())
        if new_name is not None:
            copy.name = new_name
        return changed(copy)

    def select(self, names: Sequence[str]) -> list[str]:
        layer = view_layer()
        chosen = {(obj := find(name)).name_full: obj for name in names}
        shown = {p: obj for p, obj in chosen.items() if obj.visible_get(view_layer=layer)}
        self._changes.touch()
        for obj in list(layer.objects.selected):
            obj.select_set(False, view_layer=layer)
        for obj in shown.values():
            obj.select_set(True, view_layer=layer)
        barred = [path for path, obj in shown.items() if not obj.select_get(view_layer=layer)]
        hidden = [path for path in chosen if path not in shown]
        if hidden or barred:
            raise HostError(_unselectable(hidden, barred))
        for obj in chosen.values():
            layer.objects.active = obj
        return list(chosen)

    def set_color(self, name: str, color: Vector) -> str:
        obj = find(name, new=True)
        refuse_linked(obj)
        self._changes.touch()
        object_color.set_color(obj, color)
        return changed(obj)


def _unselectable(hidden: list[str], barred: list[str]) -> str:
    """Return why these objects can't be selected, with all their names."""
    why = []
    if hidden:
        named = ", ".join(f"'{each}'" for each in hidden)
        is_ = "is" if len(hidden) == 1 else "are"
        why.append(f"{named} {is_} hidden, so Blender can't select {_them(hidden)}")
    if barred:
        named = ", ".join(f"'{each}'" for each in barred)
        why.append(
            f"{named} can't be selected: the artist switched selection off for {_them(barred)},"
            " or for a collection of theirs, in the outliner"
        )
    return "; ".join(why)


def _them(names: list[str]) -> str:
    return "it" if len(names) == 1 else "them"


def home() -> bpy.types.Collection:
    """Return the collection for new objects: the active one, unless it is from another file."""
    active = bpy.context.collection
    if active is None or active.library is not None or active.override_library is not None:
        return scene().collection
    return active


def _shown_elsewhere(doomed: set[bpy.types.Object]) -> set[bpy.types.Object]:
    """Return the objects that are also in collections outside this scene. Raises HostError when an
    object can't be removed from this scene without removing it from another scene, or without
    changing an object of another scene."""
    shown = scene()
    own = {shown.collection, *shown.collection.children_recursive}
    if shown.rigidbody_world is not None:
        own |= {shown.rigidbody_world.collection, shown.rigidbody_world.constraints}
    kept: set[bpy.types.Object] = set()
    for other in bpy.data.scenes:
        for collection in (other.collection, *other.collection.children_recursive):
            if other != shown and collection in own:
                for obj in doomed.intersection(collection.objects):
                    raise HostError(
                        f"'{obj.name}' is in '{collection.name}', which the scene '{other.name}'"
                        " shows too; unlink that collection from one of the scenes first"
                    )
            if collection not in own:
                kept.update(doomed.intersection(collection.objects))
    for collection in bpy.data.collections:
        if collection not in own:
            kept.update(doomed.intersection(collection.objects))
    for each in bpy.data.objects if len(bpy.data.scenes) > 1 else ():
        if each.parent in doomed - kept and each not in doomed and each.users_scene:
            raise HostError(
                f"'{each.name}' of the scene '{each.users_scene[0].name}' is parented to "
                f"'{each.parent.name}'; unparent it there first"
            )
    return kept


def _kept(obj: bpy.types.Object, above: bpy.types.Object | None) -> tuple[Matrix, Matrix | None]:
    """Return the local transform below ``above`` that preserves the object's world transform. Also
    return the matrix between parent and child that leaves the object's channels unchanged, or
    None."""
    frame = _carried_by(above, obj) if above is not None else Matrix.Identity(4)
    if above is not None and frame.determinant() == 0:
        raise HostError(f"'{above.name}' is scaled to zero, so the world transform can't be kept")
    inverse = frame.inverted()
    placed = world_of(obj)
    if obj.parent is None or obj.parent_type == "OBJECT":
        old = Matrix.Identity(4)
        if obj.parent:
            old = _carried_by(obj.parent, obj) @ obj.matrix_parent_inverse
        if causes(obj):
            # Constraints start from the world transform that results from the object's own
            # transform.
            placed = old @ obj.matrix_basis
        return inverse @ placed, inverse @ old
    if causes(obj):
        raise HostError(
            f"'{obj.name}' is attached to a part of its parent and has constraints, so its world"
            " transform can't be kept; remove one of the two, or bake it first"
        )
    return inverse @ placed, None


def _carried_by(parent: bpy.types.Object, obj: bpy.types.Object) -> Matrix:
    """Return the world transform that a child inherits from its parent. A curve that is a path
    moves its children along the path. Only Blender can compute how far, so the transform is read
    from an empty that the curve moves too."""
    if parent.type != "CURVE" or not parent.data.use_path:
        return world_of(parent)
    carried = bpy.data.objects.new("Carried", None)
    carried.track_axis, carried.up_axis = obj.track_axis, obj.up_axis
    carried.parent = parent
    scene().collection.objects.link(carried)
    view_layer().update()
    try:
        return world_of(carried)
    finally:
        bpy.data.objects.remove(carried)
