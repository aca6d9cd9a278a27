"""Reads and sets an object's color, which is the base color of its own material."""

from __future__ import annotations

import bpy

from callboard.errors import HostError
from callboard.host import Vector
from callboard_blender.application.linked_data import refuse_linked_data
from callboard_blender.parts.principled import shader_of


def takes_surfaces(obj: bpy.types.Object) -> bool:
    """Return whether the object can have materials. The materials of a grease pencil object, which
    draw strokes, don't count."""
    return hasattr(obj.data, "materials") and "PENCIL" not in obj.type


def read_color(obj: bpy.types.Object) -> list[float] | None:
    """Return the linear RGB of the first material, or None when there is no material or a texture
    determines the color."""
    material = obj.material_slots[0].material if obj.material_slots else None
    if material is None:
        return None
    shader = shader_of(material)
    if shader is None:
        return list(material.diffuse_color)[:3]
    base = shader.inputs["Base Color"]
    return None if base.is_linked else list(base.default_value)[:3]


def set_color(obj: bpy.types.Object, color: Vector) -> None:
    if not takes_surfaces(obj):
        raise HostError(f"'{obj.name}' is of type {obj.type.lower()}, which has no color")
    if not obj.material_slots:
        refuse_linked_data(obj)
    rgba = (*color, 1.0)
    material = _own_material(obj)
    material.diffuse_color = rgba
    shader = shader_of(material)
    if shader is None:
        raise HostError(f"material '{material.name}' has no Principled BSDF to color")
    base = shader.inputs["Base Color"]
    for link in list(base.links):
        material.node_tree.links.remove(link)
    base.default_value = rgba


def _own_material(obj: bpy.types.Object) -> bpy.types.Material:
    slots = obj.material_slots
    if len(slots) == 1 and slots[0].material is not None:
        present = slots[0].material
        shared_mesh = slots[0].link == "DATA" and obj.data.users > 1
        # Blender includes a fake user in the number of users.
        users = present.users - present.use_fake_user
        shared = shared_mesh or users > 1 or present.library is not None
        if not shared and present.override_library is None and shader_of(present) is not None:
            return present
    material = bpy.data.materials.new(f"{obj.name} Look")
    if material.node_tree is None:
        material.use_nodes = True
    if not slots:
        obj.data.materials.append(None)
    for slot in obj.material_slots:
        if obj.data.users > 1 or obj.data.library is not None:
            # Other objects that share the mesh don't change their appearance.
            slot.link = "OBJECT"
        slot.material = material
    return material
