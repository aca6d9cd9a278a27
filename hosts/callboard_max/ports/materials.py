"""The ``materials`` port: materials and their objects. When faces have their own materials, the
object has a Multi/Sub-Object material, and its editable poly stores, for each face, the number of
one of that material's parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pymxs import runtime as rt

from callboard.errors import HostError
from callboard.host import Json, Texture
from callboard_max.application.names import Node, find, handle, objects, path_of, paths_of, telling
from callboard_max.parts import kept_materials as kept
from callboard_max.parts import maps, physical
from callboard_max.parts.kept_materials import Material
from callboard_max.parts.shapes import is_geometry, is_primitive, kind_of


class MaxMaterials:
    def names(self) -> Mapping[str, str]:
        return {path: str(material.name) for path, material in kept.by_path().items()}

    def get(self, name: str) -> Json:
        path, material = kept.find(name)
        return {"name": str(material.name), "path": path, **physical.read(material)}

    def users(self) -> Mapping[str, Sequence[str]]:
        path_by = kept.paths(kept.by_path())
        nodes = [node for node in objects() if node.material is not None]
        users: dict[str, list[str]] = {}
        for node, user in zip(nodes, paths_of(nodes), strict=True):
            for each in {kept.identity(leaf): leaf for leaf in kept.leaves(node.material)}:
                users.setdefault(path_by[each], []).append(user)
        return users

    def assigned(self, name: str) -> Mapping[str, Sequence[int] | None]:
        """Return the materials. Faces are unknown for a Multi/Sub-Object material on anything but
        an editable poly."""
        node = find(name)
        material = node.material
        if material is None:
            return {}
        path_by = kept.paths(kept.by_path())
        if not kept.is_several(material):
            return {path_by[kept.identity(material)]: None}
        if not _is_poly(node):
            return {path_by[kept.identity(leaf)]: [] for leaf in kept.leaves(material)}
        faces: dict[str, list[int]] = {}
        for face, part in enumerate(_parts(node)):
            for leaf in kept.leaves(part)[:1]:
                faces.setdefault(path_by[kept.identity(leaf)], []).append(face)
        return faces

    def create(self, name: str | None) -> str:
        named = kept.free_name(name or "Material")
        with telling("create a material"):
            kept.keep(physical.new(named))
        return named

    def fork(self, name: str, objects: Sequence[str]) -> str:
        _, material = kept.find(name)
        targets = [find(each) for each in objects]
        with telling(f"copy '{name}'"):
            copy = rt.copy(material)
            copy.name = kept.free_name(str(material.name))
            for node in targets:
                node.material = _with(node.material, material, copy)
        return kept.paths(kept.by_path())[kept.identity(copy)]

    def set(self, name: str, values: Mapping[str, Any]) -> str:
        path, material = kept.find(name)
        with telling(f"set '{name}'"):
            physical.write(material, values)
        return path

    def set_texture(self, name: str, slot: str, texture: Texture | None) -> str:
        path, material = kept.find(name)
        place = physical.slot_of(material, slot)
        with telling(f"set the texture of '{name}'"):
            if texture is None:
                maps.put(material, place, None)
            else:
                maps.connect(material, place, texture)
        return path

    def assign(self, name: str, objects: Sequence[str], faces: Sequence[int] | None) -> list[str]:
        _, material = kept.find(name)
        nodes = [find(each) for each in objects]
        for node in nodes:
            if not is_geometry(node):
                raise HostError(
                    f"'{node.name}' is of type {kind_of(node)}, which can't have materials"
                )
            if faces is not None:
                _refuse_faces(node)
        with telling(f"assign '{name}'"):
            for node in nodes:
                if faces is None:
                    node.material = material
                else:
                    _assign_faces(node, material, faces)
        return [path_of(node) for node in nodes]


def _with(now: Material, old: Material, new: Material) -> Material:
    """Return the node's material with ``old`` replaced by ``new``."""
    if not kept.is_several(now):
        return new if kept.identity(now) == kept.identity(old) else now
    parts = [None if part is None else _with(part, old, new) for part in now.materialList]
    return _several(parts, list(now.materialIDList))


def _several(parts: Sequence[Material | None], numbers: Sequence[int]) -> Material:
    made = rt.Multimaterial(numsubs=len(parts))
    made.materialList = rt.Array(*parts)
    made.materialIDList = rt.Array(*numbers)
    return made


def _is_poly(node: Node) -> bool:
    return str(rt.classOf(node.baseObject)) == "Editable_Poly" and not list(node.modifiers)


def _refuse_faces(node: Node) -> None:
    if _is_poly(node):
        sharing = [each for each in rt.refs.dependentNodes(node.baseObject) if _is_poly(each)]
        if any(handle(each) != handle(node) for each in sharing):
            raise HostError(
                f"'{node.name}' shares its shape with others, whose faces would change too; make it"
                " unique in 3ds Max, or call again without faces"
            )
    elif list(node.modifiers) or not is_primitive(node):
        raise HostError(
            f"'{node.name}' isn't an editable poly, so its faces can't have their own"
            " materials; collapse it to one, or call again without faces"
        )


def _parts(node: Node) -> list[Material | None]:
    """Return the part of the node's material that is assigned to each face."""
    count = int(rt.polyop.getNumFaces(node))
    material = node.material
    if material is None or not kept.is_several(material):
        return [material] * count
    parts, numbers = list(material.materialList), [int(n) for n in material.materialIDList]
    by_number = dict(zip(numbers, parts, strict=True))
    ids = [int(rt.polyop.getFaceMatID(node, face + 1)) for face in range(count)]
    # Numbers beyond the last part start again at the first part.
    return [by_number[id] if id in by_number else parts[(id - 1) % len(parts)] for id in ids]


def _assign_faces(node: Node, material: Material, faces: Sequence[int]) -> None:
    """Assign the material to these faces. Other faces keep theirs. A primitive becomes an editable
    poly."""
    if not _is_poly(node):
        rt.convertToPoly(node)
    parts = _parts(node)
    if max(faces) >= len(parts):
        raise HostError(
            f"'{node.name}' has {len(parts)} faces, numbered from 0; there is no face {max(faces)}"
        )
    for face in faces:
        parts[face] = material
    groups: dict[int, tuple[Material | None, list[int]]] = {}
    for face, part in enumerate(parts):
        key = 0 if part is None else kept.identity(part)
        groups.setdefault(key, (part, []))[1].append(face + 1)
    for number, (_, those) in enumerate(groups.values(), 1):
        rt.polyop.setFaceMatID(node, rt.Array(*those), number)
    distinct = [part for part, _ in groups.values()]
    node.material = (
        distinct[0] if len(distinct) == 1 else _several(distinct, range(1, len(distinct) + 1))
    )
