"""Cleans up after Blender's import of a USD file. An object and its shape become a single object
again, under its original name. Groups that a program generated are removed, and motion becomes
keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from math import pi
from typing import Any, cast

import bpy
from mathutils import Matrix

from callboard.host import PrimitiveKind
from callboard_blender.application.names import view_layer
from callboard_blender.parts.curves import curves_of
from callboard_blender.parts.shapes import forget_kind, new_mesh
from callboard_blender.parts.usd_motion import OBJECT_NAME, take_keys

_DATA_NAME = "userProperties:blender:data_name"
#: Marks that programs put on groups that they, not the artist, generated.
_BLENDERS = "Blender:generated"
_GENERATED = (_BLENDERS, "exchange:generated")
_ORIGIN = "userProperties:readFrom"


def settle(created: Iterable[bpy.types.Object], stage: Any) -> None:
    """Clean up the created objects. Their world transforms stay the same."""
    objects = sorted(created, key=_depth)
    prims = _prims(objects, stage)
    loose = {obj for obj, prim in prims.items() if _is_loose(obj, prim)}
    shapes = {
        obj.parent: obj
        for obj, prim in prims.items()
        if obj.parent in prims and _is_shape(obj, prim, prims[obj.parent])
    }

    def above(obj: bpy.types.Object) -> bpy.types.Object | None:
        parent = obj.parent
        while parent in loose:
            parent = parent.parent
        return parent

    take_keys(objects, stage, above)
    view_layer().update()
    worlds = {obj: obj.matrix_world.copy() for obj in view_layer().objects}
    for obj in objects:
        if obj.parent in loose and obj not in loose:
            _hang(obj, above(obj), worlds)
    for group, shape in shapes.items():
        _take_place(shape, group)
    for obj, prim in prims.items():
        _take_shape(obj, prim)
    gone = [*loose, *shapes]
    names = {obj: _name_of(prim) for obj, prim in prims.items() if obj not in gone}
    bpy.data.batch_remove(gone)
    _rename({obj: name for obj, name in names.items() if name})
    view_layer().update()


def _depth(obj: bpy.types.Object) -> int:
    return 0 if obj.parent is None else 1 + _depth(obj.parent)


@contextmanager
def traced(stage: Any) -> Iterator[None]:
    """Inside the block, have each object that Blender reads from the stage's file record its prim,
    because an object's name doesn't identify its prim. Also remove Blender's mark from the groups
    that Blender generated. Blender leaves out marked groups, and with them the conversion of units
    and up axis. Blender reads the layer that is open here, and nothing is saved."""
    from pxr import Sdf, UsdGeom

    layer = stage.GetRootLayer()
    editable = layer.permissionToEdit and not stage.GetRootLayer().realPath.endswith(".usdz")
    try:
        for prim in stage.Traverse() if editable else ():
            if prim.IsA(UsdGeom.Imageable):
                origin = prim.CreateAttribute(_ORIGIN, Sdf.ValueTypeNames.String)
                origin.Set(str(prim.GetPath()))
            prim.ClearCustomDataByKey(_BLENDERS)
        yield
    finally:
        if layer.dirty:
            layer.Reload(True)


def _prims(objects: Iterable[bpy.types.Object], stage: Any) -> dict[bpy.types.Object, Any]:
    """Return each object's prim, and remove the mark from the object."""
    prims: dict[bpy.types.Object, Any] = {}
    key = _ORIGIN.removeprefix("userProperties:")
    for obj in objects:
        for owner in (obj.data, obj):
            if owner is not None and key in owner:
                prim = stage.GetPrimAtPath(str(owner[key]))
                if prim:
                    prims[obj] = prim
                del owner[key]
    return prims


def _is_loose(obj: bpy.types.Object, prim: Any) -> bool:
    if obj.type != "EMPTY" or obj.constraints or obj.instance_type != "NONE":
        return False
    scope = prim.GetTypeName() == "Scope" and not obj.children
    return scope or any(prim.GetCustomDataByKey(each) for each in _GENERATED)


def _is_shape(obj: bpy.types.Object, prim: Any, above: Any) -> bool:
    """Return whether Blender wrote the object as the shape of the object above it."""
    return bool(
        obj.data is not None
        and obj.parent.type == "EMPTY"
        and prim.GetAttribute(_DATA_NAME)
        and above.GetAttribute(OBJECT_NAME)
        and prim.GetParent() == above
        and not obj.children
        and not obj.constraints
        and obj.matrix_parent_inverse @ obj.matrix_basis == Matrix.Identity(4)
    )


def _take_shape(obj: bpy.types.Object, prim: Any) -> None:
    """Replace the mesh of a sphere, cylinder or cone with one as large as the prim. Blender's own
    mesh has ten sides, so its surface is inside the radius."""
    kind = str(prim.GetTypeName()).lower()
    if kind not in ("sphere", "cylinder", "cone") or obj.type != "MESH" or obj.modifiers:
        return
    sizes = {name: prim.GetAttribute(name) for name in ("radius", "height")}
    made = new_mesh(
        obj.data.name, cast(PrimitiveKind, kind), {n: float(v.Get()) for n, v in sizes.items() if v}
    )
    axis = str(prim.GetAttribute("axis").Get()) if kind != "sphere" else "Z"
    if axis != "Z":
        forget_kind(made)
        turn = ("Y", pi / 2) if axis == "X" else ("X", -pi / 2)
        made.transform(Matrix.Rotation(turn[1], 4, turn[0]))
    for material in obj.data.materials:
        made.materials.append(material)
    before, name = obj.data, obj.data.name
    obj.data = made
    if not before.users:
        bpy.data.meshes.remove(before)
        made.name = name


def _name_of(prim: Any) -> str | None:
    """Return the original name of an object that Blender wrote to the file. The prim was named
    after the object or its data."""
    above = prim.GetParent()
    owner = above if prim.GetAttribute(_DATA_NAME) and above.GetAttribute(OBJECT_NAME) else prim
    reported = owner.GetAttribute(OBJECT_NAME)
    if not reported:
        return None
    name = str(reported.Get())
    # The prim may have been renamed in the meantime.
    return name if re.sub(r"[^A-Za-z0-9_]", "_", name) == owner.GetName() else str(owner.GetName())


def _rename(names: Mapping[bpy.types.Object, str]) -> None:
    for number, obj in enumerate(names):
        obj.name = f"arriving {number}"  # This keeps names from colliding.
    for obj, name in names.items():
        obj.name = name


def _hang(
    obj: bpy.types.Object, parent: bpy.types.Object | None, worlds: Mapping[Any, Matrix]
) -> None:
    world = worlds.get(obj, obj.matrix_world)
    obj.parent = parent
    obj.matrix_parent_inverse = Matrix.Identity(4)
    if not curves_of(obj):
        obj.matrix_basis = world if parent is None else worlds[parent].inverted() @ world


def _take_place(shape: bpy.types.Object, group: bpy.types.Object) -> None:
    shape.parent = group.parent
    shape.matrix_parent_inverse = group.matrix_parent_inverse
    shape.rotation_mode = group.rotation_mode
    for channel in ("location", "rotation_euler", "rotation_quaternion", "scale"):
        setattr(shape, channel, getattr(group, channel))
    for flag in ("hide_viewport", "hide_render"):
        setattr(shape, flag, getattr(shape, flag) or getattr(group, flag))
    for child in group.children:
        if child != shape:
            child.parent = shape
    moving = group.animation_data
    if moving is not None and moving.action is not None:
        data = shape.animation_data_create()
        data.action = moving.action
        if hasattr(moving, "action_slot"):
            data.action_slot = moving.action_slot
    for key in group.keys():  # noqa: SIM118 - an object isn't a mapping
        shape[key] = group[key]
