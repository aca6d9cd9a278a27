"""On OpenUSD, the data of faces and corners stays with them, and no other mesh changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from needed import need

need("pxr")

from pxr import Usd, UsdGeom

from callboard.errors import HostError
from callboard_openusd.host import OpenUsdHost
from callboard_testing.direct_calls import DirectCaller

MESH = """#usda 1.0
(
 upAxis = "Y"
)
def Mesh "Shape"
{
 int[] faceVertexCounts = [4, 4]
 int[] faceVertexIndices = [0, 1, 2, 3, 1, 4, 5, 2]
 point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0), (2, 1, 0)]
 uniform token subdivisionScheme = "none"
 %s
 texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1), (1, 0), (2, 0), (2, 1)] (
  interpolation = "faceVarying"
 )
 int[] primvars:st:indices = [0, 1, 2, 3, 4, 5, 6, 2]
 color3f[] primvars:displayColor = [(1, 0, 0), (0, 1, 0)] (
  interpolation = "uniform"
 )
 def GeomSubset "right"
 {
  uniform token elementType = "face"
  uniform token familyName = "materialBind"
  int[] indices = [1]
 }
}
"""


class Opened:
    def __init__(self, folder: Path, more: str = "") -> None:
        file = folder / "shape.usda"
        file.write_text(MESH % more, encoding="utf-8")
        self.host = OpenUsdHost(lambda fn: None)
        self.call = DirectCaller(self.host)
        self.call("scene__open_file", {"path": str(file)})

    def tool(self, name: str, **arguments: Any) -> Any:
        return self.call(f"geometry__{name}", {"name": "/Shape", **arguments})

    @property
    def mesh(self) -> UsdGeom.Mesh:
        return UsdGeom.Mesh(self.host.stage.GetPrimAtPath("/Shape"))

    def at_corners(self) -> set[Any]:
        """Return each point with its UV and its face's color."""
        prim = self.mesh.GetPrim()
        points = self.mesh.GetFaceVertexIndicesAttr().Get()
        uvs = UsdGeom.PrimvarsAPI(prim).GetPrimvar("st").ComputeFlattened()
        colors = UsdGeom.PrimvarsAPI(prim).GetPrimvar("displayColor").Get()
        counts = self.mesh.GetFaceVertexCountsAttr().Get()
        faces = [number for number, count in enumerate(counts) for _ in range(count)]
        return {
            (point, tuple(uv), tuple(colors[face]))
            for point, uv, face in zip(points, uvs, faces, strict=True)
        }


@pytest.mark.parametrize("more", ["", 'uniform token orientation = "leftHanded"'])
@pytest.mark.parametrize("tool", ["triangulate", "normals"])
def test_what_goes_to_faces_and_corners_follows(tmp_path: Path, tool: str, more: str) -> None:
    opened = Opened(tmp_path, more)
    before = opened.at_corners()
    opened.tool(tool, **({"side": "flip"} if tool == "normals" else {}))
    assert opened.at_corners() == before
    (right,) = UsdGeom.Subset.GetAllGeomSubsets(opened.mesh)
    wanted = [2, 3] if tool == "triangulate" else [1]
    assert list(right.GetIndicesAttr().Get()) == wanted
    assert not UsdGeom.Mesh.ValidateTopology(
        opened.mesh.GetFaceVertexIndicesAttr().Get(),
        opened.mesh.GetFaceVertexCountsAttr().Get(),
        6,
    )[1]


@pytest.mark.parametrize("more", ["", 'uniform token orientation = "leftHanded"'])
def test_normals_look_where_the_faces_do(tmp_path: Path, more: str) -> None:
    opened = Opened(tmp_path, more)
    for asked in ({"smooth": True}, {"smooth": False}, {"smooth": True, "angle": 30}):
        opened.tool("shade", **asked)
        side = -1 if more else 1
        assert {each[2] for each in opened.mesh.GetNormalsAttr().Get()} == {side}, asked
        opened.tool("normals", side="flip")
        assert {each[2] for each in opened.mesh.GetNormalsAttr().Get()} == {-side}, asked
        opened.tool("normals", side="flip")


def test_other_normals_count_no_more(tmp_path: Path) -> None:
    opened = Opened(
        tmp_path, 'normal3f[] primvars:normals = [(0, 0, -1)] (interpolation="constant")'
    )
    opened.tool("shade", smooth=True)
    assert not UsdGeom.PrimvarsAPI(opened.mesh).GetPrimvar("normals").HasAuthoredValue()
    assert opened.tool("info")["shading"] == "smooth"


@pytest.mark.parametrize(
    ("tool", "more", "why"),
    [
        (
            "triangulate",
            "int[] faceVertexIndices.timeSamples = {1: [0, 1, 2, 3, 1, 4, 5, 2],"
            " 2: [3, 2, 1, 0, 1, 4, 5, 2]}",
            "change over time",
        ),
        (
            "shade",
            "point3f[] points.timeSamples = {1: [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0),"
            " (2, 0, 0), (2, 1, 0)], 2: [(0, 0, 1), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0),"
            " (2, 1, 0)]}",
            "are animated",
        ),
    ],
)
def test_what_moves_is_refused(tmp_path: Path, tool: str, more: str, why: str) -> None:
    opened = Opened(tmp_path, more)
    with pytest.raises(HostError, match=why):
        opened.tool(tool, **({"smooth": True} if tool == "shade" else {}))


def test_shapes_without_faces_and_tools_without_a_port_say_so(tmp_path: Path) -> None:
    opened = Opened(tmp_path)
    opened.call("scene__create_primitive", {"kind": "sphere", "name": "Ball"})
    told = opened.call("geometry__info", {"name": "Ball"})
    assert (told["type"], told["mesh"]) == ("sphere", None)
    for tool in ("triangulate", "normals", "uv_info"):
        with pytest.raises(HostError, match=r"no (faces|mesh)"):
            opened.call(f"geometry__{tool}", {"name": "Ball"})
    assert opened.call.missing("geometry__modify") == ["modelling"]


def test_the_saved_file_holds_it(tmp_path: Path) -> None:
    opened = Opened(tmp_path)
    opened.tool("subdivide", scheme="bilinear")
    opened.call("scene__save_file", {"path": str(tmp_path / "saved.usda")})
    stage = Usd.Stage.Open(str(tmp_path / "saved.usda"))
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/Shape"))
    assert mesh.GetSubdivisionSchemeAttr().Get() == "bilinear"


def test_a_mesh_that_is_inside_out_is_mended_by_the_call_that_is_told(tmp_path: Path) -> None:
    opened = Opened(tmp_path)
    corners = opened.mesh.GetFaceVertexIndicesAttr()
    corners.Set([0, 1, 2, 3, 2, 5, 4, 1])
    (told,) = opened.call("check__run", {"rules": ["inside_out"]})["findings"]
    opened.call(told["fix"]["tool"], told["fix"]["arguments"])
    assert opened.call("check__run", {"rules": ["inside_out"]})["findings"] == []


def test_a_face_without_corners_is_no_obstacle(tmp_path: Path) -> None:
    opened = Opened(tmp_path)
    opened.mesh.GetFaceVertexCountsAttr().Set([4, 0, 4])
    opened.mesh.GetPrim().RemoveProperty("primvars:displayColor")
    assert opened.tool("info")["mesh"]["faces"] == 3
    assert opened.tool("uv_info")["islands"]
    assert opened.tool("normals")["verified"]
    opened.mesh.GetFaceVertexCountsAttr().Set([4, -4, 8])
    with pytest.raises(HostError, match="is broken"):
        opened.tool("info")


@pytest.mark.parametrize("tool", ["triangulate", "normals"])
def test_what_has_too_few_values_is_named(tmp_path: Path, tool: str) -> None:
    opened = Opened(tmp_path)
    UsdGeom.PrimvarsAPI(opened.mesh).GetPrimvar("st").SetIndices([0, 1, 2])
    with pytest.raises(HostError, match="st:indices' of 'Shape' has 3 values instead of 8"):
        opened.tool(tool, **({"side": "flip"} if tool == "normals" else {}))


def test_a_face_of_endless_corners_is_refused(tmp_path: Path) -> None:
    opened = Opened(tmp_path)
    opened.mesh.GetPrim().RemoveProperty("primvars:displayColor")
    opened.mesh.GetPrim().RemoveProperty("primvars:st")
    opened.mesh.GetPrim().RemoveProperty("primvars:st:indices")
    opened.mesh.GetFaceVertexCountsAttr().Set([1200])
    opened.mesh.GetFaceVertexIndicesAttr().Set([0, 1, 2, 3] * 300)
    with pytest.raises(HostError, match="a face with 1200 corners"):
        opened.tool("triangulate")


def test_a_new_plane_can_take_a_picture() -> None:
    call = DirectCaller(OpenUsdHost(lambda fn: None))
    made = call("scene__create_primitive", {"kind": "plane"})["object"]["path"]
    told = call("geometry__uv_info", {"name": made})
    assert (told["inside"], told["area"], told["overlap"]) == (True, 1.0, 0.0)
