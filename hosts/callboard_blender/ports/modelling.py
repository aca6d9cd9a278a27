"""The ``modelling`` port: changes that need modeling tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import cos, radians
from typing import Any

import bmesh
import bpy
from mathutils import Matrix, Vector

from callboard.errors import HostError
from callboard.host import CleanedFault, UnwrapMethod
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.linked_data import (
    is_brought,
    refuse_linked,
    refuse_linked_data,
    refuse_linked_shape,
)
from callboard_blender.application.names import changed, find, view_layer
from callboard_blender.application.unique_names import refuse_miscounted
from callboard_blender.application.views import in_a_window
from callboard_blender.parts import modifiers, transforms
from callboard_blender.parts.copies import own_data
from callboard_blender.parts.shapes import forget_kind, kind_in_words
from callboard_blender.parts.shown_mesh import instances_of
from callboard_blender.parts.world import is_evaluated, world_of
from callboard_blender.ports.edit import home
from callboard_blender.ports.geometry import edit_mesh, mesh_object, own_mesh

_SIDES = {
    "top": (0, 0, 1),
    "bottom": (0, 0, -1),
    "front": (0, -1, 0),
    "back": (0, 1, 0),
    "left": (-1, 0, 0),
    "right": (1, 0, 0),
}
#: Faces within this angle of a side are considered to face it.
_TOWARDS = cos(radians(44))
#: Maximum area of a face that is considered to have none, as a fraction of the mesh's size squared.
_FLAT = 1e-10
#: Types of modifiers that don't change the shape.
_BESIDE = ("PARTICLE_SYSTEM", "COLLISION", "SURFACE")


class BlenderModelling:
    def __init__(self, changes: SceneChanges) -> None:
        self._changes = changes

    def add_modifier(self, name: str, kind: str, values: Mapping[str, object]) -> str:
        obj = find(name)
        refuse_linked(obj)
        self._changes.touch()
        made: Any = obj.modifiers.new(kind.capitalize(), modifiers.TYPES[kind])
        if made is None:
            raise HostError(
                f"Blender can't add a {kind} modifier to {kind_in_words(obj)} such as '{obj.name}'"
            )
        modifiers.begin(made)
        modifiers.write(obj, made, values)
        view_layer().update()
        return str(made.name)

    def set_modifier(self, name: str, modifier: str, values: Mapping[str, object]) -> None:
        obj = find(name)
        refuse_linked(obj)
        self._changes.touch()
        modifiers.write(obj, _modifier(obj, modifier), values)
        view_layer().update()

    def remove_modifier(self, name: str, modifier: str) -> None:
        obj = find(name)
        refuse_linked(obj)
        doomed = _modifier(obj, modifier)
        if is_brought(obj, "modifiers", modifier):
            raise HostError(
                f"'{modifier}' comes from the linked object, which would restore it; change it"
                " there"
            )
        self._changes.touch()
        obj.modifiers.remove(doomed)
        view_layer().update()

    def apply_modifiers(self, name: str) -> None:
        """Apply the modifiers in turn with Blender's own operator, which keeps the mesh's data and
        refuses when it would lose any. Particles and collisions don't affect the shape, so they
        stay."""
        obj = mesh_object(name)
        refuse_linked_data(obj)
        refuse_linked_shape(obj)
        if obj.data.shape_keys is not None:
            raise HostError(
                f"'{obj.name}' has shape keys, which would be lost if modifiers were applied"
            )
        shown = [each for each in obj.modifiers if each.show_viewport and each.type not in _BESIDE]
        if not shown:
            raise HostError(f"'{obj.name}' has no modifier that is switched on and can be applied")
        brought = [each.name for each in shown if is_brought(obj, "modifiers", each.name)]
        if brought:
            raise HostError(f"'{brought[0]}' comes from the linked object; apply it there")
        if obj.parent_type == "ARMATURE" or any(each.type == "ARMATURE" for each in shown):
            raise HostError(
                f"'{obj.name}' would no longer follow its armature if modifiers were applied"
            )
        view_layer().update()
        if not is_evaluated(obj):
            raise HostError(
                f"'{obj.name}' is in a collection that is excluded or hidden, so Blender doesn't"
                " evaluate its modifiers; show it first"
            )
        if any(each.type == "NODES" for each in shown) and next(instances_of(obj), None):
            raise HostError(
                f"the nodes of '{obj.name}' make instances, which would be lost if modifiers were"
                " applied; add a Realize Instances node at the end of the nodes first"
            )
        self._changes.touch()
        mesh = own_data(obj)
        for each in [one.name for one in shown]:
            _apply(obj, each)
        forget_kind(mesh)
        view_layer().update()

    def apply_scale(self, name: str) -> None:
        obj = mesh_object(name)
        refuse_linked_data(obj)
        refuse_linked_shape(obj)
        for child in obj.children:
            refuse_linked(child)
        view_layer().update()
        before = obj.matrix_world.copy()
        if abs(before.determinant()) < 1e-12:
            raise HostError(f"'{obj.name}' is scaled to zero, and would stay flat; scale it first")
        self._changes.touch()
        transforms.write(obj, None, None, (1, 1, 1))
        taken = obj.matrix_world.inverted() @ before
        if transforms.same(taken, Matrix.Identity(4), 1e-6):
            return
        with own_mesh(self._changes, name) as mesh:
            mesh.transform(taken, shape_keys=True)
            if taken.determinant() < 0:
                mesh.flip_normals()
        for child in obj.children:
            child.matrix_parent_inverse = taken @ child.matrix_parent_inverse
        view_layer().update()

    def clean(self, name: str, fault: CleanedFault) -> None:
        def cleaned(building: Any) -> None:
            if fault == "zero_faces":
                _dissolve_flat(building)
            else:
                many = [face for face in building.faces if len(face.verts) > 4]
                bmesh.ops.triangulate(building, faces=many)

        edit_mesh(self._changes, name, cleaned)

    def merge(self, name: str, distance: float) -> None:
        edit_mesh(
            self._changes,
            name,
            lambda building: bmesh.ops.remove_doubles(
                building, verts=building.verts, dist=distance
            ),
        )

    def extrude(self, name: str, faces: Sequence[int] | str, distance: float) -> list[int]:
        world = world_of(mesh_object(name))
        moved: list[int] = []

        def pulled(building: Any) -> None:
            chosen = _faces(building, faces, world, name)
            along = sum((face.normal * face.calc_area() for face in chosen), Vector())
            if along.length < 1e-9:
                raise HostError("the faces point in opposite directions")
            made = bmesh.ops.extrude_face_region(building, geom=chosen)["geom"]
            points = [each for each in made if isinstance(each, bmesh.types.BMVert)]
            bmesh.ops.translate(building, vec=along.normalized() * distance, verts=points)
            left = [face for face in chosen if face.is_valid]
            bmesh.ops.delete(building, geom=left, context="FACES")
            building.normal_update()
            moved.extend(_numbers(building, made))

        edit_mesh(self._changes, name, pulled)
        return moved

    def inset(
        self, name: str, faces: Sequence[int] | str, thickness: float, depth: float
    ) -> list[int]:
        world = world_of(mesh_object(name))
        moved: list[int] = []

        def bordered(building: Any) -> None:
            chosen = _faces(building, faces, world, name)
            bmesh.ops.inset_region(
                building,
                faces=chosen,
                thickness=thickness,
                depth=depth,
                use_even_offset=True,
                use_boundary=True,
            )
            moved.extend(_numbers(building, chosen))

        edit_mesh(self._changes, name, bordered)
        return moved

    def unwrap(self, name: str, method: UnwrapMethod, angle: float, margin: float) -> None:
        with own_mesh(self._changes, name) as mesh:
            if not len(mesh.uv_layers):
                mesh.uv_layers.new(name="UVMap")
        with in_a_window(), _editing(mesh_object(name)):
            bpy.ops.mesh.select_all(action="SELECT")
            if method == "smart":
                done = bpy.ops.uv.smart_project(
                    angle_limit=radians(angle), island_margin=margin, scale_to_bounds=False
                )
            else:
                done = bpy.ops.uv.cube_project(cube_size=1.0, scale_to_bounds=False)
        if done != {"FINISHED"}:
            raise HostError(f"Blender could not unwrap '{name}'")
        view_layer().update()

    def create_text(self, name: str | None, text: str, values: Mapping[str, object]) -> str:
        refuse_miscounted(name)
        self._changes.touch()
        data: Any = bpy.data.curves.new(name or "Text", "FONT")
        data.body = text
        modifiers.write_text(data, values)
        return _linked(name or "Text", data)

    def create_curve(
        self, name: str | None, points: Sequence[Sequence[float]], values: Mapping[str, object]
    ) -> str:
        refuse_miscounted(name)
        self._changes.touch()
        data = bpy.data.curves.new(name or "Curve", "CURVE")
        modifiers.write_curve(data, points, values)
        return _linked(name or "Curve", data)


def _apply(obj: bpy.types.Object, modifier: str) -> None:
    try:
        with in_a_window(), bpy.context.temp_override(object=obj, active_object=obj):
            done = bpy.ops.object.modifier_apply(modifier=modifier)
    except RuntimeError as error:
        why = str(error).strip().removeprefix("Error: ")
        raise HostError(f"Blender could not apply '{modifier}' of '{obj.name}': {why}") from None
    if done != {"FINISHED"}:
        raise HostError(
            f"Blender could not apply '{modifier}' of '{obj.name}'; ask the artist to do it"
        )


def _linked(name: str, data: Any) -> str:
    obj = bpy.data.objects.new(name, data)
    home().objects.link(obj)
    return changed(obj)


def _modifier(obj: bpy.types.Object, name: str) -> Any:
    modifier = obj.modifiers.get(name)
    if modifier is None:
        raise HostError(
            f"'{obj.name}' has no modifier '{name}'; geometry__info lists its modifiers"
        )
    return modifier


def _faces(building: Any, faces: Sequence[int] | str, world: Any, name: str) -> list[Any]:
    if isinstance(faces, str):
        if abs(world.determinant()) < 1e-12:
            raise HostError(f"'{name}' is scaled to zero, so its faces have no direction")
        turn = world.to_3x3().inverted().transposed()
        side = Vector(_SIDES[faces])
        chosen = [
            face
            for face in building.faces
            if (turn @ face.normal).normalized().dot(side) > _TOWARDS
        ]
        if not chosen:
            raise HostError(f"no face of '{name}' faces the {faces}")
        return chosen
    wrong = [each for each in faces if each >= len(building.faces)]
    if wrong:
        raise HostError(f"'{name}' has faces 0 to {len(building.faces) - 1}, not {wrong[0]}")
    return [building.faces[each] for each in dict.fromkeys(faces)]


def _dissolve_flat(building: Any) -> None:
    """Remove faces and edges without extent. Removing some can flatten others, so the removal is
    repeated for the flattened ones alone."""
    axes = list(zip(*(vert.co for vert in building.verts), strict=True))
    size = Vector([max(axis) - min(axis) for axis in axes]).length
    edges = building.edges
    for width in (1e-6, 1e-6, 1e-5, 2e-5, 2e-5):
        bmesh.ops.dissolve_degenerate(building, dist=width * size, edges=edges)
        flat = [face for face in building.faces if face.calc_area() <= _FLAT * size**2]
        if not flat:
            return
        edges = list({edge for face in flat for edge in face.edges})


def _numbers(building: Any, parts: Sequence[Any]) -> list[int]:
    """Return the numbers that the faces among these parts will have in the mesh."""
    building.faces.index_update()
    return sorted(each.index for each in parts if isinstance(each, bmesh.types.BMFace))


@contextmanager
def _editing(obj: bpy.types.Object) -> Iterator[None]:
    """Enter Edit Mode on that object alone, with none of its parts hidden, for operators that need
    it. The selection, active object and hidden parts are restored afterwards."""
    layer = view_layer()
    if not obj.visible_get(view_layer=layer):
        raise HostError(f"'{obj.name}' is hidden, so Blender can't unwrap it; show it first")
    before, active = list(layer.objects.selected), layer.objects.active
    for each in before:
        each.select_set(False, view_layer=layer)
    obj.select_set(True, view_layer=layer)
    layer.objects.active = obj
    parts: list[Any] = [obj.data.vertices, obj.data.edges, obj.data.polygons]
    hidden = [[each.hide for each in part] for part in parts]
    for part in parts:
        part.foreach_set("hide", [False] * len(part))
    try:
        if bpy.ops.object.mode_set(mode="EDIT") != {"FINISHED"}:
            raise HostError(f"Blender can't edit '{obj.name}' now")
        yield
    finally:
        if obj.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        for part, hide in zip(parts, hidden, strict=True):
            part.foreach_set("hide", hide)
        obj.select_set(False, view_layer=layer)
        for each in before:
            each.select_set(True, view_layer=layer)
        layer.objects.active = active
