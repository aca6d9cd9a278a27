"""Local transforms as translate, rotate (Euler XYZ, degrees) and scale, whatever ops a prim has.

New prims get the three ops of XformCommonAPI. Another tool's stack is kept where it can express
what is asked; where it can't, it is replaced by one matrix. Nothing is dropped silently: what can't
be kept, shear or animation, is an error that says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pxr import Gf, Usd, UsdGeom

from callboard.errors import HostError
from callboard.host import Vector

#: Values that have only time samples are read at the first one.
TIME = Usd.TimeCode.EarliestTime()

_AXES = {"X": Gf.Vec3d.XAxis(), "Y": Gf.Vec3d.YAxis(), "Z": Gf.Vec3d.ZAxis()}
_COMMON = UsdGeom.XformCommonAPI


@dataclass(frozen=True)
class Components:
    translate: Gf.Vec3d
    rotate: Gf.Vec3d
    scale: Gf.Vec3d
    #: The matrix has shear, which the three can't express.
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
        return decompose(local_matrix(prim))
    translate, rotate, scale, _pivot, order = common.GetXformVectors(TIME)
    if order != _COMMON.RotationOrderXYZ:
        rotate = decompose(local_matrix(prim)).rotate
    return Components(Gf.Vec3d(translate), Gf.Vec3d(rotate), Gf.Vec3d(scale))


def write(
    prim: Usd.Prim, translate: Vector | None, rotate: Vector | None, scale: Vector | None
) -> None:
    """Sets the components that aren't None."""
    _refuse_animated(prim)
    common = _COMMON(prim)
    if not common:
        _write_foreign(prim, translate, rotate, scale)
        return
    order = common.GetXformVectors(TIME)[4]
    done = [
        translate is None or common.SetTranslate(Gf.Vec3d(*translate)),
        rotate is None or common.SetRotate(Gf.Vec3f(*_reordered(rotate, order)), order),
        scale is None or common.SetScale(Gf.Vec3f(*scale)),
    ]
    if not all(done):
        raise HostError(f"the transform of '{prim.GetName()}' could not be set")


def write_matrix(prim: Usd.Prim, matrix: Gf.Matrix4d) -> None:
    """Sets the whole local transform."""
    if Gf.IsClose(local_matrix(prim), matrix, 1e-9):
        return
    _refuse_animated(prim)
    wanted = decompose(matrix)
    common = _COMMON(prim)
    if common and not wanted.sheared:
        _translate, _rotate, _scale, pivot, order = common.GetXformVectors(TIME)
        if pivot == Gf.Vec3f(0) and order == _COMMON.RotationOrderXYZ:
            write(prim, wanted.translate, wanted.rotate, wanted.scale)
            return
    _replace_ops(prim, matrix)


def local_matrix(prim: Usd.Prim) -> Gf.Matrix4d:
    return UsdGeom.Xformable(prim).GetLocalTransformation(TIME)


def world_matrix(prim: Usd.Prim) -> Gf.Matrix4d:
    return UsdGeom.XformCache(TIME).GetLocalToWorldTransform(prim)


def decompose(matrix: Gf.Matrix4d) -> Components:
    rows = [Gf.Vec3d(*matrix.GetRow3(i)) for i in range(3)]
    lengths = [row.GetLength() for row in rows]
    scale = Gf.Vec3d(*lengths)
    if min(lengths) < 1e-12:
        # A flattened axis has no direction, so there is no rotation to find.
        return Components(matrix.ExtractTranslation(), Gf.Vec3d(0), scale)
    if matrix.GetDeterminant3() < 0:
        scale[0] = -scale[0]
    axes = [row / length for row, length in zip(rows, scale, strict=True)]
    sheared = any(abs(Gf.Dot(axes[i], axes[j])) > 1e-6 for i, j in ((0, 1), (1, 2), (0, 2)))
    turned = Gf.Matrix4d(1).SetRotateOnly(
        Gf.Matrix3d(*axes[0], *axes[1], *axes[2]).GetOrthonormalized(False)
    )
    rotate = _euler(turned.ExtractRotation(), "XYZ")
    return Components(matrix.ExtractTranslation(), rotate, scale, sheared)


def _write_foreign(
    prim: Usd.Prim, translate: Vector | None, rotate: Vector | None, scale: Vector | None
) -> None:
    matrix = local_matrix(prim)
    now = decompose(matrix)
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
    xformable.MakeMatrixXform().Set(matrix)
    if resets:
        xformable.SetResetXformStack(True)


def _refuse_animated(prim: Usd.Prim) -> None:
    if UsdGeom.Xformable(prim).TransformMightBeTimeVarying():
        raise HostError(
            f"the transform of '{prim.GetName()}' is animated; set it on a parent instead"
        )


def _rotation(degrees: Vector) -> Gf.Rotation:
    x, y, z = (Gf.Rotation(_AXES[axis], float(a)) for axis, a in zip("XYZ", degrees, strict=True))
    return x * y * z


def _euler(rotation: Gf.Rotation, order: str) -> Gf.Vec3d:
    last, middle, first = (_AXES[axis] for axis in reversed(order))
    angles = dict(zip(reversed(order), rotation.Decompose(last, middle, first), strict=True))
    return Gf.Vec3d(
        *(0.0 if math.isclose(angles[a], 0, abs_tol=1e-12) else angles[a] for a in "XYZ")
    )


def _reordered(degrees: Vector, order: UsdGeom.XformCommonAPI.RotationOrder) -> Gf.Vec3d:
    """The angles that, turned in ``order``, are the same rotation as ``degrees`` turned in XYZ."""
    if order == _COMMON.RotationOrderXYZ:
        return Gf.Vec3d(*degrees)
    return _euler(_rotation(degrees), order.name[-3:])
