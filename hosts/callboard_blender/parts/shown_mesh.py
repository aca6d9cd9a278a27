"""Counts a mesh, and what an object shows after its modifiers."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy

from callboard.host import Json


def counts_of(mesh: Any) -> Json:
    mesh.calc_loop_triangles()
    return {
        "vertices": len(mesh.vertices),
        "edges": len(mesh.edges),
        "faces": len(mesh.polygons),
        "triangles": len(mesh.loop_triangles),
    }


def shown_counts(obj: bpy.types.Object) -> Json | None:
    """Return the counts after the modifiers, or None when Blender doesn't evaluate the object, for
    example because it is in a hidden collection."""
    with _shown(obj) as mesh:
        if mesh is None:
            return None
        counts = counts_of(mesh)
    for instance in _meshes_of_nodes(obj):
        each = counts_of(instance)
        counts = {key: number + each[key] for key, number in counts.items()}
    return counts


def shown_faces(obj: bpy.types.Object) -> int | None:
    """Return the faces of :func:`shown_counts` alone, which takes much less time."""
    with _shown(obj) as mesh:
        if mesh is None:
            return None
        faces = len(mesh.polygons)
    return faces + sum(len(each.polygons) for each in _meshes_of_nodes(obj))


def shown_materials(obj: bpy.types.Object) -> list[str] | None:
    """Return the materials of the faces that a mesh object with geometry nodes shows, without those
    of instances, or None if that isn't known or isn't needed, because nothing can change them."""
    if obj.type != "MESH" or not any(e.type == "NODES" and e.show_viewport for e in obj.modifiers):
        return None
    shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    if not shown.is_evaluated or not len(shown.data.polygons):
        return None
    mesh = shown.data
    known = [*mesh.materials]
    for at, slot in enumerate(obj.material_slots[: len(known)]):
        if slot.link == "OBJECT":  # It has priority over what its mesh has.
            known[at] = slot.material
    indices = array("i", bytes(4 * len(mesh.polygons)))
    mesh.polygons.foreach_get("material_index", indices)
    used = {min(max(each, 0), len(known) - 1) for each in {*indices}} if known else ()
    return list(dict.fromkeys(known[at].name_full for at in sorted(used) if known[at]))


@contextmanager
def _shown(obj: bpy.types.Object) -> Iterator[Any]:
    shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    try:
        # It is the object itself if Blender doesn't evaluate that.
        mesh = shown.to_mesh() if shown.is_evaluated else None
    except RuntimeError:
        mesh = None
    try:
        yield mesh
    finally:
        if mesh is not None:
            shown.to_mesh_clear()


def _meshes_of_nodes(obj: bpy.types.Object) -> Iterator[Any]:
    if any(each.type == "NODES" for each in obj.modifiers):
        yield from (each.data for each in instances_of(obj) if each.type == "MESH")


def instances_of(obj: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """Yield the object of each instance that the object's nodes show besides its own mesh. Each is
    valid only until the next one is yielded."""
    for each in bpy.context.evaluated_depsgraph_get().object_instances:
        if each.is_instance and each.parent.original == obj and each.particle_system is None:
            yield each.object
