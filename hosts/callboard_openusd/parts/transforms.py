"""Reads and sets local transforms as translate, rotate (Euler XYZ, degrees) and scale, whichever
ops a prim has.

New prims get the three ops of XformCommonAPI. Another tool's stack is kept if it can express the
values. Otherwise, one matrix replaces it. Nothing is dropped silently, because shear or animation
that can't be kept raises an error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from pxr import Gf, Usd, UsdGeom

from callboard.errors import HostError
from callboard.host import Vector

#: Values that have only time samples are read at the first sample.
TIME = Usd.TimeCode.EarliestTime()

_AXES = {"X": Gf.Vec3d.XAxis(), "Y": Gf.Vec3d.YAxis(), "Z": Gf.Vec3d.ZAxis()}
_COMMON = UsdGeom.XformCommonAPI
#: An axis scaled to less than this has no direction.
_FLAT = 1e-12


@dataclass(frozen=True)
class Components:
    translate: Gf.Vec3d
    rotate: Gf.Vec3d
    scale: Gf.Vec3d
    #: True when the matrix has shear, which the three components can't express.
    sheared: bool = False

    def matrix(self) -> Gf.Matrix4d:
        return (
            Gf.Matrix4d().SetScale(self.scale)
            * Gf.Matrix4d().SetRotate(_rotation(self.rotate))
            * Gf.Matrix4d().SetTranslate(self.translate)
        )


def read(prim: Usd.Prim) -> Components:
    common = _COMMON(prim)
    if not common:
        return decompose(local_matrix(prim), _signs(prim))
    order = common.GetXformVectors(TIME)[4]
    ops = _ops(prim)
    turned = _op_value(ops, f"rotate{order.name[-3:]}", 0.0)
    rotate = (
        turned
        if order == _COMMON.RotationOrderXYZ
        else _euler(_rotation(turned, order.name[-3:]), "XYZ")
    )
    return Components(_op_value(ops, "translate", 0.0), rotate, _op_value(ops, "scale", 1.0))


def _ops(prim: Usd.Prim) -> dict[str, UsdGeom.XformOp]:
    return {op.GetOpName(): op for op in UsdGeom.Xformable(prim).GetOrderedXformOps()}


def _op_value(ops: Mapping[str, UsdGeom.XformOp], name: str, otherwise: float) -> Gf.Vec3d:
    """Return the value of one of the common ops, whatever its precision is. XformCommonAPI reads
    only the precision that it writes itself."""
    op = ops.get(f"xformOp:{name}")
    value = None if op is None else op.Get(TIME)
    return Gf.Vec3d(otherwise) if value is None else Gf.Vec3d(value)


def write(
    prim: Usd.Prim, translate: Vector | None, rotate: Vector | None, scale: Vector | None
) -> None:
    """Set the components that aren't None."""
    _refuse_animated(prim)
    common = _COMMON(prim)
    if not common:
        _write_foreign(prim, translate, rotate, scale)
        return
    order = common.GetXformVectors(TIME)[4]
    turned = None if rotate is None else _reordered(rotate, order)
    wanted = [
        (_COMMON.OpTranslate, "translate", translate),
        (_COMMON.OpRotate, f"rotate{order.name[-3:]}", turned),
        (_COMMON.OpScale, "scale", scale),
    ]
    for op, name, value in wanted:
        if value is None:
            continue
        if not common.CreateXformOps(order, op):
            raise HostError(f"the transform of '{prim.GetName()}' could not be set")
        attribute = prim.GetAttribute(f"xformOp:{name}")
        # Each op keeps its own precision.
        kind = attribute.GetTypeName().type.pythonClass
        attribute.Set(kind(*value), _when(prim, attribute.GetName()))


def write_matrix(prim: Usd.Prim, matrix: Gf.Matrix4d) -> None:
    """Set the whole local transform."""
    if Gf.IsClose(local_matrix(prim), matrix, 1e-9):
        return
    _refuse_animated(prim)
    wanted = decompose(matrix, _signs(prim))
    common = _COMMON(prim)
    if common and not wanted.sheared:
        order = common.GetXformVectors(TIME)[4]
        if (
            _op_value(_ops(prim), "translate:pivot", 0.0) == Gf.Vec3d(0)
            and order == _COMMON.RotationOrderXYZ
        ):
            write(prim, wanted.translate, wanted.rotate, wanted.scale)
            return
    _replace_ops(prim, matrix)


def set_lasting(attribute: Usd.Attribute, value: object) -> None:
    """Set the value for all times. If there is a single time sample, change the sample, because it
    overrides the default."""
    samples = attribute.GetTimeSamples()
    if len(samples) > 1:
        raise HostError(f"'{attribute.GetPath()}' is animated, so it was left as it is")
    attribute.Set(value, samples[0] if samples else Usd.TimeCode.Default())


def local_matrix(prim: Usd.Prim) -> Gf.Matrix4d:
    return UsdGeom.Xformable(prim).GetLocalTransformation(TIME)


def world_matrix(prim: Usd.Prim) -> Gf.Matrix4d:
    return UsdGeom.XformCache(TIME).GetLocalToWorldTransform(prim)


def resets_stack(prim: Usd.Prim) -> bool:
    """Return whether the prim ignores the transforms above it."""
    return bool(UsdGeom.Xformable(prim).GetResetXformStack())


def decompose(matrix: Gf.Matrix4d, signs: Vector = (1, 1, 1)) -> Components:
    """Return the components of a matrix. A matrix doesn't show which axes are mirrored, only
    whether their number is odd. ``signs`` are used if they are consistent with the matrix."""
    rows = [Gf.Vec3d(*matrix.GetRow3(i)) for i in range(3)]
    scale = Gf.Vec3d(*(row.GetLength() for row in rows))
    mirrored = matrix.GetDeterminant3() < 0
    if (math.prod(signs) < 0) != mirrored:
        signs = (-1, 1, 1) if mirrored else (1, 1, 1)
    for i in range(3):
        scale[i] *= signs[i]
    known = [
        row / size if abs(size) > _FLAT else None for row, size in zip(rows, scale, strict=True)
    ]
    pairs = ((known[i], known[j]) for i, j in ((0, 1), (1, 2), (0, 2)))
    sheared = any(a is not None and b is not None and abs(Gf.Dot(a, b)) > 1e-6 for a, b in pairs)
    turned = Gf.Matrix4d(1).SetRotateOnly(_frame(known))
    rotate = _euler(turned.ExtractRotation(), "XYZ")
    return Components(matrix.ExtractTranslation(), rotate, scale, sheared)


def _frame(axes: list[Gf.Vec3d | None]) -> Gf.Matrix3d:
    """Return the rotation of the axes. An axis scaled to zero has no direction, so its direction is
    derived from the others."""
    known = [i for i in range(3) if axes[i] is not None]
    if len(known) == 2:
        i = 3 - sum(known)
        across = Gf.Cross(axes[i - 2], axes[i - 1])
        if across.GetLength() > _FLAT:
            axes[i] = across.GetNormalized()
            known = [0, 1, 2]
    if len(known) == 3:
        rows = [value for axis in axes if axis is not None for value in axis]
        return Gf.Matrix3d(*rows).GetOrthonormalized(False)
    if not known:
        return Gf.Matrix3d(1)
    return Gf.Matrix3d(Gf.Rotation(list(_AXES.values())[known[0]], axes[known[0]]))


def _signs(prim: Usd.Prim) -> Vector:
    """Return -1 for each axis that the prim's own scale ops mirror, and 1 for the others."""
    signs = [1.0, 1.0, 1.0]
    for op in UsdGeom.Xformable(prim).GetOrderedXformOps():
        if op.GetOpType() == UsdGeom.XformOp.TypeScale and (value := op.Get(TIME)):
            signs = [-s if v < 0 else s for s, v in zip(signs, value, strict=True)]
    return signs


def _write_foreign(
    prim: Usd.Prim, translate: Vector | None, rotate: Vector | None, scale: Vector | None
) -> None:
    matrix = local_matrix(prim)
    now = decompose(matrix, _signs(prim))
    if rotate is not None or scale is not None:
        if now.sheared and (rotate is None or scale is None):
            raise HostError(
                f"'{prim.GetName()}' has a sheared transform; give rotate and scale together to"
                " replace it"
            )
        matrix = Components(
            now.translate,
            now.rotate if rotate is None else Gf.Vec3d(*rotate),
            now.scale if scale is None else Gf.Vec3d(*scale),
        ).matrix()
    if translate is not None:
        matrix.SetTranslateOnly(Gf.Vec3d(*translate))
    _replace_ops(prim, matrix)


def _replace_ops(prim: Usd.Prim, matrix: Gf.Matrix4d) -> None:
    xformable = UsdGeom.Xformable(prim)
    resets = xformable.GetResetXformStack()
    xformable.MakeMatrixXform().Set(matrix, _when(prim, "xformOp:transform"))
    if resets:
        xformable.SetResetXformStack(True)


def _refuse_animated(prim: Usd.Prim) -> None:
    if UsdGeom.Xformable(prim).TransformMightBeTimeVarying():
        raise _animated(prim)


def _animated(prim: Usd.Prim) -> HostError:
    return HostError(f"the transform of '{prim.GetName()}' is animated; set it on a parent instead")


def _when(prim: Usd.Prim, attribute: str) -> Usd.TimeCode:
    """Return the time at which to write a value. If there is a single sample, this is its
    time, because the sample overrides the default at every time."""
    samples = prim.GetAttribute(attribute).GetTimeSamples() if prim.HasAttribute(attribute) else []
    if len(samples) > 1:
        raise _animated(prim)
    return Usd.TimeCode(samples[0]) if samples else Usd.TimeCode.Default()


def _rotation(degrees: Vector, order: str = "XYZ") -> Gf.Rotation:
    angles = dict(zip("XYZ", degrees, strict=True))
    first, second, third = (Gf.Rotation(_AXES[axis], float(angles[axis])) for axis in order)
    return first * second * third


def _euler(rotation: Gf.Rotation, order: str) -> Gf.Vec3d:
    last, middle, first = (_AXES[axis] for axis in reversed(order))
    angles = dict(zip(reversed(order), rotation.Decompose(last, middle, first), strict=True))
    return Gf.Vec3d(
        *(0.0 if math.isclose(angles[a], 0, abs_tol=1e-12) else angles[a] for a in "XYZ")
    )


def _reordered(degrees: Vector, order: UsdGeom.XformCommonAPI.RotationOrder) -> Gf.Vec3d:
    """Return the angles that, applied in ``order``, are the same rotation as ``degrees`` applied in
    XYZ order."""
    if order == _COMMON.RotationOrderXYZ:
        return Gf.Vec3d(*degrees)
    return _euler(_rotation(degrees), order.name[-3:])
