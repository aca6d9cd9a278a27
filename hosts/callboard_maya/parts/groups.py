"""Shading groups. Each is one of Maya's sets, and contains the objects or faces that have its
material."""

from __future__ import annotations

import re
from collections.abc import Sequence

from maya import cmds

from callboard_maya.application.names import full_path, parent_of

#: Maya's own group in every scene, whose material all new objects share.
EVERYBODYS = "initialShadingGroup"
_FACES = re.compile(r"f\[(\d+|\*)(?::(\d+))?\]")


def by_material() -> dict[str, list[str]]:
    """Return the groups of every surface material."""
    shading: dict[str, list[str]] = {}
    for group in cmds.ls(type="shadingEngine") or []:
        plug = f"{group}.surfaceShader"
        for material in cmds.listConnections(plug, source=True, destination=False) or []:
            shading.setdefault(str(material), []).append(str(group))
    return shading


def new_for(material: str) -> str:
    group = cmds.sets(renderable=True, noSurfaceShader=True, empty=True, name=f"{material}SG")
    cmds.connectAttr(f"{material}.outColor", f"{group}.surfaceShader")
    return str(group)


def members(group: str) -> dict[str, list[int] | None]:
    """Return the objects in the group by path. Each value holds the object's faces in the group, or
    is None if the whole object is in it."""
    inside: dict[str, list[int] | None] = {}
    # The published stubs don't include the query for a set's members.
    for member in cmds.sets(group, query=True) or []:  # type: ignore[call-overload]
        node, _, part = str(member).partition(".")
        path = _owner(node)
        faces = _numbers(path, part)
        if faces is None or path not in inside:
            inside[path] = faces
        elif (there := inside[path]) is not None:
            there += faces
    return inside


def give(shape: str, group: str, faces: Sequence[int] | None) -> None:
    """Move the shape, or only the given faces, from other groups to this group."""
    given = [shape] if faces is None else [f"{shape}.{run}" for run in runs(faces)]
    cmds.sets(given, edit=True, forceElement=group)


def _owner(node: str) -> str:
    path = full_path(node)
    return path if cmds.ls(path, type="transform") else parent_of(path) or path


def _numbers(path: str, part: str) -> list[int] | None:
    matched = _FACES.fullmatch(part)
    if matched is None:
        return None
    first, last = matched.groups()
    if first == "*":
        return list(range(int(cmds.polyEvaluate(path, face=True))))
    return list(range(int(first), int(last or first) + 1))


def runs(faces: Sequence[int]) -> list[str]:
    """Return the faces as Maya writes them: ``f[2]``, ``f[4:9]``."""
    runs: list[list[int]] = []
    for face in sorted(set(faces)):
        if runs and runs[-1][1] == face - 1:
            runs[-1][1] = face
        else:
            runs.append([face, face])
    return [f"f[{first}:{last}]" if last > first else f"f[{first}]" for first, last in runs]
