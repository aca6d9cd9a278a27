"""Tools that change a mesh. Each checks the result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from callboard.content import Json
from callboard.errors import HostError, WrongArgument
from callboard.skill import (
    MeshData,
    MeshFacts,
    expect_that,
    faces_of,
    mesh_facts,
    normals_of,
    uv_facts,
)

from ._readback import alike, done, refuse_endless
from .read import LARGEST

#: Maximum number of faces that an answer names.
_NAMED = 1000
_CROSSED = "its volume has the wrong sign: it crosses itself, or its faces point to the other side"


def subdivide(ctx: Any, name: str, levels: int = 2, scheme: str = "catmull_clark") -> Json:
    port, _ = _ports(ctx)
    before = port.info(name)
    if scheme != "none":
        refuse_endless(before, 4.0 ** (levels - (before["subdivision"]["levels"] or 0)))
    port.subdivide(name, scheme, levels)
    info = port.info(name)
    there = info["subdivision"]
    expect_that(there["scheme"] == scheme, f"the scheme is {there['scheme']}")
    # Some hosts leave the levels to the renderer.
    expect_that(there["levels"] in (None, 0 if scheme == "none" else levels), "the levels differ")
    return done(info)


def normals(ctx: Any, name: str, side: str = "outside") -> Json:
    port, _ = _ports(ctx)
    _facts(port, name)
    before, doubt = _turns(port.mesh(name)), None
    port.orient(name, side)
    after = _facts(port, name)
    if side == "flip":
        now = _turns(port.mesh(name))
        turned = [{(end, start) for start, end in face} for face in before]
        expect_that(now == turned, "the faces look the same as before")
    elif after.flipped:
        no_outside = after.non_manifold > 0 or _one_sided(_turns(port.mesh(name)))
        expect_that(no_outside, f"faces at {after.flipped} edges point to opposite sides")
        doubt = (
            f"faces at {after.flipped} edges still point to opposite sides; a shape like a Möbius"
            " strip, or with edges of more than two faces, has no outside there"
        )
    elif not after.open_edges and not after.non_manifold:
        right = after.volume >= 0 if side == "outside" else after.volume <= 0
        if not right:
            outward = _points_outward(port.mesh(name))
            expect_that(outward == (side == "outside"), "the faces point to the other side")
            doubt = _CROSSED
    return done(port.info(name), doubt=doubt)


def triangulate(ctx: Any, name: str) -> Json:
    port, _ = _ports(ctx)
    _facts(port, name)
    wanted = port.info(name)["mesh"]["triangles"]
    port.triangulate(name)
    mesh = port.mesh(name)
    expect_that(all(count == 3 for count in mesh.counts), "some faces have more corners")
    expect_that(len(mesh.counts) == wanted, f"there are {len(mesh.counts)} triangles, not {wanted}")
    return done(port.info(name))


def shade(ctx: Any, name: str, smooth: bool, angle: float | None = None) -> Json:
    if angle is not None and not smooth:
        raise WrongArgument(
            "angle applies to smooth shading only; leave it out or pass smooth: true"
        )
    port, _ = _ports(ctx)
    counts = port.info(name)["mesh"]
    if counts is not None and not counts["faces"]:
        raise HostError(f"'{name}' has no faces of its own")
    port.shade(name, smooth, angle)
    info = port.info(name)
    right = ("smooth", "mixed") if angle is not None else ("smooth" if smooth else "flat",)
    sharp = angle is not None and info["shading"] == "flat" and _all_sharp(port.mesh(name), angle)
    expect_that(info["shading"] in right or sharp, f"the shading is {info['shading']}")
    return done(info)


def apply_scale(ctx: Any, name: str) -> Json:
    port, editor = _ports(ctx, "modelling")
    reader = ctx.port("scene.read")
    before = reader.get(name)["bounds"]
    editor.apply_scale(name)
    after = reader.get(name)
    expect_that(alike([1, 1, 1], after["scale"]), f"the scale is {after['scale']}")
    info = port.info(name)
    ends = ("min", "max")
    same = not before or all(alike(before[end], after["bounds"][end]) for end in ends)
    expect_that(same or info["modifiers"], "its size changed")
    doubt = "its modifiers use the mesh's own units, so their result has changed"
    return done(info, doubt=None if same else doubt)


def clean(ctx: Any, name: str, fault: str) -> Json:
    port, editor = _ports(ctx, "modelling")
    _facts(port, name)
    editor.clean(name, fault)
    info = port.info(name)
    left = getattr(mesh_facts(port.mesh(name)), fault)
    expect_that(not left, f"{left} such faces are left")
    return done(info)


def merge(ctx: Any, name: str, distance: float) -> Json:
    port, editor = _ports(ctx, "modelling")
    before = port.info(name)
    if before["mesh"] and before["mesh"]["vertices"] > LARGEST:
        raise HostError(
            f"'{name}' has {before['mesh']['vertices']} vertices; up to {LARGEST} can be read back"
        )
    mesh = port.mesh(name)
    close = _has_doubles(mesh.points, distance)
    editor.merge(name, distance)
    info = port.info(name)
    merged = before["mesh"]["vertices"] - info["mesh"]["vertices"]
    expect_that(merged > 0 or not close, "no vertices were merged")
    return done(info, merged=merged)


def extrude(ctx: Any, name: str, distance: float, faces: Any) -> Json:
    port, editor = _ports(ctx, "modelling")
    before = _facts(port, name)
    return _grown(port, name, before, editor.extrude(name, faces, distance))


def inset(ctx: Any, name: str, thickness: float, faces: Any, depth: float = 0.0) -> Json:
    port, editor = _ports(ctx, "modelling")
    before = _facts(port, name)
    return _grown(port, name, before, editor.inset(name, faces, thickness, depth))


def unwrap(
    ctx: Any,
    name: str,
    method: str = "smart",
    angle: float = 66.0,
    margin: float = 0.01,
    replace: bool = False,
) -> Json:
    port, editor = _ports(ctx, "modelling")
    before = _facts(port, name)
    if before.overlap is not None and not replace:
        raise HostError(
            f"'{name}' has UVs, which would be lost; to replace them, pass replace: true"
        )
    old = port.mesh(name).uvs
    editor.unwrap(name, method, angle, margin)
    mesh = port.mesh(name)
    expect_that(mesh.uvs is not None, "there are no UVs")
    facts = uv_facts(mesh)
    expect_that(facts["area"] > 0, "the UVs have no area")
    if method == "smart":
        expect_that(facts["inside"], "the UVs leave the square")
    same = old is not None and [*map(tuple, old)] == [*map(tuple, mesh.uvs or ())]
    info = port.info(name)
    return done(info, doubt="the UVs are as they were before" if same else None, uvs=facts)


def _ports(ctx: Any, editing: str = "geometry") -> tuple[Any, Any]:
    ctx.port("scene.mutate")
    return ctx.port("geometry"), ctx.port(editing)


def _facts(port: Any, name: str) -> MeshFacts:
    counts = port.info(name)["mesh"]
    if counts is None or not counts["faces"]:
        raise HostError(f"'{name}' has no faces of its own")
    if counts["faces"] > LARGEST:
        raise HostError(f"'{name}' has {counts['faces']} faces; up to {LARGEST} can be read back")
    return mesh_facts(port.mesh(name))


def _grown(port: Any, name: str, before: MeshFacts, moved: list[int]) -> Json:
    after = _facts(port, name)
    expect_that(after.faces > before.faces, "no faces were added")
    if after.non_manifold > before.non_manifold:
        raise HostError(
            f"edges of '{name}' would have more than two faces; choose faces that touch along whole"
            " edges, or all that meet at a corner"
        )
    answer = done(port.info(name))
    return {**answer, "faces": moved} if len(moved) <= _NAMED else answer


def _turns(mesh: MeshData) -> list[set[tuple[int, int]]]:
    """Return the directed edges of each face, in its winding order."""
    return [
        set(zip(face, [*face[1:], *face[:1]], strict=True))
        for face in faces_of(mesh.counts, mesh.corners)
    ]


def _one_sided(faces: list[set[tuple[int, int]]]) -> bool:
    """Return whether neighboring faces can't all point to the same side, as on a Möbius strip. Only
    edges that two faces share count."""
    beside: dict[tuple[int, int], list[int]] = {}
    for number, face in enumerate(faces):
        for start, end in face:
            beside.setdefault((min(start, end), max(start, end)), []).append(number)
    turned: dict[int, bool] = {}
    seen: set[int] = set()
    for first in range(len(faces)):
        turned.setdefault(first, False)
        waiting = [] if first in seen else [first]
        seen.add(first)
        while waiting:
            one = waiting.pop()
            for start, end in faces[one]:
                both = beside[min(start, end), max(start, end)]
                if len(both) != 2:
                    continue
                other = both[0] if both[1] == one else both[1]
                wanted = turned[one] ^ ((start, end) in faces[other])
                if turned.setdefault(other, wanted) != wanted:
                    return True
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
    return False


def _points_outward(mesh: MeshData) -> bool:
    """Return whether the face at the point farthest from the mesh's center points away from it.
    Among the faces at that point, the one most nearly perpendicular to that direction counts."""
    center = [sum(axis) / len(mesh.points) for axis in zip(*mesh.points, strict=True)]
    away = [tuple(a - b for a, b in zip(point, center, strict=True)) for point in mesh.points]
    farthest = max(range(len(away)), key=lambda index: sum(each * each for each in away[index]))
    normals, _ = normals_of(mesh, False, None)
    faces = faces_of(mesh.counts, mesh.corners)
    there = [
        sum(a * b for a, b in zip(normal, away[farthest], strict=True))
        for normal, face in zip(normals, faces, strict=True)
        if farthest in face
    ]
    return max(there, key=abs, default=0.0) > 0


def _all_sharp(mesh: MeshData, angle: float) -> bool:
    """Return whether no edge is flatter than ``angle``, so that smooth shading looks flat."""
    smooth, _ = normals_of(mesh, True, angle)
    flat, _ = normals_of(mesh, False, None)
    of_face = [
        normal for normal, count in zip(flat, mesh.counts, strict=True) for _ in range(count)
    ]
    return all(alike(list(a), list(b)) for a, b in zip(of_face, smooth, strict=True))


def _has_doubles(points: Sequence[Sequence[float]], distance: float) -> bool:
    """Return whether two points are certainly within ``distance`` of each other. They are if both
    are in the same cell of half that width."""
    seen = set()
    width = distance / 2 or 1e-9
    for point in points:
        if not all(map(math.isfinite, point)):
            continue
        cell = tuple(int(each // width) for each in point)
        if cell in seen:
            return True
        seen.add(cell)
    return False
