"""Reads and sets local transforms as translate, rotate (Euler XYZ, degrees) and scale, relative to
the parent.

Blender also has delta transforms, several rotation modes, and a matrix between parent and child.
As long as that matrix only translates, rotates and scales uniformly, each component follows from
its channel, even when a scale is zero or negative. Otherwise the components come from decomposing
the whole transform.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import degrees, radians
from typing import Any

import bpy
from mathutils import Euler, Matrix, Quaternion
from mathutils import Vector as Vec

from callboard.errors import HostError
from callboard.host import Vector
from callboard_blender.application.names import settle
from callboard_blender.parts.curves import curves_of, drivers_of, strip_curves_of

Components = tuple[list[float], list[float], list[float]]

#: Prefixes of the transform's channels.
_CHANNELS = ("location", "rotation", "scale")
#: The channel that holds the rotation, by rotation mode. All other modes are orders of Euler
#: angles.
_ROTATIONS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}

COMPONENTS = {
    "location": "translate",
    "rotation_euler": "rotate",
    "rotation_quaternion": "rotate",
    "rotation_axis_angle": "rotate",
    "scale": "scale",
}
#: The words for the components.
WORDS = {"translate": "location", "rotate": "rotation", "scale": "scale"}


def rotation_channel(obj: bpy.types.Object) -> str:
    return _ROTATIONS.get(obj.rotation_mode, "rotation_euler")


def read(obj: bpy.types.Object) -> Components:
    return components(obj, obj.location, list(getattr(obj, rotation_channel(obj))), list(obj.scale))


def components(
    obj: bpy.types.Object, location: Vector, rotation: Vector, scale: Vector
) -> Components:
    """Return the object's local transform for these values of its channels."""
    moved = Vec(location) + obj.delta_location
    turned = _delta(obj) @ _quaternion(obj, rotation)
    scaled = Vec(a * b for a, b in zip(scale, obj.delta_scale, strict=True))
    even = _even(_between(obj))
    if even is None:
        matrix = _between(obj) @ Matrix.LocRotScale(moved, turned, scaled)
        return decompose(matrix, scaled)
    turn, size = even
    if obj.rotation_mode == "XYZ" and turn == Quaternion() and _delta(obj) == Quaternion():
        angles = [degrees(angle) for angle in rotation]
    else:
        angles = [degrees(angle) for angle in (turn @ turned).to_euler("XYZ")]
    return list(_between(obj) @ moved), angles, list(size * scaled)


def write(
    obj: bpy.types.Object, translate: Vector | None, rotate: Vector | None, scale: Vector | None
) -> None:
    """Set the components that aren't None. Raises HostError, and changes nothing, when the artist
    has locked one of them."""
    asked = {"location": translate, "rotation": rotate, "scale": scale}
    alone = (rotate is None and scale is None) or _even(_between(obj)) is not None
    refuse_animated(obj, [key for key, value in asked.items() if value is not None or not alone])
    old = _channels(obj)
    if alone:
        write_channels(obj, translate, rotate, scale)
    else:
        before = read(obj)
        values = zip(asked.values(), before, strict=True)
        set_local(obj, _compose(*(b if a is None else a for a, b in values)))
    _refuse_locked(obj, old)
    settle(obj)


def turn_within(
    obj: bpy.types.Object, frame: Matrix, turn: Quaternion, own: bool
) -> tuple[Matrix, Quaternion]:
    """Return the turn in the world as a 3x3 matrix, and the rotation that the object then has
    within ``frame``, in which its channels place it. ``turn`` is about an axis of the world, or,
    with ``own``, of the object. Raises HostError when ``frame`` would shear what is turned."""
    linear = frame.to_3x3()
    if linear.determinant() == 0:
        raise HostError(f"'{obj.name}' is scaled to zero by its parent, so it can't be turned")
    old = _delta(obj) @ _quaternion(obj, getattr(obj, rotation_channel(obj)))
    if own:
        turn = old @ turn @ old.inverted()
        inside = turn.to_matrix()
        outside = linear @ inside @ linear.inverted()
    else:
        outside = turn.to_matrix()
        inside = linear.inverted() @ outside @ linear
    for each in (inside, outside):
        if not same(each @ each.transposed(), Matrix.Identity(3), 1e-4):
            raise HostError(
                f"'{obj.name}' would be sheared, because its parent is scaled unevenly; apply the"
                " parent's scale first, with geometry__apply_scale, or unparent it"
            )
    return outside, inside.to_quaternion() @ old


def write_turn(obj: bpy.types.Object, rotation: Quaternion, location: Vec | None) -> None:
    """Set the rotation from :func:`turn_within`, and the location in the same frame unless it is
    None. Raises HostError, and changes nothing, when the artist has locked one of them. The caller
    settles the object."""
    old = _channels(obj)
    set_rotation(obj, _delta(obj).inverted() @ rotation)
    if location is not None:
        obj.location = location - obj.delta_location
    _refuse_locked(obj, old)


def _refuse_locked(obj: bpy.types.Object, old: Components) -> None:
    """Restore the channels and raise HostError when one that the artist locked has changed."""
    if locked := _locked(obj, old):
        obj.location, obj.scale = old[0], old[2]
        setattr(obj, rotation_channel(obj), old[1])
        raise HostError(
            f"the artist locked {' and '.join(locked)} of '{obj.name}'; leave that as it is, or ask"
            " the artist to unlock it, in the Item tab of the 3D view's sidebar"
        )


def _channels(obj: bpy.types.Object) -> Components:
    return list(obj.location), list(getattr(obj, rotation_channel(obj))), list(obj.scale)


def _locked(obj: bpy.types.Object, old: Components) -> list[str]:
    """Return the locked channels whose values have changed."""
    locks = (obj.lock_location, obj.lock_rotation, obj.lock_scale)
    locked = []
    for name, before, after, lock in zip(
        ("location", "rotation", "scale"), old, _channels(obj), locks, strict=True
    ):
        differ = [abs(a - b) > 1e-6 * max(1, abs(a)) for a, b in zip(before, after, strict=True)]
        # The locks of single axes don't apply to a quaternion or to axis and angle.
        each = zip(differ, lock, strict=True) if len(differ) == 3 else [(any(differ), any(lock))]
        if any(moved and held for moved, held in each):
            locked.append(name)
    return locked


def write_channels(
    obj: bpy.types.Object, translate: Vector | None, rotate: Vector | None, scale: Vector | None
) -> None:
    """Set the channels to values that result in these components. Raises HostError when one can't
    be set without the others."""
    between = _between(obj)
    even = _even(between)
    if even is None and (rotate is not None or scale is not None):
        raise HostError(
            f"the rotation and scale of '{obj.name}' can't be keyed separately: the matrix between"
            " it and its parent is sheared or scaled unevenly; bake it instead"
        )
    if translate is not None:
        if between.determinant() == 0:
            raise HostError(f"'{obj.name}' is scaled to zero by its parent, so it can't be moved")
        obj.location = between.inverted() @ Vec(translate) - obj.delta_location
    if even is None:
        return
    turn, size = even
    if rotate is not None:
        if obj.rotation_mode == "XYZ" and turn == Quaternion() and _delta(obj) == Quaternion():
            obj.rotation_euler = [radians(angle) for angle in rotate]
        else:
            wanted = Euler([radians(angle) for angle in rotate], "XYZ").to_quaternion()
            set_rotation(obj, _delta(obj).inverted() @ turn.inverted() @ wanted)
    if scale is not None:
        if not all(obj.delta_scale):
            raise HostError(f"the delta scale of '{obj.name}' is zero, so it can't be scaled")
        obj.scale = [
            value / size / delta for value, delta in zip(scale, obj.delta_scale, strict=True)
        ]


def set_rotation(obj: bpy.types.Object, turned: Quaternion) -> None:
    """Set the channel of the object's mode to the equivalent value nearest to the current one, so
    that the object doesn't spin in between."""
    if obj.rotation_mode == "QUATERNION":
        turned.make_compatible(obj.rotation_quaternion)
        obj.rotation_quaternion = turned
    elif obj.rotation_mode == "AXIS_ANGLE":
        axis, angle = turned.to_axis_angle()
        obj.rotation_axis_angle = (angle, *axis)
    else:
        obj.rotation_euler = turned.to_euler(obj.rotation_mode, obj.rotation_euler)


def set_local(obj: bpy.types.Object, matrix: Matrix, between: Matrix | None = None) -> None:
    """Set the whole local transform. Shear and zero scale, which the channels can't express, go
    into the matrix between parent and child. ``between`` is that matrix, if the caller has computed
    it."""
    refuse_animated(obj)
    if same(Matrix.LocRotScale(*matrix.decompose()), matrix) and matrix.determinant() != 0:
        obj.matrix_parent_inverse = Matrix.Identity(4)
        obj.matrix_basis = matrix
        return
    if obj.parent is None:
        raise HostError(
            f"'{obj.name}' is sheared, or scaled to zero, by its parent, and Blender can't keep"
            " that without a parent"
        )
    if between is None:
        if obj.matrix_basis.determinant() == 0:
            raise HostError(f"'{obj.name}' is scaled to zero, so its world transform can't be kept")
        between = matrix @ obj.matrix_basis.inverted()
    obj.matrix_parent_inverse = between


def local(obj: bpy.types.Object) -> Matrix:
    """Return the transform relative to the parent."""
    return _between(obj) @ obj.matrix_basis


def _between(obj: bpy.types.Object) -> Matrix:
    return obj.matrix_parent_inverse if obj.parent else Matrix.Identity(4)


def _even(matrix: Matrix) -> tuple[Quaternion, float] | None:
    """Return the rotation and scale of a matrix, or None when it scales non-uniformly, shears,
    mirrors or flattens."""
    linear = matrix.to_3x3()
    if linear == Matrix.Identity(3):
        return Quaternion(), 1.0
    size = linear.col[0].length
    if size == 0 or linear.determinant() <= 0:
        return None
    turned = linear * (1 / size)
    if not same(turned @ turned.transposed(), Matrix.Identity(3)):
        return None
    return turned.to_quaternion(), size


def _delta(obj: bpy.types.Object) -> Quaternion:
    if obj.rotation_mode == "QUATERNION":
        return obj.delta_rotation_quaternion
    if obj.rotation_mode == "AXIS_ANGLE" or not any(obj.delta_rotation_euler):
        return Quaternion()
    return obj.delta_rotation_euler.to_quaternion()


def _quaternion(obj: bpy.types.Object, rotation: Vector) -> Quaternion:
    if obj.rotation_mode == "QUATERNION":
        return Quaternion(rotation).normalized()
    if obj.rotation_mode == "AXIS_ANGLE":
        return Quaternion(rotation[1:], rotation[0])
    return Euler(rotation, obj.rotation_mode).to_quaternion()


def decompose(matrix: Matrix, scaled: Vec) -> Components:
    """Return the components. A mirrored matrix decomposes into three negative scales. The scales
    get the signs of ``scaled`` if that gives the same transform."""
    location, turn, size = matrix.decompose()
    flips = [1.0 if a * b >= 0 else -1.0 for a, b in zip(size, scaled, strict=True)]
    if flips[0] * flips[1] * flips[2] > 0:
        turn = (turn.to_matrix() @ Matrix.Diagonal(flips)).to_quaternion()
        size = Vec(a * b for a, b in zip(size, flips, strict=True))
    return list(location), [degrees(angle) for angle in turn.to_euler("XYZ")], list(size)


def _compose(translate: Vector, rotate: Vector, scale: Vector) -> Matrix:
    turn = Euler([radians(angle) for angle in rotate], "XYZ")
    return Matrix.LocRotScale(Vec(translate), turn, Vec(scale))


def component_of(channel: str) -> str:
    """Return the component that the channel, or the delta channel, is a part of, or ''."""
    return COMPONENTS.get(channel.removeprefix("delta_"), "")


def differing(a: Matrix, b: Matrix) -> list[str]:
    """Return the components in which two transforms differ."""
    if same(a, b):
        return []
    (place, turn, size), (other_place, other_turn, other_size) = a.decompose(), b.decompose()
    pairs = {
        "translate": (Matrix.Translation(place), Matrix.Translation(other_place)),
        "rotate": (turn.to_matrix(), other_turn.to_matrix()),
        "scale": (Matrix.Diagonal(size), Matrix.Diagonal(other_size)),
    }
    # Two transforms that only differ in their shear have the same components.
    return [each for each, pair in pairs.items() if not same(*pair)] or [*pairs]


def same(a: Matrix, b: Matrix, tolerance: float = 1e-5) -> bool:
    size = max(1.0, *(abs(value) for row in b for value in row))
    return all(
        abs(x - y) < tolerance * size
        for row, other in zip(a, b, strict=True)
        for x, y in zip(row, other, strict=True)
    )


def refuse_animated(obj: bpy.types.Object, channels: Sequence[str] = _CHANNELS) -> None:
    """Raise HostError when keys, a strip or a driver already set one of the channels."""
    for curve in (*drivers_of(obj), *curves_of(obj), *strip_curves_of(obj)):
        moved = curve.data_path.removeprefix("delta_")
        if channel := next((each for each in channels if moved.startswith(each)), None):
            raise HostError(
                f"the {channel} of '{obj.name}' is animated; set keys, or set it on a parent"
                " instead"
            )


def curves_of_transform(obj: bpy.types.Object) -> list[Any]:
    """Return the curves of the location, the scale, and the rotation in the object's rotation
    mode."""
    wanted = ("location", rotation_channel(obj), "scale")
    return [curve for curve in curves_of(obj) if curve.data_path in wanted]


def local_at(obj: bpy.types.Object, curves: list[Any], frame: float) -> dict[str, list[float]]:
    """Return the local transform that results from the keys at ``frame``."""
    rotation = rotation_channel(obj)
    channels = {key: list(getattr(obj, key)) for key in ("location", rotation, "scale")}
    for curve in curves:
        channels[curve.data_path][curve.array_index] = curve.evaluate(frame)
    local = components(obj, channels["location"], channels[rotation], channels["scale"])
    return dict(zip(("translate", "rotate", "scale"), local, strict=True))
