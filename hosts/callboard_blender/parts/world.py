"""Finds the world transforms of objects, and everything besides their own transforms that affects
where they are."""

from __future__ import annotations

import math
from collections.abc import Iterable

import bpy
from mathutils import Matrix
from mathutils import Vector as Vec

from callboard.errors import HostError
from callboard.host import Json
from callboard_blender.application.names import is_new
from callboard_blender.parts import transforms
from callboard_blender.parts.curves import unkeyed_channels

_EXTENDED = {"MESH", "CURVE", "SURFACE", "META", "FONT", "CURVES", "POINTCLOUD", "VOLUME"}


def is_evaluated(obj: bpy.types.Object) -> bool:
    """Return whether Blender evaluates the object. Blender doesn't evaluate objects in excluded or
    hidden collections."""
    return bool(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).is_evaluated)


def world_of(obj: bpy.types.Object) -> Matrix:
    """Return the object's current world transform. Raises HostError if Blender doesn't evaluate the
    object, and the parents alone don't determine its world transform."""
    if is_new(obj):
        return own_world(obj)
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    if evaluated.is_evaluated:
        return evaluated.matrix_world.copy()
    if causes(obj) or (obj.parent is not None and obj.parent_type != "OBJECT"):
        raise HostError(
            f"'{obj.name}' is in a collection that is excluded or hidden, so Blender doesn't"
            " evaluate its world transform; show it first"
        )
    return own_world(obj)


def own_world(obj: bpy.types.Object) -> Matrix:
    """Return the world transform that results from the object's own transform and its parent."""
    inside = transforms.local(obj)
    return world_of(obj.parent) @ inside if obj.parent is not None else inside


def frame_of(obj: bpy.types.Object) -> Matrix:
    """Return the world transform that the object's own channels start from. Raises HostError if
    Blender alone knows it, and doesn't say."""
    parent = obj.parent
    if parent is None:
        return Matrix.Identity(4)
    if obj.parent_type == "OBJECT" and not (parent.type == "CURVE" and parent.data.use_path):
        return world_of(parent) @ obj.matrix_parent_inverse
    if causes(obj) or obj.matrix_basis.determinant() == 0:
        raise HostError(
            f"'{obj.name}' is attached to a part of its parent, and has constraints or is scaled to"
            " zero, so its parent's part in its world transform isn't known"
        )
    return world_of(obj) @ obj.matrix_basis.inverted()


def world_json(obj: bpy.types.Object) -> Json | None:
    """Return the world transform as ``{translate, rotate, scale, sheared?}``, or None if Blender
    doesn't evaluate it."""
    try:
        world = world_of(obj)
    except HostError:
        return None
    translate, rotate, scale = transforms.decompose(world, obj.scale)
    linear = world.to_3x3().to_4x4()
    _, turn, size = linear.decompose()
    sheared = not transforms.same(Matrix.LocRotScale(None, turn, size), linear)
    placed = {"translate": translate, "rotate": rotate, "scale": scale}
    return {**placed, "sheared": True} if sheared else placed


def causes(obj: bpy.types.Object) -> list[str]:
    """Return descriptions of what moves the object, apart from its own transform and its parent."""
    movers = [
        f"the constraint '{each.name}'"
        for each in obj.constraints
        if not each.mute and each.influence > 0
    ]
    body = obj.rigid_body
    if body is not None and body.type == "ACTIVE" and body.enabled and not body.kinematic:
        movers.append("the rigid body simulation")
    return movers


def doubt(obj: bpy.types.Object) -> Json:
    """Return why the object isn't where its own transform puts it, or won't stay there, as
    ``{doubt, doubtful}``, where ``doubtful`` are the components that this concerns. Return an empty
    dict if there is no such reason."""
    if channels := unkeyed_channels(obj):
        why = (
            f"its keys give another {' and '.join(channels)} at this frame; a value set without a"
            " key is lost at the next frame, and when the file is opened again"
        )
        held = (transforms.component_of(channel) for channel in channels)
        return {"doubt": why, "doubtful": [*dict.fromkeys(held)]}
    movers = causes(obj)
    if not movers:
        return {}
    who = " and ".join(movers)
    every = [*transforms.WORDS]
    if not is_evaluated(obj):
        why = f"{who} may place it elsewhere; Blender doesn't evaluate that while it is hidden"
        return {"doubt": why, "doubtful": every}
    if obj.parent is not None and obj.parent_type != "OBJECT":
        return {"doubt": f"{who} may place it elsewhere", "doubtful": every}
    differing = transforms.differing(own_world(obj), world_of(obj))
    if not differing:
        return {}
    other = " and ".join(transforms.WORDS[each] for each in differing)
    verb = "give" if len(movers) > 1 else "gives"
    return {"doubt": f"{who} {verb} it another {other}", "doubtful": differing}


def bounds(objects: Iterable[bpy.types.Object]) -> Json | None:
    """Return the world-space box around the objects, or None when no object has an extent, or an
    extent isn't finite."""
    corners = [corner for obj in objects for corner in _corners(obj)]
    if not corners or not all(math.isfinite(value) for corner in corners for value in corner):
        return None
    axes = list(zip(*corners, strict=True))
    return {"min": [min(axis) for axis in axes], "max": [max(axis) for axis in axes]}


def _corners(obj: bpy.types.Object) -> list[Vec]:
    """Return points in world space. Their bounding box along the world's axes encloses the
    object."""
    try:
        placed = world_of(obj)
    except HostError:
        placed = obj.matrix_world
    if _has_box(obj):
        box = _box(obj)
        low, high = box[0], box[6]
        middle, half = placed @ ((low + high) / 2), (high - low) / 2
        reach = Vec(sum(abs(a * b) for a, b in zip(row, half, strict=False)) for row in placed[:3])
        return [middle - reach, middle + reach]
    return [placed @ corner for corner in _own_corners(obj, ())]


def _has_box(obj: bpy.types.Object) -> bool:
    return obj.type in _EXTENDED and not (obj.type == "MESH" and not obj.data.vertices)


def _box(obj: bpy.types.Object) -> list[Vec]:
    if obj.type == "META":
        # After undo, only the evaluated metaball has a box. Other evaluated types lack some of it.
        obj = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return [Vec(corner) for corner in obj.bound_box]


def _own_corners(obj: bpy.types.Object, inside: tuple[bpy.types.Collection, ...]) -> list[Vec]:
    """Return the corners of the object's extent, in its own space. The extent of an instanced
    collection is that of its content."""
    if _has_box(obj):
        return _box(obj)
    instanced = obj.instance_collection if obj.instance_type == "COLLECTION" else None
    if instanced is None or instanced in inside:
        return []
    moved = Matrix.Translation(-Vec(instanced.instance_offset))
    corners = []
    for member in instanced.all_objects:
        placed = moved @ _placed(member)
        corners += [placed @ corner for corner in _own_corners(member, (*inside, instanced))]
    return corners


def _placed(member: bpy.types.Object) -> Matrix:
    """Return the member's world transform. A hidden member of an instanced collection is evaluated
    too."""
    evaluated = member.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return evaluated.matrix_world if evaluated.is_evaluated else own_world(member)
