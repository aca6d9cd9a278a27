"""Copies objects with everything below them. References among the originals through modifiers,
constraints and drivers become references among the copies. Each copy has its own keys and its own
data (mesh, light, camera); materials stay shared."""

from __future__ import annotations

from functools import cache
from typing import Any

import bpy

from callboard_blender.application.names import tree, view_layer
from callboard_blender.application.unique_names import keep_apart
from callboard_blender.parts.curves import drivers_of, unkeyed_channels, use_action
from callboard_blender.parts.pointers import inputs_of

_Copies = dict[Any, Any]


def copy_tree(top: bpy.types.Object, home: bpy.types.Collection) -> bpy.types.Object:
    """Copy the tree into the original's collections, or into ``home`` if all of these belong to
    another file. Copies of linked objects are local."""
    originals = tree(top)
    copies: _Copies = {}
    for original in originals:
        copies[original] = _copy(original, copies)
    for original in originals:
        copy = copies[original]
        between = original.matrix_parent_inverse.copy()
        copy.parent = copies.get(original.parent, original.parent)
        copy.matrix_parent_inverse = between
        _own_actions(copy)
        _repoint_all(copy, copies)
    _put_beside(originals, copies, home)
    _keep_unkeyed(originals, copies)
    return copies[top]


def own_data(obj: bpy.types.Object) -> Any:
    """Return the object's light, camera or mesh, so that it can be changed. If other objects use
    the data too, the object gets its own copy first. Copies made by :func:`copy_tree` never share
    data."""
    data = obj.data
    if data.users - data.use_fake_user > 1:
        data = obj.data = data.copy()
    return data


def _copy(original: bpy.types.Object, copies: _Copies) -> bpy.types.Object:
    copy = _own(original.copy())
    keep_apart(copy, original)
    # An empty's data is an image.
    if original.data is not None and original.type != "EMPTY":
        copy.data = copies[original.data] = _own(original.data.copy())
        keys = getattr(original.data, "shape_keys", None)
        if keys is not None:
            copies[keys] = copy.data.shape_keys
    return copy


def _own(copy: Any) -> Any:
    """Return the copy without its override. With the override, the copy would belong to the
    original's override hierarchy. When the file is opened, Blender restores only the hierarchy's
    own members, so it would lose the copy."""
    if copy.override_library is None:
        return copy
    known = copy.bl_rna.functions["make_local"].parameters
    # Before Blender 3.5, `make_local` always clears the override.
    return copy.make_local(**({"clear_liboverride": True} if "clear_liboverride" in known else {}))


def _put_beside(
    originals: list[bpy.types.Object], copies: _Copies, home: bpy.types.Collection
) -> None:
    """Link the copies into the originals' collections, or into ``home`` if none of an original's
    collections belongs to this file. Each collection is searched once, however many objects there
    are."""
    left = set(originals)
    roots = [each.collection for each in bpy.data.scenes]
    for collection in (*roots, *bpy.data.collections):
        if collection.library is not None or collection.override_library is not None:
            continue
        there = list(collection.objects)
        held = [obj for obj in there if obj in copies]
        # Blender itself puts the copy of a rigid body into the collection of rigid bodies.
        done = set(there).intersection(copies.values()) if held else set()
        for original in held:
            if copies[original] not in done:
                collection.objects.link(copies[original])
        left.difference_update(held)
    for original in left:
        home.objects.link(copies[original])


def _keep_unkeyed(originals: list[bpy.types.Object], copies: _Copies) -> None:
    """Preserve values that were changed without a key. The copies' own keys would reset them."""
    moved = [
        (original, channels) for original in originals if (channels := unkeyed_channels(original))
    ]
    if moved:
        view_layer().update()
    for original, channels in moved:
        for channel in channels:
            setattr(copies[original], channel, getattr(original, channel))


def _own_actions(copy: bpy.types.Object) -> None:
    """Copy the actions. If the object and its data share an action, their copies share one as
    well."""
    made: dict[bpy.types.Action, bpy.types.Action] = {}
    for owner in _owners(copy):
        data = owner.animation_data
        action = data.action if data is not None else None
        if action is not None:
            if action not in made:
                made[action] = action.copy()
            use_action(owner, made[action])


def _owners(obj: bpy.types.Object) -> list[Any]:
    """Return the parts that belong to the object alone and can be animated."""
    data = obj.data if obj.type != "EMPTY" else None
    keys = getattr(data, "shape_keys", None)
    return [owner for owner in (obj, data, keys) if owner is not None and owner.library is None]


def _repoint_all(copy: bpy.types.Object, copies: _Copies) -> None:
    holders: list[Any] = [*copy.modifiers, *copy.constraints]
    for bone in copy.pose.bones if copy.pose is not None else ():
        holders.extend(bone.constraints)
    if copy.type != "EMPTY" and copy.data is not None:
        holders.append(copy.data)
        # A camera's depth of field has a target, too.
        holders.append(getattr(copy.data, "dof", None))
    holders.append(copy.rigid_body_constraint)
    for holder in holders:
        if holder is not None:
            _repoint(holder, copies)
    for owner in _owners(copy):
        for driver in drivers_of(owner):
            for variable in driver.driver.variables:
                for target in variable.targets:
                    if target.id in copies:
                        target.id = copies[target.id]


def _repoint(holder: Any, copies: _Copies) -> None:
    for name in _pointers(type(holder).__name__):
        target = getattr(holder, name)
        if target in copies:
            setattr(holder, name, copies[target])
    if isinstance(holder, bpy.types.Constraint):
        for target in getattr(holder, "targets", ()):
            if target.target in copies:
                target.target = copies[target.target]
    if isinstance(holder, bpy.types.NodesModifier):
        for value, put in inputs_of(holder):
            if isinstance(value, bpy.types.Object) and value in copies:
                put(copies[value])


@cache
def _pointers(kind: str) -> tuple[str, ...]:
    """Return the settable properties that hold an object."""
    return tuple(
        each.identifier
        for each in getattr(bpy.types, kind).bl_rna.properties
        if each.type == "POINTER"
        and not each.is_readonly
        and each.fixed_type.identifier == "Object"
    )
