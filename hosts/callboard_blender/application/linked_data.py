"""Checks for objects that come from another file. Changes to such an object would be lost when this
file is opened again, so they are refused with advice on what to do instead."""

from __future__ import annotations

import bpy

from callboard.errors import HostError

_OVERRIDE = "make an override of it first, with blender_library__make_override"


def refuse_linked(block: bpy.types.ID) -> None:
    """Raise HostError when saving this file wouldn't keep a change to the object or other data."""
    if block.library is not None:
        can_be = isinstance(block, (bpy.types.Object, bpy.types.Collection))
        raise HostError(
            f"'{block.name_full}' is linked from {_file(block.library)}, so a change would be lost"
            f" when this file is opened again; {f'{_OVERRIDE}, or ' if can_be else ''}change it in"
            " its own file"
        )
    override = block.override_library
    if override is not None and override.is_system_override:
        raise HostError(
            f"'{block.name_full}' is part of an override that can't be edited; {_OVERRIDE}"
        )


def is_own_object(obj: bpy.types.Object) -> bool:
    """Return whether saving this file would keep a change to the object."""
    override = obj.override_library
    return obj.library is None and not (override is not None and override.is_system_override)


def refuse_left_linked(obj: bpy.types.Object) -> None:
    """Raise HostError for an object that stays linked when its collection becomes an override."""
    file = _file(obj.library)
    raise HostError(
        f"Blender leaves '{obj.name_full}' linked when it overrides the collection that holds it; "
        f"link it from {file} into this file by itself, or change it in {file}"
    )


def refuse_linked_data(obj: bpy.types.Object) -> None:
    """Raise HostError when saving this file wouldn't keep a change to the object, or to its mesh,
    curve or other data."""
    refuse_linked(obj)
    data = obj.data
    if data is not None and data.library is not None:
        raise HostError(
            f"the {obj.type.lower()} of '{obj.name_full}' is linked from {_file(data.library)}, so"
            " a change would be lost when this file is opened again; change it in its own file"
        )


def refuse_linked_shape(obj: bpy.types.Object) -> None:
    """Raise HostError when the object's mesh or curve is an override. An override doesn't store
    points."""
    override = obj.data.override_library if obj.data is not None else None
    if override is not None:
        raise HostError(
            f"the {obj.type.lower()} of '{obj.name_full}' is an override, so a change to its shape"
            " would be lost when this file is opened again; change it in its own file"
        )


def refuse_kept_by_library(obj: bpy.types.Object, doomed: set[bpy.types.Object]) -> None:
    """Raise HostError when the object, once deleted, would come back when this file is opened
    again."""
    if obj.library is not None:
        back = next((c for c in obj.users_collection if c.library is not None), None)
        if back is not None or obj.is_library_indirect:
            raise HostError(
                f"'{obj.name_full}' belongs to data linked from {_file(obj.library)}, so it"
                " would come back when this file is opened again; hide it, or remove the link"
            )
    override = obj.override_library
    if override is not None and override.is_in_hierarchy:
        root = override.hierarchy_root
        if root != obj and root not in doomed:
            raise HostError(
                f"'{obj.name_full}' is part of the override '{root.name if root else '?'}', "
                f"which would restore it; hide it, or delete the whole override"
            )


def is_brought(obj: bpy.types.Object, kind: str, name: str) -> bool:
    """Return whether the object is an override, and this entry of its ``constraints`` or
    ``modifiers`` comes from the linked object. Such an entry can be switched off, but comes back
    when it is removed."""
    override = obj.override_library
    # In 4.2, `is_override_data` is never true, so look at the linked object instead.
    return override is not None and name in getattr(override.reference, kind)


def _file(library: bpy.types.Library) -> str:
    return f"'{bpy.path.basename(library.filepath)}'"
