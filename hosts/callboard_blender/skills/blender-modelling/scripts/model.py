"""The tools of the ``blender-modelling`` skill. Each returns counts of the result."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import bpy

from callboard.content import Json
from callboard.errors import HostError, WrongArgument
from callboard_blender.application.linked_data import (
    is_brought,
    refuse_linked,
    refuse_linked_data,
    refuse_linked_shape,
)
from callboard_blender.application.names import find
from callboard_blender.application.views import in_a_window
from callboard_blender.parts import skinning
from callboard_blender.ports.geometry import mesh_object

_TYPES = {
    "bevel": "BEVEL",
    "subdivide": "SUBSURF",
    "mirror": "MIRROR",
    "thicken": "SOLIDIFY",
    "repeat": "ARRAY",
}
_WITHOUT = "the instances that its geometry nodes may make; geometry__info counts them, too"


def mesh_info(ctx: Any, name: str) -> Json:
    return _counted(_mesh(ctx, name))


def add_modifier(
    ctx: Any,
    name: str,
    kind: str,
    width: float = 0.1,
    segments: int = 2,
    levels: int = 1,
    axis: str = "X",
    count: int = 2,
    offset: Sequence[float] = (1, 0, 0),
) -> Json:
    obj = _mesh(ctx, name)
    refuse_linked(obj)
    ctx.port("scene.mutate")
    before = [modifier.name for modifier in obj.modifiers]
    made = obj.modifiers.new(kind.capitalize(), _TYPES[kind])
    if made is None:
        raise HostError(f"Blender can't add {kind} to '{obj.name}'")
    if kind == "bevel":
        made.width, made.segments, made.limit_method = width, segments, "ANGLE"
    elif kind == "subdivide":
        made.levels = made.render_levels = levels
    elif kind == "mirror":
        made.use_axis = [one == axis for one in "XYZ"]
    elif kind == "thicken":
        made.thickness = width
    else:
        made.count, made.relative_offset_displace = count, offset
    return _verified(obj, lambda: len(obj.modifiers) == len(before) + 1)


def remove_modifier(ctx: Any, name: str, modifier: str) -> Json:
    obj = _mesh(ctx, name)
    refuse_linked(obj)
    ctx.port("scene.mutate")
    doomed = obj.modifiers.get(modifier)
    if doomed is None:
        there = ", ".join(one.name for one in obj.modifiers) or "none"
        raise WrongArgument(f"'{obj.name}' has no modifier '{modifier}'; it has: {there}")
    if is_brought(obj, "modifiers", modifier):
        raise HostError(
            f"'{modifier}' comes from the linked object, which would restore it; change it there"
        )
    obj.modifiers.remove(doomed)
    return _verified(obj, lambda: modifier not in obj.modifiers)


def apply_modifiers(ctx: Any, name: str) -> Json:
    obj = _mesh(ctx, name)
    ctx.port("scene.mutate")
    wanted = _counted(obj)["result"]
    ctx.port("modelling").apply_modifiers(obj.name_full)
    return _verified(obj, lambda: _counted(obj)["mesh"] == wanted)


def shade(ctx: Any, name: str, smooth: bool) -> Json:
    obj = _mesh(ctx, name)
    refuse_linked_data(obj)
    refuse_linked_shape(obj)
    ctx.port("scene.mutate")
    faces = obj.data.polygons
    faces.foreach_set("use_smooth", [smooth] * len(faces))
    obj.data.update()
    return _verified(obj, lambda: all(face.use_smooth == smooth for face in faces))


def bind_to_armature(
    ctx: Any,
    name: str,
    armature: str,
    weights: str = "existing",
    rename_groups: Mapping[str, str] | None = None,
) -> Json:
    obj, rig = _mesh(ctx, name), find(ctx.port("scene.read").get(armature)["path"])
    refuse_linked(obj)
    if rig.type != "ARMATURE":
        raise WrongArgument(f"'{rig.name}' isn't an armature")
    bones, automatic = skinning.deforming(rig), weights == "automatic"
    made = _binding(obj, rig)
    repaired: Json = {}
    _refuse_unbound(obj, rig, automatic, rename_groups)
    editor = ctx.port("scene.mutate")
    if rename_groups:
        refuse_linked_data(obj)
        refuse_linked_shape(obj)
        if sharing := skinning.rename_groups(obj, rename_groups, bones):
            repaired["also_renamed_in"] = sharing[:200]
    if made is None:
        made = _bound_first(obj)
    elif made.object != rig:
        repaired["was"] = made.object.name_full if made.object else None
    old = obj.parent == made.object and obj.parent_type in ("OBJECT", "ARMATURE")
    if obj.parent is None or old:
        editor.set_parent(obj.name_full, rig.name_full, True)
    made.object, made.use_vertex_groups = rig, True
    made.show_viewport = made.show_render = True
    if automatic:
        before = _tallied(obj)
        _weigh(obj, rig)
        after = _tallied(obj)
        replaced = [each for each in before if before[each] != after.get(each)]
        repaired["replaced_weights"] = sorted(replaced)[:200]
    groups = [each.name for each in obj.vertex_groups if each.name in bones]
    answer = _verified(obj, lambda: made.object == rig and made.show_viewport and bool(groups))
    known = skinning.bones_of(obj)
    read = skinning.weights_of(obj, known)
    others = {
        e.name: e.object.name_full for e in skinning.bindings(obj) if e.object not in (rig, None)
    }
    return {
        **answer,
        **repaired,
        **({"other_armatures": others} if others else {}),
        "armature": rig.name_full,
        "groups": groups[:200],
        "unmatched_groups": skinning.unmatched(obj, known, read.used)[:200],
        "unbound_vertices": read.stray + read.bare,
    }


def _binding(obj: Any, rig: Any) -> Any:
    """Return the armature modifier to use: the one that names the armature or nothing, or else the
    only one."""
    there = skinning.bindings(obj)
    for wanted in (rig, None):
        if fitting := [each for each in there if each.object == wanted]:
            return fitting[0]
    if len(there) > 1:
        names = ", ".join(f"'{each.name}' ({each.object.name_full})" for each in there)
        raise HostError(
            f"'{obj.name}' has several armature modifiers: {names}; remove the wrong ones first"
            " with blender_modelling__remove_modifier"
        )
    return there[0] if there else None


def _bound_first(obj: Any) -> Any:
    made = obj.modifiers.new("Armature", "ARMATURE")
    if hasattr(obj.modifiers, "move"):
        obj.modifiers.move(len(obj.modifiers) - 1, 0)
    else:  # Blender 3.4
        with bpy.context.temp_override(object=obj):
            bpy.ops.object.modifier_move_to_index(modifier=made.name, index=0)
    return made


def _refuse_unbound(obj: Any, rig: Any, automatic: bool, names: Mapping[str, str] | None) -> None:
    """Raise HostError if the mesh would have no weights for the armature's bones, or couldn't get
    any."""
    bones, groups = skinning.deforming(rig), [each.name for each in obj.vertex_groups]
    if automatic:
        refuse_linked_data(obj)
    elif not names and bones.isdisjoint(groups):
        similar = skinning.alike(groups, bones)
        rename = f"rename_groups: {json.dumps(similar)}" if similar else "rename_groups"
        raise HostError(
            f"'{obj.name}' has no vertex group with the name of a deforming bone of '{rig.name}'; "
            f"bind it with weights: automatic, or with {rename}"
        )


def _tallied(obj: Any) -> dict[str, int]:
    """Return a number for each group with weights, which differs if the weights noticeably do."""
    names = {each.index: each.name for each in obj.vertex_groups}
    tallies: dict[str, int] = {}
    for vertex in obj.data.vertices:
        for each in vertex.groups:
            if each.weight > 0 and each.group in names:
                name = names[each.group]
                tallies[name] = hash((tallies.get(name), vertex.index, round(each.weight, 4)))
    return tallies


def _weigh(obj: Any, rig: Any) -> None:
    """Assign each vertex weights for the bones near it, as Blender's own operator does."""
    chosen = [obj, rig]
    context = {"object": rig, "active_object": rig, "selected_objects": chosen}
    context["selected_editable_objects"] = chosen
    parent = obj.parent
    if parent not in (None, rig):
        raise HostError(f"'{obj.name}' is below '{parent.name}'; unparent it first")
    with in_a_window(), bpy.context.temp_override(**context):
        try:
            bpy.ops.object.parent_set(type="ARMATURE_AUTO", keep_transform=True)
        except RuntimeError as error:
            raise HostError(f"Blender could not give '{obj.name}' weights: {error}") from None


def _mesh(ctx: Any, name: str) -> Any:
    return mesh_object(ctx.port("scene.read").get(name)["path"])


def _counted(obj: Any) -> Json:
    bpy.context.view_layer.update()
    result = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    return {
        "path": obj.name_full,
        "mesh": _counts(obj.data),
        "result": _counts(result),
        **({"without": _WITHOUT} if any(one.type == "NODES" for one in obj.modifiers) else {}),
        "modifiers": [{"name": one.name, "kind": one.type.lower()} for one in obj.modifiers],
    }


def _counts(mesh: Any) -> Json:
    return {
        "vertices": len(mesh.vertices),
        "edges": len(mesh.edges),
        "faces": len(mesh.polygons),
    }


def _verified(obj: Any, done: Callable[[], bool]) -> Json:
    if not done():
        raise HostError("Blender did not make the change as requested; the call was undone")
    return {**_counted(obj), "verified": True}
