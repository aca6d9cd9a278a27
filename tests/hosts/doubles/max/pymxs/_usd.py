"""The USD component, on OpenUSD itself."""

from __future__ import annotations

from pxr import Gf, Sdf, Tf, Usd, UsdGeom, Vt

from . import _objects as objects
from . import _scene as sc
from ._polygons import Polygons, cut, primitive
from ._session import session
from ._values import Name, Strict, single

_METERS = {"inches": 0.0254, "centimeters": 0.01, "meters": 1.0}


def _meters() -> float:
    return _METERS[session.units[0]] * session.units[1]


class _ExportOptions(Strict):
    _settable = ("FileFormat",)
    FileFormat = Name("binary")


class _ImportOptions(Strict):
    pass


class USDImporter:
    @staticmethod
    def CreateOptions():
        return _ImportOptions()

    @staticmethod
    def ImportFile(path, importOptions=None):
        session.guard("rt.USDImporter.ImportFile")
        try:
            stage = Usd.Stage.Open(path)
        except Tf.ErrorException:
            return False
        session.record()
        conversion = _conversion(stage)
        for prim in stage.GetPseudoRoot().GetChildren():
            _read(prim, None, conversion)
        return True


class USDExporter:
    @staticmethod
    def CreateOptions():
        return _ExportOptions()

    @staticmethod
    def ExportFile(path, exportOptions=None, contentSource=None):
        session.guard("rt.USDExporter.ExportFile")
        if contentSource.text not in ("all", "selected"):
            raise RuntimeError("-- Runtime error: unknown content source")
        if (exportOptions.FileFormat.text == "binary") != path.endswith(".usdc"):
            raise RuntimeError("-- Runtime error: the format does not fit the file's name")
        chosen = set(session.scene.selection) if contentSource.text == "selected" else None
        stage = Usd.Stage.Open(Sdf.Layer.CreateNew(path))
        UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
        UsdGeom.SetStageMetersPerUnit(stage, _meters())
        for node in session.scene.nodes.values():
            if node.parent is None:
                _write(stage, node, "", chosen)
        stage.Save()
        return True


def _write(stage, node, above, chosen):
    scene = session.scene
    if chosen is not None and node.id not in chosen:
        if not any(each.id in chosen for each in _below(node)):
            return
        drawn = False
    else:
        drawn = sc.OBJECTS[node.type][0] == "GeometryClass"
    path = f"{above}/{Tf.MakeValidIdentifier(node.name)}"
    made = (UsdGeom.Mesh if drawn else UsdGeom.Xform).Define(stage, path)
    if not above and not stage.HasDefaultPrim():
        stage.SetDefaultPrim(made.GetPrim())
    rows = scene.local(node, objects.now())
    made.MakeMatrixXform().Set(Gf.Matrix4d(*[v for r in rows for v in (*r, float(r is rows[3]))]))
    if drawn:
        shape = node.polygons()
        points = [[a + b for a, b in zip(at, node.offset, strict=True)] for at in shape.points]
        made.CreatePointsAttr(Vt.Vec3fArray([Gf.Vec3f(*point) for point in points]))
        made.CreateFaceVertexCountsAttr([len(face) for face in shape.faces])
        made.CreateFaceVertexIndicesAttr([at for face in shape.faces for at in face])
        material = scene.materials.get(node.material or -1)
        if material is not None:
            color = [value / 255 for value in material.values["base_color"]]
            made.CreateDisplayColorAttr(Vt.Vec3fArray([Gf.Vec3f(*color)]))
    for child in scene.children(node.id):
        _write(stage, child, path, chosen)


def _below(node):
    for child in session.scene.children(node.id):
        yield child
        yield from _below(child)


def _conversion(stage):
    """Return the conversion from the file's units and axes to the scene's."""
    factor = UsdGeom.GetStageMetersPerUnit(stage) / _meters()
    matrix = [[factor * value for value in row] for row in sc.IDENTITY]
    if UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.y:
        matrix = sc.times(matrix, sc._turn(0, 90))
    return matrix


def _read(prim, above, frame):
    node = None
    if prim.IsA(UsdGeom.Xformable):
        shape = _polygons(prim)
        id = session.scene.next_id()
        type = "Dummy"
        if shape is not None:
            type = "Editable_Poly" if shape.fits_a_poly() else "Editable_mesh"
            shape = shape if type == "Editable_Poly" else cut(shape)
        node = sc.NodeData(id, prim.GetName(), type, {}, above, poly=shape)
        matrix = UsdGeom.Xformable(prim).GetLocalTransformation()
        local = sc.times([list(matrix.GetRow3(i)) for i in range(4)], frame)
        node.local = [[single(value) for value in row] for row in local]
        session.scene.nodes[id] = node
        colors = UsdGeom.Gprim(prim).GetDisplayColorAttr().Get() if shape else None
        if colors:
            node.material = session.scene.next_id()
            color = tuple(single(value * 255) for value in colors[0])
            of = {"base_color": color, "base_color_map": None}
            material = sc.Material(node.material, "PhysicalMaterial", "usd", of)
            session.scene.materials[node.material] = material
    for child in prim.GetChildren():
        _read(child, node.id if node else above, sc.IDENTITY if node else frame)


def _polygons(prim):
    if prim.IsA(UsdGeom.Cube):
        half = UsdGeom.Cube(prim).GetSizeAttr().Get()
        made = primitive("Box", {"width": half, "length": half, "height": half})
        made.points = [[x, y, z - half / 2] for x, y, z in made.points]
        return made
    if prim.IsA(UsdGeom.Sphere):
        return primitive("Sphere", {"radius": UsdGeom.Sphere(prim).GetRadiusAttr().Get()})
    if not prim.IsA(UsdGeom.Mesh):
        return None
    mesh = UsdGeom.Mesh(prim)
    corners = list(mesh.GetFaceVertexIndicesAttr().Get() or ())
    made = Polygons([list(point) for point in mesh.GetPointsAttr().Get() or ()])
    at, starts = 0, []
    for count in mesh.GetFaceVertexCountsAttr().Get() or ():
        made.faces.append(corners[at : at + count])
        starts.append(at)
        at += count
    uvs = UsdGeom.PrimvarsAPI(prim).GetPrimvar("st")
    if uvs.HasValue():
        if uvs.GetInterpolation() != UsdGeom.Tokens.faceVarying:
            raise NotImplementedError("the double doesn't model UVs that aren't faceVarying")
        made.map_points = [[*uv, 0.0] for uv in uvs.Get()]
        made.map_faces = [
            list(range(start, start + len(face)))
            for start, face in zip(starts, made.faces, strict=True)
        ]
    made.groups, made.ids = [1] * len(made.faces), [1] * len(made.faces)
    return made if made.points else None
