"""The tools of the ``maya-modelling`` skill. A tool that changes something checks that Maya really
made the change. If Maya didn't, the tool raises HostError, and callboard undoes the call."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from maya import cmds

from callboard.content import Json
from callboard.errors import HostError, WrongArgument

_PATH = r"\|?[\w:]+(?:\|[\w:]+)*"
_RANGE = r"\[(?:\*|\d+(?::\d+)?)\]"


def mesh_info(ctx: Any, name: str) -> Json:
    path = _mesh(ctx, name)
    return {
        "vertices": _count(path, vertex=True),
        "edges": _count(path, edge=True),
        "faces": _count(path, face=True),
        "triangles": _count(path, triangle=True),
        "shells": _count(path, shell=True),
    }


def select_edges(ctx: Any, names: Sequence[str] = (), edges: Sequence[str] = ()) -> Json:
    ctx.port("scene.mutate")
    source = [*(_mesh(ctx, name) for name in names), *_components(ctx, edges, "e")]
    if not source:
        source = cmds.ls(selection=True, long=True) or []
    if not source:
        raise WrongArgument(
            "nothing is selected; give names or edges, or ask the artist to select objects"
        )
    edge_parts = cmds.polyListComponentConversion(source, toEdge=True)
    if not edge_parts:
        raise HostError("the selection has no edges; select polygon objects or their parts")
    cmds.select(edge_parts, replace=True)
    selected = cmds.ls(selection=True, long=True) or []
    count = len(cmds.ls(selected, flatten=True) or [])
    if count == 0 or not all(".e[" in each for each in selected):
        raise HostError("Maya did not select the edges; the selection was restored")
    return {"edges": selected, "count": count, "verified": True}


def bevel_edges(ctx: Any, width: float, segments: int = 2, edges: Sequence[str] = ()) -> Json:
    ctx.port("scene.mutate")
    chosen = _components(ctx, edges, "e") or [
        each for each in cmds.ls(selection=True, long=True) or [] if ".e[" in each
    ]
    if not chosen:
        raise WrongArgument(
            "no edges are selected; call maya_modelling__select_edges, or give edges"
        )

    def bevel() -> list[str]:
        made = cmds.polyBevel3(
            chosen,
            offset=width,
            segments=segments,
            # Without this, the width would be a fraction of the shortest edge.
            offsetAsFraction=False,
            constructionHistory=True,
        )
        return [str(node) for node in made]

    return _edited(_owners(chosen), bevel)


def extrude_faces(ctx: Any, faces: Sequence[str], distance: float) -> Json:
    ctx.port("scene.mutate")
    if distance == 0:
        raise WrongArgument("distance must not be 0")
    chosen = _components(ctx, faces, "f")

    def extrude() -> list[str]:
        made = cmds.polyExtrudeFacet(chosen, keepFacesTogether=True, localTranslateZ=distance)
        return [str(node) for node in made]

    return _edited(_owners(chosen), extrude)


def smooth(ctx: Any, name: str, divisions: int = 1) -> Json:
    ctx.port("scene.mutate")
    path = _mesh(ctx, name)
    return _edited([path], lambda: [str(n) for n in cmds.polySmooth(path, divisions=divisions)])


def freeze_transforms(ctx: Any, name: str) -> Json:
    ctx.port("scene.mutate")
    reader = ctx.port("scene.read")
    before = reader.get(name)
    cmds.makeIdentity(before["path"], apply=True, translate=True, rotate=True, scale=True)
    after = reader.get(before["path"])
    still = any(after["translate"]) or any(after["rotate"]) or after["scale"] != [1.0, 1.0, 1.0]
    if still or not _same_box(before["bounds"], after["bounds"]):
        raise HostError(
            f"Maya did not freeze all transforms of '{before['name']}'; the change was undone"
        )
    return {"changed": [after["path"]], "verified": True}


def delete_history(ctx: Any, name: str) -> Json:
    ctx.port("scene.mutate")
    path = _mesh(ctx, name)
    faces = _count(path, face=True)
    cmds.delete(path, constructionHistory=True)
    shape = cmds.listRelatives(path, shapes=True, noIntermediate=True, fullPath=True)[0]
    left = cmds.listConnections(f"{shape}.inMesh", source=True, destination=False)
    if left or _count(path, face=True) != faces:
        raise HostError(f"Maya did not delete the history of '{name}'; the change was undone")
    return {"changed": [path], "verified": True}


def _edited(paths: Sequence[str], edit: Any) -> Json:
    before = sum(_count(path, face=True) for path in paths)
    nodes = edit()
    after = sum(_count(path, face=True) for path in paths)
    if after <= before:
        raise HostError(f"no face was added (there are still {after}); the change was undone")
    answer = {"changed": list(paths), "nodes": nodes, "before": before, "after": after}
    return {**answer, "verified": True}


def _mesh(ctx: Any, name: str) -> str:
    path: str = ctx.port("scene.read").get(name)["path"]
    shapes = cmds.listRelatives(path, shapes=True, noIntermediate=True, fullPath=True) or []
    if not shapes or cmds.nodeType(shapes[0]) != "mesh":
        raise WrongArgument(f"'{name}' isn't a polygon object")
    return path


def _components(ctx: Any, written: Sequence[str], letter: str) -> list[str]:
    """Return the checked components with full paths. The check refuses patterns, which Maya itself
    would accept."""
    parts: list[str] = []
    for each in written:
        matched = re.fullmatch(rf"({_PATH})\.{letter}({_RANGE})", each, re.ASCII)
        if matched is None:
            raise WrongArgument(f"'{each}' must be written like Crate.{letter}[0:11]")
        parts.append(f"{_mesh(ctx, matched[1])}.{letter}{matched[2]}")
    if parts and len(cmds.ls(parts, long=True) or []) == 0:
        raise WrongArgument(f"there is no such part: {', '.join(written)}")
    return parts


def _owners(components: Sequence[str]) -> list[str]:
    """Return the full paths of the components' objects, each once."""
    paths: dict[str, None] = {}
    for each in components:
        owner = cmds.ls(each.split(".", 1)[0], long=True)[0]
        if cmds.nodeType(owner) == "mesh":
            owner = cmds.listRelatives(owner, parent=True, fullPath=True)[0]
        paths[str(owner)] = None
    return list(paths)


def _count(path: str, **what: Any) -> int:
    return int(cmds.polyEvaluate(path, **what))


def _same_box(a: Json | None, b: Json | None) -> bool:
    if a is None or b is None:
        return a is b
    pairs = zip([*a["min"], *a["max"]], [*b["min"], *b["max"]], strict=True)
    return all(abs(x - y) <= 1e-3 * max(1.0, abs(x)) for x, y in pairs)
