"""Exports objects as USD prims."""

from __future__ import annotations

from collections.abc import Sequence

import hou
from pxr import Gf, Sdf, Tf, Usd, UsdGeom, Vt

from callboard.errors import HostError
from callboard_houdini.application.names import children_of, objects, parent_of
from callboard_houdini.parts.object_color import read_color
from callboard_houdini.parts.shapes import geometry


class Exporter:
    def __init__(self, stage: Usd.Stage) -> None:
        self._stage = stage

    def run(self, chosen: Sequence[hou.ObjNode]) -> None:
        """Write the chosen objects and everything below them. Write the objects above them as well,
        without their shapes, so that the chosen objects keep their world transforms."""
        whole = {node.path() for node in chosen}
        needed = set(whole)
        for node in chosen:
            above = parent_of(node)
            while above is not None and above.path() not in needed:
                needed.add(above.path())
                above = parent_of(above)
        for node in objects():
            if parent_of(node) is None and node.path() in needed:
                prim = self._write(node, Sdf.Path.absoluteRootPath, whole, needed, False)
                if not self._stage.HasDefaultPrim():
                    self._stage.SetDefaultPrim(prim)

    def _write(
        self, node: hou.ObjNode, above: Sdf.Path, whole: set[str], needed: set[str], wanted: bool
    ) -> Usd.Prim:
        wanted = wanted or node.path() in whole
        path = self._free(above.AppendChild(Tf.MakeValidIdentifier(node.name())))
        shape = geometry(node) if wanted else None
        made = (UsdGeom.Mesh if shape is not None else UsdGeom.Xform).Define(self._stage, path)
        made.MakeMatrixXform().Set(Gf.Matrix4d(*node.localTransform().asTuple()))
        if shape is not None:
            _fill(made, shape, node)
        if wanted and not node.isObjectDisplayed():
            made.CreateVisibilityAttr(UsdGeom.Tokens.invisible)
        for child in children_of(node):
            if wanted or child.path() in needed:
                self._write(child, path, whole, needed, wanted)
        prim: Usd.Prim = made.GetPrim()
        return prim

    def _free(self, wanted: Sdf.Path) -> Sdf.Path:
        path, count = wanted, 0
        while self._stage.GetPrimAtPath(path):
            count += 1
            path = wanted.ReplaceName(f"{wanted.name}_{count}")
        return path


def _fill(mesh: UsdGeom.Mesh, shape: hou.Geometry, node: hou.ObjNode) -> None:
    flat = shape.pointFloatAttribValues("P")
    points = [Gf.Vec3f(*flat[i : i + 3]) for i in range(0, len(flat), 3)]
    counts: list[int] = []
    corners: list[int] = []
    for prim in shape.prims():
        if not isinstance(prim, hou.Polygon):
            raise HostError(
                f"'{node.name()}' shows geometry that isn't polygons; convert it to polygons, or "
                "select the other objects and export only those"
            )
        numbers = [vertex.point().number() for vertex in prim.vertices()]
        if prim.isClosed() and len(numbers) > 2:
            counts.append(len(numbers))
            corners += numbers
    mesh.CreatePointsAttr(Vt.Vec3fArray(points))
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray(counts))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray(corners))
    mesh.CreateExtentAttr(UsdGeom.PointBased.ComputeExtent(mesh.GetPointsAttr().Get()))
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    # Houdini's polygons have the opposite winding.
    mesh.CreateOrientationAttr(UsdGeom.Tokens.leftHanded)
    color = read_color(node)
    if color is not None:
        mesh.CreateDisplayColorAttr(Vt.Vec3fArray([Gf.Vec3f(*color)]))
