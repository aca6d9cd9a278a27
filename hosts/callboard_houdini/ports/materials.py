"""The ``materials`` port: materials and their objects. New materials are principled shaders in
/mat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import hou

from callboard.errors import HostError
from callboard.host import AmbiguousName, Json, MaterialNotFound, Texture, nearest_names
from callboard_houdini.application.names import (
    ROOT,
    check_new_name,
    find,
    objects,
    selected_paths,
    set_selection,
    telling,
)
from callboard_houdini.parts import faces as faces_of
from callboard_houdini.parts import principled

# MaterialX isn't used, because Mantra can't render it, and each texture needs four nodes.
_NETWORK = "/mat"


class HoudiniMaterials:
    def names(self) -> Mapping[str, str]:
        return {path: path.rsplit("/", 1)[-1] for path in _everything()}

    def get(self, name: str) -> Json:
        material = _find(name)
        reported: Json = {"name": str(material.name()), "path": str(material.path())}
        return {**reported, **principled.read(material)}

    def users(self) -> Mapping[str, Sequence[str]]:
        users: dict[str, list[str]] = {}
        for node in objects():
            for path in faces_of.assigned(node):
                users.setdefault(path, []).append(str(node.path()))
        return users

    def assigned(self, name: str) -> Mapping[str, Sequence[int] | None]:
        return faces_of.assigned(find(name))

    def create(self, name: str | None) -> str:
        named = name or "Material"
        check_new_name(named)
        with telling("create a material"):
            material = _network().createNode(principled.NEW, named)
            material.moveToGoodPosition(
                move_inputs=False, move_outputs=False, move_unconnected=False
            )
            if not principled.is_principled(material):
                raise HostError("this Houdini's principled shader is unknown; use a script")
        return str(material.path())

    def fork(self, name: str, objects: Sequence[str]) -> str:
        material = _find(name)
        targets = [find(each) for each in objects]
        for node in targets:
            faces_of.refuse(node, None)
        with telling(f"copy '{material.name()}'"):
            selected = selected_paths()
            copy = hou.copyNodesTo([material], _network())[0]
            set_selection(selected)
            for node in targets:
                faces_of.replace(node, str(material.path()), str(copy.path()))
        return str(copy.path())

    def set(self, name: str, values: Mapping[str, Any]) -> str:
        material = _find(name)
        with telling(f"set '{material.name()}'"):
            principled.write(material, values)
        return str(material.path())

    def set_texture(self, name: str, slot: str, texture: Texture | None) -> str:
        material = _find(name)
        with telling(f"set the texture of '{material.name()}'"):
            if texture is None:
                principled.clear(material, slot)
            else:
                principled.put(material, slot, texture)
        return str(material.path())

    def assign(self, name: str, objects: Sequence[str], faces: Sequence[int] | None) -> list[str]:
        material = _find(name)
        targets = [find(each) for each in objects]
        for node in targets:
            faces_of.refuse(node, faces)
            _refuse_others(material, node)
        with telling(f"assign '{material.name()}'"):
            for node in targets:
                faces_of.give(node, str(material.path()), faces)
        return [str(node.path()) for node in targets]


def _refuse_others(material: hou.OpNode, node: hou.ObjNode) -> None:
    """Raise HostError for a material inside another object, because it is that object's color, and
    is deleted with it."""
    path = str(material.path())
    if path.startswith(f"{ROOT}/") and not path.startswith(f"{node.path()}/"):
        raise HostError(f"'{path}' belongs to another object; make one with materials__create")


def _network() -> hou.OpNode:
    network = hou.node(_NETWORK)
    if not isinstance(network, hou.OpNode):
        raise HostError("Houdini has no scene open; wait until one has loaded")
    return network


def _everything() -> list[str]:
    """Return the materials in /mat, then the materials elsewhere that objects use."""
    nodes = [node for node in _network().children() if _is_material(node)]
    paths = [str(node.path()) for node in nodes]
    return list(dict.fromkeys([*paths, *(p for n in objects() for p in faces_of.assigned(n))]))


def _is_material(node: hou.Node) -> bool:
    return isinstance(node, hou.VopNode) and bool(node.isMaterialFlagSet())


def _find(name: str) -> hou.OpNode:
    known = _everything()
    fitting = [path for path in known if name in (path, path.rsplit("/", 1)[-1])]
    if not fitting:
        raise MaterialNotFound(name, nearest_names(name, [p.rsplit("/", 1)[-1] for p in known]))
    if len(fitting) > 1 and name not in fitting:
        raise AmbiguousName(name, fitting)
    node = hou.node(name if name in fitting else fitting[0])
    assert isinstance(node, hou.OpNode)
    return node
