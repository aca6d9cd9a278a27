"""Objects by name. Blender's object names are unique in a file, so the name is also the path; an
object linked from a library carries the library's name in its path."""

from __future__ import annotations

import bpy

from callboard.host import ObjectNotFound, nearest_names


def scene() -> bpy.types.Scene:
    """The scene that is shown; without a window, the first one."""
    return bpy.context.scene or bpy.data.scenes[0]


def view_layer() -> bpy.types.ViewLayer:
    return bpy.context.view_layer or scene().view_layers[0]


def find(name: str) -> bpy.types.Object:
    """The scene's object of that name. Raises ObjectNotFound. Don't keep it: undoing a step, or
    opening a file, leaves dead references behind."""
    found = bpy.data.objects.get(name)
    if found is None or found.name_full != name or scene().objects.get(found.name) != found:
        found = next((o for o in scene().objects if name in (o.name_full, o.name)), None)
    if found is None:
        raise ObjectNotFound(name, nearest_names(name, (o.name for o in scene().objects)))
    return found
