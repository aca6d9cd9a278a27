"""The ``geometry`` port: facts about a mesh, and changes to it. Subdivision is a TurboSmooth on top
of the stack. Other changes go below the artist's modifiers, into the object itself, which becomes
an editable poly. An editable mesh remains one unless it is triangulated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from pymxs import runtime as rt

from callboard.errors import HostError
from callboard.host import (
    FacesLook,
    Json,
    MeshData,
    SubdivisionScheme,
    counted,
    faces_of,
    faces_to_turn,
    rounded,
)
from callboard_max.application.names import Node, find, path_of, telling
from callboard_max.parts.driven_values import refuse_controlled
from callboard_max.parts.polygons import MESH, modelled
from callboard_max.parts.shapes import is_geometry, kind_of

_ROUNDING = "turbosmooth"


class MaxGeometry:
    def info(self, name: str) -> Json:
        node = _shape(name)
        read = modelled(node)
        counts = counted(read.mesh)
        rounding = _rounding(node)
        levels = 0 if rounding is None else int(rounding.iterations)
        others = list(node.modifiers)[0 if rounding is None else 1 :]
        # The polygons after the other modifiers aren't known.
        plain = not any(each.enabled for each in others)
        return {
            "path": path_of(node),
            "type": kind_of(node),
            "mesh": counts,
            "result": rounded(counts, len(read.mesh.corners), levels) if plain else None,
            "shading": _shading(read.mesh, read.groups),
            "subdivision": {"scheme": "catmull_clark" if levels else "none", "levels": levels},
            "uv_sets": read.uv_sets,
            "modifiers": [
                {"name": str(each.name), "kind": str(rt.classOf(each))} for each in others
            ],
        }

    def mesh(self, name: str) -> MeshData:
        return modelled(_shape(name)).mesh

    def subdivide(self, name: str, scheme: SubdivisionScheme, levels: int) -> None:
        node = _shape(name)
        if scheme not in ("none", "catmull_clark"):
            raise HostError("in 3ds Max, the scheme must be catmull_clark or none")
        rounding = _rounding(node)
        with telling(f"subdivide '{node.name}'"):
            if scheme == "none":
                if rounding is not None:
                    rt.deleteModifier(node, rounding)
                return
            if rounding is None:
                rt.addModifier(node, rt.TurboSmooth())
                (rounding, *_) = node.modifiers
            refuse_controlled(rounding, ["iterations"])
            rounding.iterations, rounding.useRenderIterations = levels, False

    def orient(self, name: str, side: FacesLook) -> None:
        node = _own(name)
        if not any(faces_to_turn(modelled(node).mesh, side)):
            return
        triangles = kind_of(node) == MESH
        with telling(f"turn the faces of '{node.name}'"):
            # Neighboring faces of a poly can't face opposite sides, so no face can be flipped on
            # its own.
            if not triangles:
                _bake(node, rt.Turn_to_Mesh())
            turn = faces_to_turn(modelled(node).mesh, side)
            faces = [number for number, turned in enumerate(turn, 1) if turned]
            rt.meshop.flipNormals(node, rt.Array(*faces))
            rt.update(node)
            if not triangles:
                _bake(node, _polygons())

    def triangulate(self, name: str) -> None:
        node = _own(name)
        triangles = _polygons()
        triangles.limitPolySize, triangles.maxPolySize = True, 3
        with telling(f"triangulate '{node.name}'"):
            _bake(node, triangles)

    def shade(self, name: str, smooth: bool, angle: float | None) -> None:
        node = _own(name)
        triangles = kind_of(node) == MESH
        edges = rt.Smooth()
        if angle is not None:
            edges.autosmooth, edges.threshold = True, angle
        else:
            edges.smoothingBits = 1 if smooth else 0
        with telling(f"shade '{node.name}'"):
            _bake(node, edges)
            if not triangles:
                _bake(node, _polygons())


def _shape(name: str) -> Node:
    """Return the node. Raises HostError when it has no surface."""
    node = find(name)
    kind = kind_of(node)
    # 3ds Max counts a camera's target among the surfaces.
    if not is_geometry(node) or kind == "targetobject":
        raise HostError(f"'{node.name}' is of type {kind}, which has no shape to model")
    return node


def _own(name: str) -> Node:
    """Return the node. Raises HostError when a permanent change to its shape would change other
    objects too, or isn't possible."""
    node = _shape(name)
    if kind_of(node).startswith("xref"):
        raise HostError(f"the faces of '{node.name}' come from another file; change them there")
    if len(list(rt.refs.dependentNodes(node.baseObject))) > 1:
        raise HostError(
            f"'{node.name}' is one of several instances; make it unique in 3ds Max first"
        )
    return node


def _polygons() -> Any:
    """Return a modifier that turns any object into an editable poly with the same faces."""
    made = rt.Turn_to_Poly()
    made.removeMidEdgeVertices = False
    return made


def _bake(node: Node, modifier: Any) -> None:
    """Add the modifier below the artist's modifiers, and collapse it into the object itself."""
    above = len(list(node.modifiers))
    if above:
        rt.addModifier(node, modifier, before=above)
    else:
        rt.addModifier(node, modifier)
    rt.maxOps.CollapseNodeTo(node, above + 1, True)


def _rounding(node: Node) -> Any | None:
    """Return the TurboSmooth on top of the stack, if there is one and it is on."""
    stack = list(node.modifiers)
    if not stack or not stack[0].enabled or str(rt.classOf(stack[0])).lower() != _ROUNDING:
        return None
    return stack[0]


def _shading(mesh: MeshData, groups: Sequence[int]) -> str:
    """Return the shading, judging by the edges that lie between two faces. Such an edge is smooth
    if its faces share a smoothing group."""
    sharing: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for face, group in zip(faces_of(mesh.counts, mesh.corners), groups, strict=True):
        for start, end in zip(face, [*face[1:], *face[:1]], strict=True):
            sharing[min(start, end), max(start, end)].append(group)
    between = [each for each in sharing.values() if len(each) > 1]
    # If no edge lies between two faces, each face is judged by its own groups.
    smooth = [bool(a & b) for a, b, *_ in between] or [bool(group) for group in groups]
    if all(smooth):
        return "smooth" if smooth else "flat"
    return "mixed" if any(smooth) else "flat"
