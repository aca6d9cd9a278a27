"""Reorders or triangulates the faces of a mesh, together with the per-face and per-corner data."""

from __future__ import annotations

from collections.abc import Sequence

from pxr import Usd, UsdGeom, Vt

from callboard.errors import HostError
from callboard.host import faces_of, triangles_of
from callboard_openusd.parts.transforms import TIME, set_lasting

#: Maximum number of corners of a face that is cut into triangles. Cutting a face with this many
#: takes a few seconds at worst.
_MOST_CORNERS = 1000
BY_FACE, BY_CORNER = "uniform", "faceVarying"


def turn(mesh: UsdGeom.Mesh, which: Sequence[bool]) -> None:
    """Flip the faces whose entry in ``which`` is true, and the normals that belong to these faces
    alone. Raises HostError for data that can't be reordered."""
    order: list[int] = []
    turned: list[int] = []
    corners = _corners(mesh)
    for number, (face, other) in enumerate(zip(corners, which, strict=True)):
        order += reversed(face) if other else face
        turned += [number] if other else []
    _reorder(mesh, order)
    held = set(turned)
    by_corner = [number in held for number, face in enumerate(corners) for _ in face]
    for attribute, interpolation in _normals(mesh):
        many = attribute.Get(TIME)
        if interpolation in (BY_FACE, BY_CORNER):
            looks = which if interpolation == BY_FACE else by_corner
        else:
            looks = [all(which)] * len(many)
        turned_around = (-each if other else each for each, other in zip(many, looks, strict=True))
        set_lasting(attribute, type(many)(list(turned_around)))


def triangulate(mesh: UsdGeom.Mesh) -> None:
    """Cut the faces into triangles. Raises HostError for data that can't be reordered."""
    points = mesh.GetPointsAttr().Get(TIME)
    corners = mesh.GetFaceVertexIndicesAttr().Get(TIME)
    order: list[int] = []
    sources: list[int] = []
    most = max(mesh.GetFaceVertexCountsAttr().Get(TIME), default=0)
    if most > _MOST_CORNERS:
        raise HostError(
            f"'{mesh.GetPrim().GetName()}' has a face with {most} corners; only faces with up"
            f" to {_MOST_CORNERS} can be triangulated, so split it first"
        )
    for number, face in enumerate(_corners(mesh)):
        places = [tuple(points[corners[at]]) for at in face]
        for triangle in triangles_of(places):
            order += [face[at] for at in triangle]
            sources.append(number)
    subsets = _subsets(mesh)
    _reorder(mesh, order, sources)
    set_lasting(mesh.GetFaceVertexCountsAttr(), Vt.IntArray([3] * len(sources)))
    lists = [*subsets, mesh.GetHoleIndicesAttr()]
    for attribute in lists:
        held = set(attribute.Get(TIME) or ())
        if held:
            now = [number for number, source in enumerate(sources) if source in held]
            set_lasting(attribute, Vt.IntArray(now))


def as_listed(mesh: UsdGeom.Mesh) -> list[int]:
    """Return each corner's index in the file, in the order in which the host reports the corners:
    counterclockwise, whatever the file's orientation is."""
    turned = mesh.GetOrientationAttr().Get() == UsdGeom.Tokens.leftHanded
    return [at for face in _corners(mesh) for at in (reversed(face) if turned else face)]


def _corners(mesh: UsdGeom.Mesh) -> list[Sequence[int]]:
    counts = mesh.GetFaceVertexCountsAttr().Get(TIME)
    return list(faces_of(counts, range(sum(counts))))


def _reorder(
    mesh: UsdGeom.Mesh, order: Sequence[int], sources: Sequence[int] | None = None
) -> None:
    """Put the corners of the mesh, and the data of each corner, in this order. ``sources`` gives
    the old face of each new face. With it, per-face data is reordered too."""
    following = _with_corners(mesh)
    counts = mesh.GetFaceVertexCountsAttr().Get(TIME)
    for attribute, interpolation in following:
        many = len(attribute.Get(TIME))
        needed = sum(counts) if interpolation == BY_CORNER else len(counts)
        if many != needed:
            raise HostError(
                f"'{attribute.GetName()}' of '{mesh.GetPrim().GetName()}' has {many} values"
                f" instead of {needed}, so it can't be reordered; set it again first"
            )
    corners = mesh.GetFaceVertexIndicesAttr()
    values = corners.Get(TIME)
    set_lasting(corners, Vt.IntArray([values[at] for at in order]))
    for attribute, interpolation in following:
        many = attribute.Get(TIME)
        if interpolation == BY_CORNER:
            set_lasting(attribute, type(many)([many[at] for at in order]))
        elif sources is not None:
            set_lasting(attribute, type(many)([many[at] for at in sources]))


def _normals(mesh: UsdGeom.Mesh) -> list[tuple[Usd.Attribute, str]]:
    primvar = UsdGeom.PrimvarsAPI(mesh).GetPrimvar("normals")
    if primvar and primvar.HasAuthoredValue():
        if primvar.IsIndexed():
            raise HostError(
                f"'{mesh.GetPrim().GetName()}' has indexed normals, which can't be flipped with"
                " the faces; shade the mesh again with geometry__shade"
            )
        return [(primvar.GetAttr(), str(primvar.GetInterpolation()))]
    attribute = mesh.GetNormalsAttr()
    reported = [(attribute, str(mesh.GetNormalsInterpolation()))]
    return reported if attribute.HasAuthoredValue() else []


def _with_corners(mesh: UsdGeom.Mesh) -> list[tuple[Usd.Attribute, str]]:
    """Return the attributes with a value for each corner or face. For an indexed attribute, return
    its indices."""
    reported: list[tuple[Usd.Attribute, str]] = []
    for primvar in UsdGeom.PrimvarsAPI(mesh).GetPrimvarsWithValues():
        if primvar.GetInterpolation() in (BY_CORNER, BY_FACE):
            if primvar.GetElementSize() != 1:
                raise HostError(
                    f"'{primvar.GetPrimvarName()}' has several values for each corner or face, so"
                    " it can't be reordered; remove it first"
                )
            indices = primvar.GetIndicesAttr() if primvar.IsIndexed() else primvar.GetAttr()
            reported.append((indices, str(primvar.GetInterpolation())))
    normals = mesh.GetNormalsAttr()
    if normals.HasAuthoredValue() and mesh.GetNormalsInterpolation() in (BY_CORNER, BY_FACE):
        reported.append((normals, str(mesh.GetNormalsInterpolation())))
    return [each for each in reported if each[0].Get(TIME) is not None]


def _subsets(mesh: UsdGeom.Mesh) -> list[Usd.Attribute]:
    """Return the lists of faces in the mesh's subsets."""
    held = []
    for subset in UsdGeom.Subset.GetAllGeomSubsets(mesh):
        if subset.GetElementTypeAttr().Get() not in ("face", None):
            name = subset.GetPrim().GetName()
            raise HostError(f"the subset '{name}' isn't made of faces; remove it first")
        held.append(subset.GetIndicesAttr())
    return held
