"""Local transforms as translate, rotate (Euler XYZ, degrees) and scale, relative to the parent.

Blender keeps a further matrix between parent and child, delta transforms and several rotation
modes. Objects that use none of these are read and written by their channels, exactly; the others
through their matrix.
"""

from __future__ import annotations

from math import degrees, radians

import bpy
from mathutils import Euler, Matrix
from mathutils import Vector as Vec

from callboard.errors import HostError
from callboard.host import Vector
from callboard_blender.curves import curves_of, drivers_of
from callboard_blender.names import view_layer

Components = tuple[list[float], list[float], list[float]]


def read(obj: bpy.types.Object) -> Components:
    if is_plain(obj):
        turned = obj.rotation_euler
        return list(obj.location), [degrees(angle) for angle in turned], list(obj.scale)
    location, rotation, scale = local(obj).decompose()
    return list(location), [degrees(angle) for angle in rotation.to_euler("XYZ")], list(scale)


def write(
    obj: bpy.types.Object, translate: Vector | None, rotate: Vector | None, scale: Vector | None
) -> None:
    """Sets the components that aren't None."""
    _refuse_animated(obj)
    if is_plain(obj):
        if translate is not None:
            obj.location = translate
        if rotate is not None:
            obj.rotation_euler = [radians(angle) for angle in rotate]
        if scale is not None:
            obj.scale = scale
    else:
        location, turn, size = read(obj)
        obj.matrix_basis = obj.matrix_parent_inverse.inverted_safe() @ _compose(
            location if translate is None else translate,
            turn if rotate is None else rotate,
            size if scale is None else scale,
        )
    view_layer().update()


def set_local(obj: bpy.types.Object, matrix: Matrix) -> None:
    """Sets the whole local transform; what the channels can't express, shear, goes into the matrix
    between parent and child."""
    _refuse_animated(obj)
    location, rotation, scale = matrix.decompose()
    sheared = not _same(Matrix.LocRotScale(location, rotation, scale), matrix)
    obj.matrix_parent_inverse = Matrix.Identity(4)
    if sheared:
        obj.matrix_parent_inverse = matrix @ obj.matrix_basis.inverted_safe()
    else:
        obj.matrix_basis = matrix


def is_plain(obj: bpy.types.Object) -> bool:
    """Whether its channels are its local transform."""
    return (
        obj.rotation_mode == "XYZ"
        and (obj.parent is None or obj.matrix_parent_inverse == Matrix.Identity(4))
        and not any(obj.delta_location)
        and not any(obj.delta_rotation_euler)
        and tuple(obj.delta_scale) == (1.0, 1.0, 1.0)
    )


def local(obj: bpy.types.Object) -> Matrix:
    """Relative to the parent."""
    return obj.matrix_parent_inverse @ obj.matrix_basis if obj.parent else obj.matrix_basis.copy()


def _compose(translate: Vector, rotate: Vector, scale: Vector) -> Matrix:
    turn = Euler([radians(angle) for angle in rotate], "XYZ")
    return Matrix.LocRotScale(Vec(translate), turn, Vec(scale))


def _same(a: Matrix, b: Matrix) -> bool:
    size = max(1.0, *(abs(value) for row in b for value in row))
    return all(abs(a[i][j] - b[i][j]) < 1e-5 * size for i in range(4) for j in range(4))


def _refuse_animated(obj: bpy.types.Object) -> None:
    moving = ("location", "rotation", "scale", "delta_")
    if any(curve.data_path.startswith(moving) for curve in (*drivers_of(obj), *curves_of(obj))):
        raise HostError(
            f"the transform of '{obj.name}' is animated; set keys, or set it on a parent instead"
        )
