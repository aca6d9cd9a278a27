"""The commands of Autodesk's USD plug-in, on OpenUSD itself."""

from __future__ import annotations

import json

from pxr import Gf, Sdf, Tf, Usd, UsdGeom, Vt

from . import _matrices as mx
from . import _meshes as shapes
from ._dag_commands import one
from ._registry import command
from ._scene import TRANSFORM_TYPES, Node
from ._session import session

_METERS = {"mm": 0.001, "cm": 0.01, "m": 1.0}


@command()
def mayaUSDExport(file=None, selection=False, defaultUSDFormat="usdc"):
    scene = session.scene
    chosen = {id for id, _ in scene.selection} if selection else None
    arguments = {"format": defaultUSDFormat} if file.endswith(".usd") else {}
    try:
        stage = Usd.Stage.Open(Sdf.Layer.CreateNew(file, arguments))
    except Tf.ErrorException:
        raise RuntimeError(f"could not write {file}") from None
    UsdGeom.SetStageUpAxis(stage, session.up_axis.upper())
    UsdGeom.SetStageMetersPerUnit(stage, _METERS[session.units["linear"]])
    for top in scene.children(None):
        shape = scene.shape(top)
        if shape is None or not shape.attributes.get("startupCamera"):
            _export(stage, top, "", chosen)
    stage.Save()
    return [file]


def _export(stage, node: Node, above: str, chosen: set[int] | None) -> None:
    scene = session.scene
    if chosen is not None:
        if not any(each.id in chosen for each in (node, *scene.below(node.id))):
            return
        if node.id in chosen:
            chosen = None
    path = f"{above}/{node.name.replace(':', '_')}"
    shape = scene.shape(node)
    made = (UsdGeom.Mesh if shape and shape.mesh else UsdGeom.Xform).Define(stage, path)
    if not above and not stage.HasDefaultPrim():
        stage.SetDefaultPrim(made.GetPrim())
    made.MakeMatrixXform().Set(Gf.Matrix4d(*[v for row in scene.local(node) for v in row]))
    if shape and shape.mesh:
        mesh = shape.mesh
        made.CreatePointsAttr(Vt.Vec3fArray([Gf.Vec3f(*point) for point in mesh.points]))
        made.CreateFaceVertexCountsAttr([len(face) for face in mesh.faces])
        made.CreateFaceVertexIndicesAttr([i for face in mesh.faces for i in face])
        color = _color(shape)
        if color is not None:
            made.CreateDisplayColorAttr(Vt.Vec3fArray([Gf.Vec3f(*color)]))
    for each in (node, shape):
        named = each.attributes.get("USD_UserExportedAttributesJson") if each else None
        for name in json.loads(named or "{}"):
            attribute = made.GetPrim().CreateAttribute(
                f"userProperties:{name}", Sdf.ValueTypeNames.String
            )
            attribute.Set(str(each.attributes[name]))
    for child in scene.children(node.id):
        if child.type in TRANSFORM_TYPES:
            _export(stage, child, path, chosen)


def _color(shape: Node) -> list[float] | None:
    scene = session.scene
    for source, _, target, into in scene.connections:
        if source == shape.id and into == "dagSetMembers":
            for material, _, group, there in scene.connections:
                if group == target and there == "surfaceShader":
                    return scene.nodes[material].attributes.get("baseColor")
    return None


@command(undoable=True)
def mayaUSDImport(file=None, parent=None, primPath=None, readAnimData=False):
    scene = session.scene
    try:
        stage = Usd.Stage.Open(file)
    except Tf.ErrorException:
        raise RuntimeError(f"could not read {file}") from None
    if primPath != "/":
        raise NotImplementedError("the double doesn't model import of a part")
    above = one(parent).id if parent else None
    tops = []
    for prim in stage.GetPseudoRoot().GetChildren():
        made = _import(prim, above)
        if made is not None:
            scene.set_local(made, mx.times(scene.local(made), _conversion(stage)))
            tops.append(scene.path(made))
    return tops


def _conversion(stage) -> mx.Matrix:
    """Return the conversion from the file's units and axes to the scene's."""
    matrix = mx.identity()
    factor = UsdGeom.GetStageMetersPerUnit(stage) / _METERS[session.units["linear"]]
    for axis in range(3):
        matrix[axis][axis] = factor
    theirs = UsdGeom.GetStageUpAxis(stage).lower()
    if theirs != session.up_axis:
        matrix = mx.times(matrix, mx.turn(0, -90 if theirs == "z" else 90))
    return matrix


def _import(prim, above: int | None) -> Node | None:
    scene = session.scene
    if not prim.IsA(UsdGeom.Xformable):
        return None
    node = scene.add("transform", prim.GetName(), above, dag=True)
    matrix = UsdGeom.Xformable(prim).GetLocalTransformation()
    scene.set_local(node, [list(row) for row in matrix])
    mesh = _mesh(prim)
    if mesh is not None:
        shape = scene.add("mesh", f"{node.name}Shape", node.id, dag=True)
        shape.mesh = mesh
        group = scene.one("initialShadingGroup")
        colors = UsdGeom.Gprim(prim).GetDisplayColorAttr().Get()
        if colors:
            material = scene.add("standardSurface", f"{node.name}_color")
            material.attributes["baseColor"] = list(colors[0])
            group = scene.add("shadingEngine", f"{material.name}SG")
            scene.connections.append((material.id, "outColor", group.id, "surfaceShader"))
        scene.connections.append((shape.id, "instObjGroups", group.id, "dagSetMembers"))
    for child in prim.GetChildren():
        _import(child, node.id)
    return node


def _mesh(prim) -> shapes.Mesh | None:
    if prim.IsA(UsdGeom.Cube):
        size = UsdGeom.Cube(prim).GetSizeAttr().Get()
        return shapes.box(size, size, size)
    if prim.IsA(UsdGeom.Sphere):
        return shapes.sphere(UsdGeom.Sphere(prim).GetRadiusAttr().Get())
    if not prim.IsA(UsdGeom.Mesh):
        return None
    mesh = UsdGeom.Mesh(prim)
    corners = iter(mesh.GetFaceVertexIndicesAttr().Get())
    faces = [[next(corners) for _ in range(n)] for n in mesh.GetFaceVertexCountsAttr().Get()]
    return shapes.Mesh([list(point) for point in mesh.GetPointsAttr().Get()], faces)
