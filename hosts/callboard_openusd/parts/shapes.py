"""Makes the primitives, centered on the origin, with their axis along the stage's up axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pxr import Gf, Sdf, Usd, UsdGeom, Vt

from callboard.host import PrimitiveKind, torus

#: The key in a prim's customData that holds a primitive's kind. Some primitives have no OpenUSD
#: schema that most programs read, so they are meshes.
KIND_KEY = "callboard:kind"

_SCHEMAS = {"Sphere": "sphere", "Cube": "cube", "Cylinder": "cylinder", "Cone": "cone"}


def kind_of(prim: Usd.Prim) -> str:
    """Return a primitive's kind, or else the schema's name in lower case."""
    name = str(prim.GetTypeName())
    if name == "Mesh":
        remembered = prim.GetCustomDataByKey(KIND_KEY)
        if remembered in ("plane", "torus"):
            return str(remembered)
    return _SCHEMAS.get(name, name.lower() or "prim")


def define(
    stage: Usd.Stage, path: Sdf.Path, kind: PrimitiveKind, dimensions: Mapping[str, float]
) -> Usd.Prim:
    up = UsdGeom.GetStageUpAxis(stage)
    if kind in ("plane", "torus"):
        shape = UsdGeom.Mesh.Define(stage, path)
        shape.GetPrim().SetCustomDataByKey(KIND_KEY, kind)
        if kind == "plane":
            _plane(shape, up, dimensions)
        else:
            _fill(shape, up, *torus(dimensions["major_radius"], dimensions["minor_radius"]))
    elif kind == "sphere":
        shape = UsdGeom.Sphere.Define(stage, path)
        shape.CreateRadiusAttr(dimensions["radius"])
    elif kind == "cube":
        shape = UsdGeom.Cube.Define(stage, path)
        shape.CreateSizeAttr(dimensions["size"])
    else:
        schema = UsdGeom.Cylinder if kind == "cylinder" else UsdGeom.Cone
        shape = schema.Define(stage, path)
        shape.CreateRadiusAttr(dimensions["radius"])
        shape.CreateHeightAttr(dimensions["height"])
        shape.CreateAxisAttr(up)
    shape.CreateExtentAttr(
        UsdGeom.Boundable.ComputeExtentFromPlugins(shape, Usd.TimeCode.Default())
    )
    return shape.GetPrim()


def _plane(mesh: UsdGeom.Mesh, up: str, dimensions: Mapping[str, float]) -> None:
    x, y = dimensions["width"] / 2, dimensions["depth"] / 2
    corners = [(-x, -y, 0.0), (x, -y, 0.0), (x, y, 0.0), (-x, y, 0.0)]
    _fill(mesh, up, corners, [(0.0, 0.0, 1.0)] * 4, [(0, 1, 2, 3)])
    # Without UVs the mesh couldn't have a texture, and nothing else in this host makes UVs.
    uvs = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar(
        "st", Sdf.ValueTypeNames.TexCoord2fArray, UsdGeom.Tokens.vertex
    )
    uvs.Set(Vt.Vec2fArray([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]))


def _fill(
    mesh: UsdGeom.Mesh,
    up: str,
    points: list[tuple[float, float, float]],
    normals: list[tuple[float, float, float]],
    faces: Sequence[Sequence[int]],
) -> None:
    """Fill the mesh. Points and normals are given with Z up."""
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    mesh.CreatePointsAttr(Vt.Vec3fArray([_upright(p, up) for p in points]))
    mesh.CreateNormalsAttr(Vt.Vec3fArray([_upright(n, up) for n in normals]))
    mesh.SetNormalsInterpolation(UsdGeom.Tokens.vertex)
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray([len(face) for face in faces]))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray([index for face in faces for index in face]))


def _upright(point: tuple[float, float, float], up: str) -> Gf.Vec3f:
    x, y, z = point
    return Gf.Vec3f(x, y, z) if up == UsdGeom.Tokens.z else Gf.Vec3f(x, z, -y)
