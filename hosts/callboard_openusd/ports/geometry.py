"""The ``geometry`` port: facts about a mesh, and changes that don't need modeling tools. This host
reads a mesh at one time only, and changes it at that time. A mesh's faces must not change over
time. Its points may be animated, unless its shading is to change."""

from __future__ import annotations

from pxr import Gf, Sdf, Usd, UsdGeom, Vt

from callboard.errors import HostError
from callboard.host import (
    CheckPort,
    FacesLook,
    Json,
    MeshData,
    SubdivisionScheme,
    counted,
    faces_to_turn,
    normals_of,
)
from callboard_openusd.application.document import Document, telling
from callboard_openusd.parts import faces
from callboard_openusd.parts.instances import owned
from callboard_openusd.parts.shapes import kind_of
from callboard_openusd.parts.transforms import TIME, set_lasting
from callboard_openusd.ports.scene import doubt

_SCHEMES = {"none": "none", "catmull_clark": "catmullClark", "bilinear": "bilinear", "loop": "loop"}
_TEXTURE = (Sdf.ValueTypeNames.TexCoord2f, Sdf.ValueTypeNames.Float2)
_INTERPOLATION = {"face": "uniform", "point": "vertex", "corner": "faceVarying"}


class UsdGeometry:
    def __init__(self, document: Document, checks: CheckPort) -> None:
        self._document = document
        self._checks = checks

    def info(self, name: str) -> Json:
        prim = self._document.names.find(name)
        if not prim.IsA(UsdGeom.Gprim):
            kind = str(prim.GetTypeName()) or "prim without a type"
            raise HostError(f"'{prim.GetName()}' is a {kind}, which has no shape")
        mesh = UsdGeom.Mesh(prim)
        why = doubt(self._document.stage, prim)
        return {
            "path": str(prim.GetPath()),
            "type": kind_of(prim),
            "mesh": counted(self.mesh(name)) if mesh else None,
            # The renderer's result isn't known here.
            "result": None,
            "shading": _shading(mesh) if mesh else None,
            "subdivision": _subdivision(mesh),
            "uv_sets": _uv_sets(prim),
            "modifiers": [],
            **({"doubt": why} if why else {}),
        }

    def mesh(self, name: str) -> MeshData:
        return self._checks.mesh(str(self._mesh(name).GetPath()))

    @telling("subdivide that")
    def subdivide(self, name: str, scheme: SubdivisionScheme, levels: int) -> None:
        mesh = UsdGeom.Mesh(owned(self._mesh(name).GetPrim()))
        counts = mesh.GetFaceVertexCountsAttr().Get(TIME) or ()
        if scheme == "loop" and any(count != 3 for count in counts):
            raise HostError("loop subdivides triangles only; triangulate the mesh first")
        mesh.CreateSubdivisionSchemeAttr().Set(_SCHEMES[scheme])

    @telling("turn those faces")
    def orient(self, name: str, side: FacesLook) -> None:
        prim = self._still(name, "turned")
        mesh = self.mesh(name)
        turn = faces_to_turn(mesh, side)
        faces.turn(UsdGeom.Mesh(prim), turn)
        if not all(turn) and any(turn) and _shading(UsdGeom.Mesh(prim)) == "smooth":
            # The normals of points were computed from faces with opposite orientations.
            self._write_normals(prim, smooth=True, angle=None)

    @telling("triangulate that")
    def triangulate(self, name: str) -> None:
        faces.triangulate(UsdGeom.Mesh(self._still(name, "triangulated")))

    @telling("shade that")
    def shade(self, name: str, smooth: bool, angle: float | None) -> None:
        prim = owned(self._mesh(name).GetPrim())
        mesh = UsdGeom.Mesh(prim)
        if mesh.GetSubdivisionSchemeAttr().Get() != "none":
            raise HostError(
                f"'{prim.GetName()}' is subdivided, which sets its normals; remove the"
                " subdivision first, with geometry__subdivide and scheme none"
            )
        self._still(name, "shaded")
        if mesh.GetPointsAttr().ValueMightBeTimeVarying():
            raise HostError(
                f"the points of '{prim.GetName()}' are animated, so normals that aren't animated"
                " would be wrong"
            )
        self._write_normals(prim, smooth, angle)

    def _write_normals(self, prim: Usd.Prim, smooth: bool, angle: float | None) -> None:
        mesh = UsdGeom.Mesh(prim)
        if mesh.GetSubdivisionSchemeAttr().Get() != "none":
            return
        normals, each = normals_of(self.mesh(str(prim.GetPath())), smooth, angle)
        if each == "corner":
            normals = [normals[at] for at in faces.as_listed(mesh)]
        other = UsdGeom.PrimvarsAPI(prim).GetPrimvar("normals")
        if other and other.HasAuthoredValue():
            # This attribute would override the new normals.
            other.GetAttr().Block()
        values = Vt.Vec3fArray([Gf.Vec3f(*normal) for normal in normals])
        set_lasting(mesh.CreateNormalsAttr(), values)
        mesh.SetNormalsInterpolation(_INTERPOLATION[each])

    def _mesh(self, name: str) -> UsdGeom.Mesh:
        prim = self._document.names.find(name)
        mesh = UsdGeom.Mesh(prim)
        if not mesh:
            kind = str(prim.GetTypeName()) or "prim without a type"
            raise HostError(f"'{prim.GetName()}' is a {kind}, not a mesh, so it has no faces")
        return mesh

    def _still(self, name: str, done: str) -> Usd.Prim:
        """Return the prim for writing. Raises HostError when its faces change over time."""
        prim = owned(self._mesh(name).GetPrim())
        mesh = UsdGeom.Mesh(prim)
        for attribute in (mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr()):
            if attribute.ValueMightBeTimeVarying():
                raise HostError(
                    f"the faces of '{prim.GetName()}' change over time, so it wasn't {done}"
                )
        return prim


def _shading(mesh: UsdGeom.Mesh) -> str | None:
    if mesh.GetSubdivisionSchemeAttr().Get() != "none":
        return "smooth"
    primvar = UsdGeom.PrimvarsAPI(mesh).GetPrimvar("normals")
    if primvar and primvar.HasAuthoredValue():
        interpolation = str(primvar.GetInterpolation())
    elif mesh.GetNormalsAttr().HasAuthoredValue():
        interpolation = str(mesh.GetNormalsInterpolation())
    else:
        return "flat"
    words = {"uniform": "flat", "constant": "flat", "faceVarying": "mixed"}
    return words.get(interpolation, "smooth")


def _subdivision(mesh: UsdGeom.Mesh) -> Json:
    word = mesh.GetSubdivisionSchemeAttr().Get() if mesh else "none"
    scheme = next((key for key, each in _SCHEMES.items() if each == word), str(word))
    return {"scheme": scheme, "levels": 0 if scheme == "none" else None}


def _uv_sets(prim: Usd.Prim) -> list[str]:
    primvars = UsdGeom.PrimvarsAPI(prim).GetPrimvarsWithValues()
    names = [
        str(each.GetPrimvarName()) for each in primvars if each.GetTypeName().scalarType in _TEXTURE
    ]
    return sorted(names, key=lambda name: name != "st")
