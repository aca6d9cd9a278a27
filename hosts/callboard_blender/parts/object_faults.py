"""Finds meshes with nothing in them, with loose parts or with faces that use an empty slot, and
objects that their armature doesn't deform, that don't render, whose modifiers do nothing, or whose
constraints or drivers are broken."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from typing import Any

import bpy

from callboard.host import Fault, Json
from callboard_blender.application.linked_data import is_brought, is_own_object
from callboard_blender.application.names import Listed, listed, view_layer
from callboard_blender.parts.constraints import constraints_of, fault_of
from callboard_blender.parts.curves import driven_parts, drivers_of
from callboard_blender.parts.drivers import why_broken, why_idle
from callboard_blender.parts.skinning import (
    alike,
    bindings,
    bones_of,
    can_rename,
    deforming,
    unmatched,
    weights_of,
)

#: Types of objects that a render shows.
RENDERED = (
    "MESH",
    "CURVE",
    "SURFACE",
    "META",
    "FONT",
    "CURVES",
    "POINTCLOUD",
    "VOLUME",
    "GPENCIL",
    "GREASEPENCIL",
    "LIGHT",
)
#: The property with the target that a type of modifier needs.
_TARGETS = {
    "CURVE": "object",
    "LATTICE": "object",
    "MESH_DEFORM": "object",
    "HOOK": "object",
    "DATA_TRANSFER": "object",
    "PARTICLE_INSTANCE": "object",
    "SHRINKWRAP": "target",
    "SURFACE_DEFORM": "target",
    "NODES": "node_group",
    "MESH_SEQUENCE_CACHE": "cache_file",
}
#: Properties that must all be zero for a type of modifier to do nothing.
_ZERO = {
    "SUBSURF": ("levels", "render_levels"),
    "MULTIRES": ("levels", "render_levels", "sculpt_levels"),
    "BEVEL": ("width", "width_pct"),
    "SOLIDIFY": ("thickness",),
    "DISPLACE": ("strength",),
    "SMOOTH": ("iterations",),
    "WAVE": ("height",),
}
#: Maximum number of faces of a mesh whose loose parts are counted.
_MOST_FACES = 500_000
#: Maximum number of vertices of a mesh that are searched for weights.
_MOST_VERTICES = 20_000
#: Maximum number of vertices of a mesh whose weights are all read, which takes longer.
_MOST_READ = 5_000


class ObjectFaults:
    """Finds faults in the scene's objects. The bones and the objects that collections render are
    read once for each list of objects, because ``users_collection`` goes through all objects."""

    def __init__(self) -> None:
        self._listed: Listed | None = None
        self._bones: dict[Any, set[str]] = {}
        self._rendered: set[Any] = set()
        #: The number of loose vertices and edges of each mesh, which several objects may share.
        self._loose: dict[str, tuple[int, int]] = {}

    def of(self, obj: bpy.types.Object) -> Iterator[Fault]:
        if (now := listed()) is not self._listed:
            self._listed = now
            self._bones = {each: deforming(each) for each in now.objects if each.type == "ARMATURE"}
            rendered = rendered_collections(view_layer().layer_collection)
            self._rendered = {obj for each in rendered for obj in each.objects}
            self._loose.clear()
        path = obj.name_full
        if obj.type == "MESH":
            yield from self._shape(obj)
            yield from _bare(obj)
        if obj.type == "MESH" and (reason := self._not_deformed(obj)):
            why, fix = reason
            yield Fault("not_deformed", path, why, "error", None if obj.library else fix)
        if reason := self._not_rendered(obj):
            why, fix = reason
            yield Fault("not_rendered", path, why, "hint", None if obj.library else fix)
        for each in obj.modifiers:
            if idle := _no_effect(each):
                yield Fault("no_effect", path, idle, "hint", _removal(obj, each))
        for each, bone in constraints_of(obj):
            if idle := fault_of(each):
                yield Fault("broken_constraints", path, idle, "warning", _loosened(obj, each, bone))
        for owner, _ in driven_parts(obj):
            for curve in drivers_of(owner):
                broken = why_broken(curve)
                if why := "; ".join([*broken, *why_idle(curve)]):
                    yield Fault("broken_drivers", path, why, "error" if broken else "hint")

    def _shape(self, obj: bpy.types.Object) -> Iterator[Fault]:
        mesh = obj.data
        if not len(mesh.polygons):
            # Modifiers may make faces of vertices, or not use the mesh at all.
            if not any(each.show_render for each in obj.modifiers):
                points = len(mesh.vertices)
                why = f"no faces (vertices: {points})" if points else "no vertices"
                yield Fault(
                    "empty_mesh", obj.name_full, f"its mesh has {why}, so it isn't rendered"
                )
            return
        if len(mesh.polygons) > _MOST_FACES:
            return
        if mesh.name_full not in self._loose:
            self._loose[mesh.name_full] = _loose(mesh)
        vertices, edges = self._loose[mesh.name_full]
        if vertices or edges:
            why = f"vertices that belong to no edge: {vertices}; edges of no face: {edges}"
            yield Fault("loose", obj.name_full, why, "hint")

    def _not_deformed(self, obj: bpy.types.Object) -> tuple[str, Json | None] | None:
        groups = {each.name for each in obj.vertex_groups}
        bound = bindings(obj)
        above = obj.parent if obj.parent and obj.parent.type == "ARMATURE" else None
        fitting = above if above and groups & self._bones.get(above, set()) else self._fit(groups)
        for each in bound:
            if reason := _why_idle(obj, each, fitting):
                return reason
        if bound and above is not None and obj.parent_type == "OBJECT":
            fit = len(groups & self._bones.get(above, set()))
            named = [each.object for each in bound]
            if fit and above not in named and fit >= len(groups & bones_of(obj)):
                why = f"'{bound[0].name}' names '{named[0].name}', not its parent '{above.name}'"
                also = _strays(obj)
                why = f"its modifier {why}" + (f"; {also[0]}" if also else "")
                return why, _binding(obj, above)
        if bound:
            return _strays(obj)
        if fitting is None or (above and obj.parent_type in ("ARMATURE", "BONE")):
            return None
        why = f"it has vertex groups named after bones of '{fitting.name}', but isn't bound to it"
        return why, _binding(obj, fitting)

    def _fit(self, groups: set[str]) -> bpy.types.Object | None:
        """Return the armature with the most bones that have the same names as these groups."""
        fitting = [rig for rig, bones in self._bones.items() if groups & bones]
        return max(fitting, key=lambda rig: len(groups & self._bones[rig]), default=None)

    def _only_rendered(self, obj: bpy.types.Object) -> tuple[str, Json | None] | None:
        """Return why the hidden object is in renders, or None if it isn't."""
        if obj.hide_render or obj not in self._rendered:
            return None
        if not obj.visible_camera and obj.type != "LIGHT":
            return None
        hidden = {"objects": [obj.name_full], "visible": False}
        # The file that a linked object comes from decides whether it is rendered.
        fix = None if obj.library else _call("structure__set_visibility", **hidden)
        return "it is hidden in the view, but it is in renders", fix

    def _not_rendered(self, obj: bpy.types.Object) -> tuple[str, Json | None] | None:
        if obj.type not in RENDERED:
            return None
        if not obj.visible_get(view_layer=view_layer()):
            return self._only_rendered(obj)
        shown = {"objects": [obj.name_full], "visible": True}
        if obj not in self._rendered:
            names = ", ".join(f"'{each.name}'" for each in obj.users_collection)
            why = f"it is shown, but renders leave out its collection {names}"
            return why, _call("structure__set_visibility", **shown, with_groups=True)
        if obj.hide_render:
            why = "it is shown, but switched off in renders"
            return why, _call("structure__set_visibility", **shown)
        if not obj.visible_camera and obj.type != "LIGHT":
            wanted = {"attribute": "visible_camera", "value": True}
            why = "it is shown, but cameras don't see it (ray visibility)"
            return why, _call("attributes__set", name=obj.name_full, **wanted)
        return None


def _bare(obj: bpy.types.Object) -> Iterator[Fault]:
    """Yield the fault that faces use an empty slot. An object without any material isn't a fault
    here, because hosts agree on that one."""
    filled = [slot.material is not None for slot in obj.material_slots]
    if all(filled) or not any(filled):
        return
    indices = array("i", bytes(4 * len(obj.data.polygons)))
    obj.data.polygons.foreach_get("material_index", indices)
    # Blender uses the last slot for an index that is too high.
    faces = Counter(min(each, len(filled) - 1) for each in indices)
    for slot, count in sorted(faces.items()):
        if not filled[slot]:
            why = f"its material slot {slot} is empty; faces that use it: {count}"
            yield Fault("no_material", obj.name_full, why, "warning")


def _loose(mesh: Any) -> tuple[int, int]:
    """Return the number of vertices that belong to no edge, and of edges that belong to no face."""
    ends = array("i", bytes(8 * len(mesh.edges)))
    mesh.edges.foreach_get("vertices", ends)
    used = array("i", bytes(4 * len(mesh.loops)))
    mesh.loops.foreach_get("edge_index", used)
    return len(mesh.vertices) - len(set(ends)), len(mesh.edges) - len(set(used))


def rendered_collections(each: Any) -> Iterator[Any]:
    """Yield this collection and those below it, except the ones that renders leave out. A
    collection can be in the view layer although the one above it is excluded."""
    if not each.collection.hide_render:
        if not each.exclude:
            yield each.collection
        for below in each.children:
            yield from rendered_collections(below)


def _why_idle(obj: bpy.types.Object, each: Any, fitting: Any) -> tuple[str, Json | None] | None:
    """Return why the armature modifier doesn't deform the mesh, and the call that fixes it."""
    rig = each.object
    others = [one.object for one in bindings(obj) if one != each]

    def repaired(wanted: Any) -> Json | None:
        bound = wanted is not None and wanted in others
        return _removal(obj, each) if bound else _binding(obj, wanted)

    if rig is None:
        return f"its modifier '{each.name}' names no armature", repaired(fitting)
    if not each.show_viewport:
        return f"its modifier '{each.name}' is switched off in viewports", repaired(rig)
    bones = deforming(rig)
    if each.use_vertex_groups and not each.use_bone_envelopes:
        groups = {group.name for group in obj.vertex_groups}
        if not groups & bones:
            why = f"none of its vertex groups has the name of a deforming bone of '{rig.name}'"
            like = alike(groups, bones) if can_rename(obj) else {}
            fits = fitting is not None and len(groups & deforming(fitting)) >= len(like)
            return why, repaired(fitting if fits or not like else rig)
        if not _weighs(obj, bones):
            return f"no vertex has a weight for a bone of '{rig.name}'", None
    if rig.data.pose_position == "REST":
        why = f"its armature '{rig.name}' is shown in its rest position"
        wanted = {"name": rig.name_full, "attribute": "data.pose_position", "value": "POSE"}
        return why, {"tool": "attributes__set", "arguments": wanted}
    return None


def _strays(obj: bpy.types.Object) -> tuple[str, Json | None] | None:
    """Return which groups with weights no bone has, and the call that renames them."""
    bones = bones_of(obj)
    if any(e.use_bone_envelopes or not e.use_vertex_groups for e in bindings(obj)):
        return None
    if all(each.name in bones for each in obj.vertex_groups):
        return None
    weights = weights_of(obj, bones, _step(obj, _MOST_READ))
    strays = unmatched(obj, bones, weights.used)
    similar = [f"'{e['group']}' (like '{e['alike']}')" for e in strays if "alike" in e]
    if similar:
        why = f"no deforming bone has the names of its groups {', '.join(similar[:8])}"
        return why, _renaming(obj, strays)
    if strays and weights.stray:
        names = ", ".join(f"'{each['group']}'" for each in strays[:8])
        return (
            f"some vertices have weights only for groups that no deforming bone has: {names}",
            None,
        )
    return None


def _weighs(obj: bpy.types.Object, bones: set[str]) -> bool:
    numbers = {each.index for each in obj.vertex_groups if each.name in bones}
    return any(
        weight.group in numbers and weight.weight > 0
        for number in range(0, len(obj.data.vertices), _step(obj, _MOST_VERTICES))
        for weight in obj.data.vertices[number].groups
    )


def _step(obj: bpy.types.Object, most: int) -> int:
    return max(1, len(obj.data.vertices) // most)


def _no_effect(each: Any) -> str | None:
    kind, named = each.type, f"its modifier '{each.name}'"
    if not each.show_viewport and not each.show_render:
        return f"{named} is switched off in viewports and in renders"
    if kind in _TARGETS and getattr(each, _TARGETS[kind], each) is None:
        return f"{named} has no {_TARGETS[kind].replace('_', ' ')}"
    if kind == "BOOLEAN":
        key = "collection" if each.operand_type == "COLLECTION" else "object"
        return f"{named} has no {key}" if getattr(each, key) is None else None
    if kind in _ZERO and all(getattr(each, key, 0) == 0 for key in _ZERO[kind]):
        return f"{named} has {_ZERO[kind][0].replace('_', ' ')} 0"
    if kind == "MIRROR" and not any(each.use_axis):
        return f"{named} mirrors along no axis"
    if kind == "ARRAY" and each.fit_type == "FIXED_COUNT" and each.count == 1:
        return f"{named} makes a single copy"
    if kind == "DECIMATE" and each.decimate_type == "COLLAPSE" and each.ratio == 1:
        return f"{named} keeps all faces"
    return None


def _binding(
    obj: bpy.types.Object, rig: bpy.types.Object | None, names: dict[str, str] | None = None
) -> Json | None:
    """Return the call that binds the object to ``rig``, with new ``names`` for its groups. Without
    ``names``, all groups that no bone has are named after the bones that are like them."""
    named = [each.object for each in bindings(obj)]
    if rig is None or (len(named) > 1 and rig not in named and None not in named):
        return None  # Only a person knows which of several modifiers should name another armature.
    wanted: Json = {"name": obj.name_full, "armature": rig.name_full}
    if names is None:
        names = alike((each.name for each in obj.vertex_groups), deforming(rig))
    if names and can_rename(obj):
        wanted["rename_groups"] = names
    return _call("blender_modelling__bind_to_armature", **wanted)


def _renaming(obj: bpy.types.Object, strays: list[Json]) -> Json | None:
    """Return the call that names groups after the bones of one armature that are like them."""
    for rig in (each.object for each in bindings(obj)):
        bones = deforming(rig)
        names = {e["group"]: e["alike"] for e in strays if e.get("alike") in bones}
        if names and can_rename(obj):
            return _binding(obj, rig, names)
    return None


def _removal(obj: bpy.types.Object, each: Any) -> Json | None:
    if obj.library or obj.type != "MESH" or is_brought(obj, "modifiers", each.name):
        return None
    return _call("geometry__remove_modifier", name=obj.name_full, modifier=each.name)


def _loosened(obj: bpy.types.Object, each: Any, bone: str) -> Json | None:
    """Return the call that removes the constraint, or None if that can't be done here."""
    if not is_own_object(obj) or is_brought(obj, "constraints", each.name):
        return None
    wanted = {"name": obj.name_full, "constraint": each.name}
    more = {"of_bone": bone} if bone else {}
    return _call("blender_data__remove_constraint", **wanted, **more)


def _call(tool: str, **arguments: Any) -> Json:
    return {"tool": tool, "arguments": arguments}
