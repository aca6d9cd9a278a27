"""Imports USD prims as objects."""

from __future__ import annotations

import re
from typing import Any

import hou
from pxr import Gf, Usd, UsdGeom, UsdShade

from callboard_houdini.application.names import root
from callboard_houdini.parts.object_color import set_color
from callboard_houdini.parts.parms import parm, parm_tuple, set_known, set_numbers


class Importer:
    """Reads a stage at its first frame into a scene with these units and up axis."""

    def __init__(self, stage: Usd.Stage, meters_per_unit: float, up_axis: str) -> None:
        self._stage = stage
        self._conversion = _conversion(stage, meters_per_unit, up_axis)
        self._time = Usd.TimeCode.EarliestTime()
        self._made: list[hou.ObjNode] = []

    def run(self, above: hou.ObjNode | None) -> list[hou.ObjNode]:
        """Return the new objects, parents first."""
        network = root() if above is None else above.parent() or root()
        for prim in self._stage.GetPseudoRoot().GetChildren():
            self._read(prim, network, above, self._conversion)
        network.layoutChildren(self._made)
        return self._made

    def _read(
        self, prim: Usd.Prim, network: hou.Node, above: hou.ObjNode | None, frame: Gf.Matrix4d
    ) -> None:
        node = above
        if prim.IsA(UsdGeom.Xformable):
            node = self._make(prim, network)
            if above is not None:
                node.setInput(0, above)
            local = UsdGeom.Xformable(prim).GetLocalTransformation(self._time) * frame
            matrix = hou.Matrix4([value for row in local for value in row])
            node.setParmTransform(matrix)
            if not node.localTransform().isAlmostEqual(matrix):
                node.setPreTransform(node.parmTransform().inverted() * matrix)
            frame = Gf.Matrix4d(1)
            self._made.append(node)
        inside = Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)
        for child in prim.GetFilteredChildren(inside):
            self._read(child, network, node, frame)

    def _make(self, prim: Usd.Prim, network: hou.Node) -> hou.ObjNode:
        drawn = prim.IsA(UsdGeom.Mesh) or prim.GetTypeName() in _SHAPES
        name = re.sub(r"[^A-Za-z0-9_]", "_", prim.GetName())
        node = network.createNode("geo" if drawn else "null", name, force_valid_node_name=True)
        assert isinstance(node, hou.ObjNode)
        if drawn:
            for left in node.children():
                left.destroy()
            if prim.IsA(UsdGeom.Mesh):
                shape = _stash(node, UsdGeom.Mesh(prim), self._time)
            else:
                shape = _SHAPES[prim.GetTypeName()](node, prim, self._time)
            shape.setDisplayFlag(True)
            shape.setRenderFlag(True)
            color = _color(prim, self._time)
            if color is not None:
                set_color(node, color)
        hidden = UsdGeom.Imageable(prim).ComputeVisibility(self._time) == UsdGeom.Tokens.invisible
        node.setDisplayFlag(not hidden)
        return node


def _conversion(stage: Usd.Stage, meters_per_unit: float, up_axis: str) -> Gf.Matrix4d:
    """Return the conversion from the file's units and axes to the scene's."""
    factor = UsdGeom.GetStageMetersPerUnit(stage) / meters_per_unit
    matrix = Gf.Matrix4d(1).SetScale(factor)
    theirs = str(UsdGeom.GetStageUpAxis(stage)).upper()
    if theirs != up_axis:
        angle = -90 if theirs == "Z" else 90
        matrix *= Gf.Matrix4d(1).SetRotate(Gf.Rotation(Gf.Vec3d(1, 0, 0), angle))
    return matrix


def _stash(node: hou.ObjNode, mesh: UsdGeom.Mesh, time: Usd.TimeCode) -> hou.SopNode:
    counts = mesh.GetFaceVertexCountsAttr().Get(time) or ()
    corners = list(mesh.GetFaceVertexIndicesAttr().Get(time) or ())
    reverse = mesh.GetOrientationAttr().Get(time) != UsdGeom.Tokens.leftHanded
    faces: list[tuple[int, ...]] = []
    at = 0
    for count in counts:
        face = corners[at : at + count]
        at += count
        if len(face) > 2:
            # Houdini's polygons have the opposite winding.
            faces.append(tuple(reversed(face)) if reverse else tuple(face))
    shape = hou.Geometry()
    shape.createPoints([tuple(point) for point in mesh.GetPointsAttr().Get(time) or ()])
    # The published stubs require one flat sequence. The documentation and Houdini require one per
    # polygon.
    shape.createPolygons(tuple(faces))  # type: ignore[arg-type,unused-ignore]
    made = node.createNode("stash", "usd")
    assert isinstance(made, hou.SopNode)
    parm(made, "stash").set(shape)
    return made


def _cube(node: hou.ObjNode, prim: Usd.Prim, time: Usd.TimeCode) -> hou.SopNode:
    size = UsdGeom.Cube(prim).GetSizeAttr().Get(time)
    return _shape(node, "box", "size", [size] * 3)


def _sphere(node: hou.ObjNode, prim: Usd.Prim, time: Usd.TimeCode) -> hou.SopNode:
    made = _shape(node, "sphere", "rad", [UsdGeom.Sphere(prim).GetRadiusAttr().Get(time)] * 3)
    parm(made, "type").set("polymesh")
    set_known(made, "rows", 13)
    set_known(made, "cols", 24)
    return made


def _round(node: hou.ObjNode, prim: Usd.Prim, time: Usd.TimeCode) -> hou.SopNode:
    """Make a cylinder, or a cone whose tip is at the axis's positive end."""
    pointed = prim.GetTypeName() == "Cone"
    shape = UsdGeom.Cone(prim) if pointed else UsdGeom.Cylinder(prim)
    radius = shape.GetRadiusAttr().Get(time)
    made = _shape(node, "tube", "rad", [0.0 if pointed else radius, radius])
    parm(made, "type").set("poly")
    parm(made, "orient").set(str(shape.GetAxisAttr().Get(time)).lower())
    parm(made, "height").set(shape.GetHeightAttr().Get(time))
    set_known(made, "cols", 24)
    set_known(made, "cap", 1)
    return made


_SHAPES: dict[str, Any] = {"Cube": _cube, "Sphere": _sphere, "Cylinder": _round, "Cone": _round}


def _shape(node: hou.ObjNode, type: str, sizes: str, values: list[float]) -> hou.SopNode:
    made = node.createNode(type)
    assert isinstance(made, hou.SopNode)
    set_numbers(parm_tuple(made, sizes), values)
    return made


def _color(prim: Usd.Prim, time: Usd.TimeCode) -> list[float] | None:
    """Return the display color, or else the color of a preview material."""
    shown = UsdGeom.Gprim(prim).GetDisplayColorAttr().Get(time)
    if shown:
        return [float(value) for value in shown[0]]
    material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
    surface = material.ComputeSurfaceSource()[0] if material else None
    if not surface or surface.GetIdAttr().Get() != "UsdPreviewSurface":
        return None
    diffuse = surface.GetInput("diffuseColor")
    value = diffuse.Get(time) if diffuse and not diffuse.HasConnectedSource() else None
    return [float(each) for each in value] if value is not None else None
