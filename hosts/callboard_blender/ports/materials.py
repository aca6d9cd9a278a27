"""The ``materials`` port: materials and their objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import bpy

from callboard.errors import HostError
from callboard.host import AmbiguousName, Json, MaterialNotFound, Texture, nearest_names
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.linked_data import refuse_linked, refuse_linked_data
from callboard_blender.application.names import find, objects, view_layer
from callboard_blender.parts import principled, textures
from callboard_blender.parts.node_facts import sources
from callboard_blender.parts.object_color import takes_surfaces

#: The values that a texture can drive, and the value that only a texture can set.
_SLOTS = (
    *("color", "metalness", "roughness", "specular", "transmission"),
    *("emission", "opacity", "normal"),
)


class BlenderMaterials:
    def __init__(self, changes: SceneChanges) -> None:
        self._changes = changes

    def names(self) -> Mapping[str, str]:
        return {material.name_full: material.name for material in _all()}

    def get(self, name: str) -> Json:
        material = _find(name)
        shader = principled.shader_of(material)
        driven = {}
        for slot in _SLOTS if shader is not None else ():
            texture = textures.read(principled.socket_of(shader, slot))
            if texture is not None:
                driven[slot] = texture
        answer: Json = {
            "name": material.name,
            "path": material.name_full,
            "type": "principled" if shader is not None else "nodes",
            **principled.read(material),
            "textures": driven,
        }
        driven_by = {
            key: nodes
            for key, socket in principled.linked(material).items()
            if not driven.get(key, {}).get("path") and (nodes := sources(socket))
        }
        return {**answer, "driven_by": driven_by} if driven_by else answer

    def users(self) -> Mapping[str, Sequence[str]]:
        """Return the objects of all scenes, those of the shown one first."""
        users: dict[str, dict[str, None]] = {}
        others = (obj for each in bpy.data.scenes for obj in each.objects)
        for obj in dict.fromkeys((*objects(), *others)) if len(bpy.data.scenes) > 1 else objects():
            for slot in obj.material_slots:
                if slot.material is not None:
                    users.setdefault(slot.material.name_full, {})[obj.name_full] = None
        return {path: list(owners) for path, owners in users.items()}

    def assigned(self, name: str) -> Mapping[str, Sequence[int] | None]:
        obj = find(name)
        slots = [slot.material.name_full if slot.material else "" for slot in obj.material_slots]
        if len(set(slots)) < 2 or obj.type != "MESH":
            return {path: None for path in slots if path}
        polygons = obj.data.polygons
        indices = [0] * len(polygons)
        polygons.foreach_get("material_index", indices)
        assigned: dict[str, list[int]] = {path: [] for path in slots if path}
        for face, index in enumerate(indices):
            if path := slots[min(index, len(slots) - 1)]:
                assigned[path].append(face)
        return assigned

    def create(self, name: str | None) -> str:
        self._changes.touch()
        material = bpy.data.materials.new(name or "Material")
        if material.node_tree is None:
            material.use_nodes = True
        # Blender saves only datablocks that have a user.
        material.use_fake_user = True
        return str(material.name_full)

    def fork(self, name: str, objects: Sequence[str]) -> str:
        material, targets = _find(name), [find(each) for each in objects]
        for obj in targets:
            refuse_linked(obj)
        self._changes.touch()
        copy = material.copy()
        for obj in targets:
            for slot in obj.material_slots:
                if slot.material == material:
                    _make_own(obj, slot)
                    slot.material = copy
        view_layer().update()
        return str(copy.name_full)

    def set(self, name: str, values: Mapping[str, Any]) -> str:
        material = _own(name)
        shader = principled.needed_shader(material)
        self._changes.touch()
        for key in values:
            textures.clear(material.node_tree, principled.socket_of(shader, key))
        principled.write(material, values)
        view_layer().update()
        return str(material.name_full)

    def set_texture(self, name: str, slot: str, texture: Texture | None) -> str:
        material = _own(name)
        shader = principled.needed_shader(material)
        socket = principled.socket_of(shader, slot)
        self._changes.touch()
        if texture is None:
            textures.clear(material.node_tree, socket)
        else:
            textures.connect(material.node_tree, shader, socket, slot, texture)
            if slot == "opacity":
                principled.let_through(material)
        view_layer().update()
        return str(material.name_full)

    def assign(self, name: str, objects: Sequence[str], faces: Sequence[int] | None) -> list[str]:
        material, targets = _find(name), [find(each) for each in objects]
        for obj in targets:
            _refuse(obj, faces)
        self._changes.touch()
        for obj in targets:
            if faces is not None:
                _give_faces(obj, material, faces)
            else:
                _give(obj, material)
        view_layer().update()
        return [str(obj.name_full) for obj in targets]


def _all() -> list[bpy.types.Material]:
    return [each for each in bpy.data.materials if each.grease_pencil is None]


def _find(name: str) -> bpy.types.Material:
    known = _all()
    alike = [each for each in known if each.name_full == name]
    alike = alike or [each for each in known if each.name == name]
    if len(alike) > 1:
        raise AmbiguousName(name, [each.name_full for each in alike])
    if not alike:
        raise MaterialNotFound(name, nearest_names(name, (each.name for each in known)))
    return alike[0]


def _own(name: str) -> bpy.types.Material:
    material = _find(name)
    refuse_linked(material)
    return material


def _refuse(obj: bpy.types.Object, faces: Sequence[int] | None) -> None:
    refuse_linked(obj)
    if not takes_surfaces(obj):
        raise HostError(f"'{obj.name}' is of type {obj.type.lower()}, which can't have materials")
    if not obj.material_slots:
        refuse_linked_data(obj)
    if faces is None:
        return
    if obj.type != "MESH":
        raise HostError(f"'{obj.name}' isn't a mesh, so it has no faces; call again without faces")
    refuse_linked_data(obj)
    if obj.data.users > 1:
        raise HostError(
            f"'{obj.name}' shares its mesh with other objects, whose faces would change too; give"
            " it a copy of its own with scene__duplicate, or call again without faces"
        )
    count = len(obj.data.polygons)
    if max(faces) >= count:
        raise HostError(
            f"'{obj.name}' has {count} faces, numbered from 0; there is no face {max(faces)}"
        )


def _give(obj: bpy.types.Object, material: bpy.types.Material) -> None:
    if not obj.material_slots:
        obj.data.materials.append(None)
    for slot in obj.material_slots:
        _make_own(obj, slot)
        slot.material = material


def _give_faces(obj: bpy.types.Object, material: bpy.types.Material, faces: Sequence[int]) -> None:
    index = next((i for i, s in enumerate(obj.material_slots) if s.material == material), None)
    if index is None:
        if not obj.material_slots:
            obj.data.materials.append(None)  # The other faces stay without a material.
        obj.data.materials.append(material)
        index = len(obj.material_slots) - 1
    for face in faces:
        obj.data.polygons[face].material_index = index
    obj.data.update()


def _make_own(obj: bpy.types.Object, slot: bpy.types.MaterialSlot) -> None:
    """Make the slot the object's own, even if others share the mesh."""
    if obj.data.users > 1 or obj.data.library is not None:
        slot.link = "OBJECT"
