"""The ``geometry`` port: facts about a mesh, and changes that don't need modeling tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import degrees, radians
from typing import Any

import bmesh
import bpy

from callboard.errors import HostError
from callboard.host import CheckPort, FacesLook, Json, MeshData, SubdivisionScheme
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.linked_data import (
    is_brought,
    refuse_linked,
    refuse_linked_data,
    refuse_linked_shape,
)
from callboard_blender.application.names import find, view_layer
from callboard_blender.parts import modifiers
from callboard_blender.parts.copies import own_data
from callboard_blender.parts.shapes import forget_kind, kind_in_words, kind_of
from callboard_blender.parts.shown_mesh import counts_of, shown_counts

_SHAPES = ("MESH", "CURVE", "SURFACE", "FONT", "META")
_SCHEMES = {"catmull_clark": "CATMULL_CLARK", "bilinear": "SIMPLE"}
_NONE = {"scheme": "none", "levels": 0}


class BlenderGeometry:
    def __init__(self, changes: SceneChanges, checks: CheckPort) -> None:
        self._changes = changes
        self._checks = checks

    def info(self, name: str) -> Json:
        obj = find(name)
        if obj.type not in _SHAPES:
            raise HostError(f"'{obj.name}' is {kind_in_words(obj)}, which has no shape to model")
        view_layer().update()
        mesh = obj.data if obj.type == "MESH" else None
        info: Json = {
            "path": obj.name_full,
            "type": kind_of(obj),
            "mesh": None if mesh is None else counts_of(mesh),
            "result": shown_counts(obj),
            "shading": None if mesh is None else _shading(mesh),
            "subdivision": _subdivision(obj),
            "uv_sets": [] if mesh is None else [layer.name for layer in mesh.uv_layers],
            "modifiers": [modifiers.modifier_json(each) for each in obj.modifiers],
        }
        if obj.type == "FONT":
            info["text"] = modifiers.text_json(obj.data)
        if obj.type == "CURVE":
            info["curve"] = modifiers.curve_json(obj.data)
        return info

    def mesh(self, name: str) -> MeshData:
        mesh_object(name)
        return self._checks.mesh(find(name).name_full)

    def subdivide(self, name: str, scheme: SubdivisionScheme, levels: int) -> None:
        obj = find(name)
        refuse_linked(obj)
        if obj.type not in _SHAPES or obj.type == "META":
            raise HostError(f"'{obj.name}' is {kind_in_words(obj)}, which can't be subdivided")
        last = next((each for each in reversed(obj.modifiers) if each.type == "SUBSURF"), None)
        if scheme not in _SCHEMES and scheme != "none":
            raise HostError("in Blender, the scheme must be catmull_clark, bilinear or none")
        self._changes.touch()
        if scheme == "none":
            for each in [one for one in obj.modifiers if one.type == "SUBSURF"]:
                if is_brought(obj, "modifiers", each.name):
                    raise HostError(f"'{each.name}' comes from the linked object; change it there")
                obj.modifiers.remove(each)
        else:
            rounding = last or obj.modifiers.new("Subdivision", "SUBSURF")
            rounding.subdivision_type = _SCHEMES[scheme]
            rounding.levels = rounding.render_levels = levels
            rounding.show_viewport = rounding.show_render = True
        view_layer().update()

    def orient(self, name: str, side: FacesLook) -> None:
        def turned(building: Any) -> None:
            if side != "flip":
                bmesh.ops.recalc_face_normals(building, faces=building.faces)
            if side != "outside":
                bmesh.ops.reverse_faces(building, faces=building.faces)

        edit_mesh(self._changes, name, turned, same_shape=True)

    def triangulate(self, name: str) -> None:
        edit_mesh(
            self._changes,
            name,
            lambda building: bmesh.ops.triangulate(building, faces=building.faces),
        )

    def shade(self, name: str, smooth: bool, angle: float | None) -> None:
        with own_mesh(self._changes, name) as mesh:
            faces = mesh.polygons
            faces.foreach_set("use_smooth", [smooth] * len(faces))
            mesh.edges.foreach_set("use_edge_sharp", [False] * len(mesh.edges))
            if hasattr(mesh, "set_sharp_from_angle"):  # This exists in 4.1 and later.
                if angle is not None:
                    mesh.set_sharp_from_angle(angle=radians(angle))
            else:
                mesh.use_auto_smooth = angle is not None
                if angle is not None:
                    mesh.auto_smooth_angle = radians(angle)


def mesh_object(name: str) -> bpy.types.Object:
    """Return the object. Raises HostError when it isn't a mesh."""
    obj = find(name)
    if obj.type != "MESH":
        raise HostError(f"'{obj.name}' is {kind_in_words(obj)}, not a mesh")
    return obj


@contextmanager
def own_mesh(changes: SceneChanges, name: str) -> Iterator[Any]:
    """Yield the object's mesh, after making it the object's own. Other objects keep their mesh."""
    obj = mesh_object(name)
    refuse_linked_data(obj)
    refuse_linked_shape(obj)
    changes.touch()
    mesh = own_data(obj)
    yield mesh
    mesh.update()
    view_layer().update()


def edit_mesh(
    changes: SceneChanges, name: str, do: Callable[[Any], object], *, same_shape: bool = False
) -> None:
    """Call ``do`` with a BMesh of the object's own mesh, and write it back. Raises HostError for a
    mesh with shape keys, unless ``same_shape`` is True, which means that the shape keys stay
    valid."""
    if not same_shape and mesh_object(name).data.shape_keys is not None:
        raise HostError(f"'{name}' has shape keys, which would no longer fit; remove them first")
    with own_mesh(changes, name) as mesh:
        building = bmesh.new()
        try:
            building.from_mesh(mesh)
            building.faces.ensure_lookup_table()
            do(building)
            building.to_mesh(mesh)
        finally:
            building.free()
        if not same_shape:
            forget_kind(mesh)


def _shading(mesh: Any) -> str | None:
    smooth = [False] * len(mesh.polygons)
    mesh.polygons.foreach_get("use_smooth", smooth)
    if not smooth:
        return None
    if not any(smooth):
        return "flat"
    sharp = [False] * len(mesh.edges)
    mesh.edges.foreach_get("use_edge_sharp", sharp)
    automatic = getattr(mesh, "use_auto_smooth", False) and degrees(mesh.auto_smooth_angle) < 180
    return "smooth" if all(smooth) and not any(sharp) and not automatic else "mixed"


def _subdivision(obj: bpy.types.Object) -> Json:
    last = next((each for each in reversed(obj.modifiers) if each.type == "SUBSURF"), None)
    if last is None:
        return dict(_NONE)
    scheme = next(key for key, word in _SCHEMES.items() if word == last.subdivision_type)
    return {"scheme": scheme, "levels": last.levels}
