"""Materials of objects and faces. An object's own material is a parameter. The materials of faces
are an attribute, which one of our nodes sets after all other nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import hou

from callboard.errors import HostError
from callboard_houdini.application.names import type_of
from callboard_houdini.parts.assets import refuse_contents, refuse_inside_asset
from callboard_houdini.parts.parms import parm, refuse_keyed
from callboard_houdini.parts.shapes import count_of, geometry, show, shown

#: The name of the object's parameter and of the faces' attribute.
_MATERIAL = "shop_materialpath"
_OURS = "callboard_faces"


def whole(node: hou.ObjNode) -> hou.OpNode | None:
    """Return the object's own material."""
    slot = node.parm(_MATERIAL)
    return slot.evalAsNode() if slot is not None else None


def assigned(node: hou.ObjNode) -> dict[str, list[int] | None]:
    """Return the object's materials by path, with the faces that have each one, or None for all
    faces."""
    own = whole(node)
    shape = geometry(node)
    if shape is None or shape.findPrimAttrib(_MATERIAL) is None:
        return {} if own is None else {str(own.path()): None}
    by_path: dict[str, list[int]] = {}
    known: dict[str, str] = {}
    for face, named in enumerate(shape.primStringAttribValues(_MATERIAL)):
        if named not in known:
            material = hou.node(named) if named.startswith("/") else node.node(named)
            known[named] = material.path() if material is not None and named else _path(own)
        by_path.setdefault(known[named], []).append(face)
    everything: dict[str, list[int] | None] = {**by_path}
    if len(by_path) == 1:
        everything = dict.fromkeys(by_path)
    everything.pop("", None)
    return everything


def refuse(node: hou.ObjNode, faces: Sequence[int] | None) -> None:
    """Raise HostError when the object can't have a material, or doesn't have all of these faces."""
    if node.parm(_MATERIAL) is None or node.childTypeCategory() != hou.sopNodeTypeCategory():
        raise HostError(f"'{node.name()}' is of type {type_of(node)}, which can't have materials")
    refuse_keyed(node, [_MATERIAL])
    if faces is None:
        refuse_inside_asset(node, values_only=True)
        return
    refuse_contents(node)
    shape = geometry(node)
    count = 0 if shape is None else count_of(shape)
    if max(faces) >= count:
        raise HostError(
            f"'{node.name()}' has {count} faces, numbered from 0; there is no face {max(faces)}"
        )


def refuse_materials_of_faces(node: hou.ObjNode, done: str) -> None:
    """Raise HostError when our node assigns materials by face numbers, because the numbers would
    refer to different faces once the object is ``done``, such as ``triangulated``."""
    if any(_entries(node).values()):
        raise HostError(
            f"'{node.name()}' assigns materials by face number, and the numbers would refer to"
            f" different faces once it is {done}; give the whole object one material with"
            " materials__assign first"
        )


def give(node: hou.ObjNode, material: str, faces: Iterable[int] | None) -> None:
    if faces is None:
        _write(node, {})
        parm(node, _MATERIAL).set(material)
        return
    given = set(faces)
    entries = {path: those - given for path, those in _entries(node).items()}
    if material != _path(whole(node)):
        entries[material] = entries.get(material, set()) | given
    _write(node, {path: those for path, those in entries.items() if those})


def replace(node: hou.ObjNode, old: str, new: str) -> None:
    """Replace one material of the object with another everywhere."""
    if _path(whole(node)) == old:
        parm(node, _MATERIAL).set(new)
    entries = _entries(node)
    if old in entries:
        _write(node, {new if path == old else path: those for path, those in entries.items()})


def _path(material: hou.OpNode | None) -> str:
    return str(material.path()) if material is not None else ""


def _entries(node: hou.ObjNode) -> dict[str, set[int]]:
    """Return the faces to which our node assigns a material, by the material's path."""
    ours = node.node(_OURS)
    if not isinstance(ours, hou.SopNode):
        return {}
    count = int(parm(ours, "num_materials").eval())
    return {
        str(parm(ours, f"{_MATERIAL}{number}").evalAsString()): {
            int(face) for face in str(parm(ours, f"group{number}").evalAsString()).split()
        }
        for number in range(1, count + 1)
    }


def _write(node: hou.ObjNode, entries: dict[str, set[int]]) -> None:
    ours = node.node(_OURS)
    if not isinstance(ours, hou.SopNode):
        if not entries:
            return
        ours = _make(node)
    if not entries and not ours.outputs():
        before = ours.inputs()
        ours.destroy()
        if before and isinstance(before[0], hou.SopNode):
            show(before[0])
        return
    parm(ours, "num_materials").set(len(entries))
    for number, (path, those) in enumerate(entries.items(), 1):
        parm(ours, f"group{number}").set(" ".join(map(str, sorted(those))))
        parm(ours, f"{_MATERIAL}{number}").set(path)


def _make(node: hou.ObjNode) -> hou.SopNode:
    before = shown(node)
    ours = node.createNode("material", _OURS)
    assert isinstance(ours, hou.SopNode)
    ours.setInput(0, before)
    show(ours)
    return ours
