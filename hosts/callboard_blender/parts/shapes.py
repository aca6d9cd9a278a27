"""Makes the primitives as meshes, centered on the origin, with their axis along Z."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

import bmesh
import bpy

from callboard.host import ACROSS, AROUND, PrimitiveKind, torus

#: The mesh attribute whose name identifies the kind of primitive. Blender keeps and copies an
#: attribute whose name begins with a dot. Unlike a custom property, such an attribute is neither
#: shown nor exported.
_MARKS: dict[str, str] = {kind: f".callboard_{kind}" for kind in get_args(PrimitiveKind)}


def kind_of(obj: bpy.types.Object) -> str:
    """Return a primitive's kind, or else Blender's type in lower case. Joined primitives are a
    mesh."""
    word = str(obj.type)
    if word == "MESH":
        there = obj.data.attributes
        kinds = [kind for kind, mark in _MARKS.items() if mark in there]
        if len(kinds) == 1:
            return kinds[0]
    return word.lower()


def kind_in_words(obj: bpy.types.Object) -> str:
    """Return Blender's type with its article."""
    word = str(obj.type).lower().replace("_", " ").replace("greasepencil", "grease pencil")
    word = "text" if word == "font" else word
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def forget_kind(mesh: bpy.types.Mesh) -> None:
    """Mark the mesh as no longer a primitive."""
    for mark in _MARKS.values():
        attribute = mesh.attributes.get(mark)
        if attribute is not None:
            mesh.attributes.remove(attribute)


def new_mesh(name: str, kind: PrimitiveKind, of: Mapping[str, float]) -> bpy.types.Mesh:
    mesh = bpy.data.meshes.new(name)
    if kind == "torus":
        made = torus(of["major_radius"], of["minor_radius"])
        mesh.from_pydata(made.points, [], made.faces)
    elif kind == "plane":
        x, y = of["width"] / 2, of["depth"] / 2
        mesh.from_pydata([(-x, -y, 0), (x, -y, 0), (x, y, 0), (-x, y, 0)], [], [(0, 1, 2, 3)])
    else:
        _solid(mesh, kind, of)
    mesh.polygons.foreach_set("use_smooth", [kind in ("sphere", "torus")] * len(mesh.polygons))
    mesh.attributes.new(_MARKS[kind], "BOOLEAN", "FACE")
    mesh.update()
    return mesh


def _solid(mesh: bpy.types.Mesh, kind: PrimitiveKind, of: Mapping[str, float]) -> None:
    building = bmesh.new()
    try:
        if kind == "sphere":
            bmesh.ops.create_uvsphere(
                building, u_segments=AROUND, v_segments=ACROSS, radius=of["radius"]
            )
        elif kind == "cube":
            bmesh.ops.create_cube(building, size=of["size"])
        else:
            bmesh.ops.create_cone(
                building,
                cap_ends=True,
                segments=AROUND,
                radius1=of["radius"],
                radius2=of["radius"] if kind == "cylinder" else 0.0,
                depth=of["height"],
            )
        building.to_mesh(mesh)
    finally:
        building.free()
