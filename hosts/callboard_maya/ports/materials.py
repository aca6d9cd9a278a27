"""The ``materials`` port: materials and their objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from maya import cmds

from callboard.errors import HostError
from callboard.host import Json, MaterialNotFound, Texture, nearest_names
from callboard_maya.application.names import bare, check_new_name, find, telling
from callboard_maya.parts import groups, surfaces, textures
from callboard_maya.parts.object_color import COLORABLE
from callboard_maya.parts.plugs import refuse_instance
from callboard_maya.parts.shapes import shape_of

#: A shading group's inputs besides its surface.
_BESIDES = ("displacementShader", "volumeShader")


class MayaMaterials:
    def names(self) -> Mapping[str, str]:
        return {material: material for material in groups.by_material()}

    def get(self, name: str) -> Json:
        _find(name)
        return {"name": name, "path": name, **surfaces.read(name)}

    def users(self) -> Mapping[str, Sequence[str]]:
        return {
            material: list(dict.fromkeys(path for each in of for path in groups.members(each)))
            for material, of in groups.by_material().items()
        }

    def assigned(self, name: str) -> Mapping[str, Sequence[int] | None]:
        path = find(name)
        assigned: dict[str, list[int] | None] = {}
        for material, of in groups.by_material().items():
            for group in of:
                inside = groups.members(group)
                if path in inside:
                    faces, there = inside[path], assigned.get(material, [])
                    whole = faces is None or there is None
                    assigned[material] = None if whole else [*(there or []), *(faces or [])]
        return assigned

    def create(self, name: str | None) -> str:
        named = name or "Material"
        check_new_name(named)
        with telling("create a material"):
            material = str(
                cmds.shadingNode(surfaces.NEW, asShader=True, name=named, skipSelect=True)
            )
            # The default weight would dim the color.
            cmds.setAttr(f"{material}.base", 1.0)
            groups.new_for(material)
        return material

    def fork(self, name: str, objects: Sequence[str]) -> str:
        of = _find(name)
        targets = [find(each) for each in objects]
        selected = cmds.ls(selection=True, long=True) or []
        with telling(f"copy '{name}'"):
            copy = str(cmds.duplicate(name, inputConnections=True)[0])
            for group in of:
                inside = groups.members(group)
                moved = [path for path in targets if path in inside]
                if moved:
                    twin = _twin(group, copy)
                    for path in moved:
                        groups.give(_shape(path), twin, inside[path])
            # Maya selects what it duplicates.
            if selected:
                cmds.select(selected, replace=True)
            else:
                cmds.select(clear=True)
        return copy

    def set(self, name: str, values: Mapping[str, Any]) -> str:
        _own(name)
        with telling(f"set '{name}'"):
            surfaces.write(name, values)
        return name

    def set_texture(self, name: str, slot: str, texture: Texture | None) -> str:
        _own(name)
        plug = surfaces.plug_of(name, slot)
        with telling(f"set the texture of '{name}'"):
            if texture is None:
                textures.clear(plug)
            else:
                textures.connect(plug, slot, texture)
        return name

    def assign(self, name: str, objects: Sequence[str], faces: Sequence[int] | None) -> list[str]:
        group = _find(name)[0]
        targets = [find(each) for each in objects]
        for path in targets:
            _refuse(path, faces)
        with telling(f"assign '{name}'"):
            for path in targets:
                groups.give(_shape(path), group, faces)
        return targets


def _find(name: str) -> list[str]:
    """Return the material's groups."""
    known = groups.by_material()
    if name not in known:
        raise MaterialNotFound(name, nearest_names(name, known))
    return known[name]


def _own(name: str) -> None:
    if groups.EVERYBODYS in _find(name):
        raise HostError(
            f"'{name}' is the material that Maya gives every new object; make another with"
            " materials__create"
        )


def _twin(group: str, material: str) -> str:
    """Make a group for the material, with all other inputs of the original group."""
    twin = groups.new_for(material)
    for attribute in _BESIDES:
        plug = f"{group}.{attribute}"
        for source in cmds.listConnections(plug, source=True, destination=False, plugs=True) or []:
            cmds.connectAttr(source, f"{twin}.{attribute}")
    return twin


def _shape(path: str) -> str:
    shape = shape_of(path)
    if shape is None or cmds.nodeType(shape) not in COLORABLE:
        kind = cmds.nodeType(shape or path)
        raise HostError(f"'{bare(path)}' is of type {kind}, which can't have materials")
    return shape


def _refuse(path: str, faces: Sequence[int] | None) -> None:
    shape = _shape(path)
    if faces is None:
        return
    if cmds.nodeType(shape) != "mesh":
        raise HostError(
            f"'{bare(path)}' isn't a mesh, so it has no faces; call again without faces"
        )
    refuse_instance(path, shape)
    count = int(cmds.polyEvaluate(shape, face=True))
    if max(faces) >= count:
        raise HostError(
            f"'{bare(path)}' has {count} faces, numbered from 0; there is no face {max(faces)}"
        )
