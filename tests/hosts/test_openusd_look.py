"""Colors of objects that already have materials from other tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from needed import need

need("pxr")

from pxr import UsdShade

from callboard.errors import HostError
from hosts.openusd_rig import HEAD, Scene, as_saved, written

BOUND = '(prepend apiSchemas = ["MaterialBindingAPI"])'


def material(name: str, color: str, inside: str = "") -> str:
    return (
        f' def Material "{name}"\n {{\n'
        f"  token outputs:surface.connect = </World/{inside}{name}/S.outputs:surface>\n"
        '  def Shader "S"\n  {\n   uniform token info:id = "UsdPreviewSurface"\n'
        f"   color3f inputs:diffuseColor{color}\n   token outputs:surface\n  }}\n }}\n"
    )


MESH = (
    "  int[] faceVertexCounts = [3, 3]\n  int[] faceVertexIndices = [0, 1, 2, 0, 2, 3]\n"
    "  point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]\n"
)


def part(name: str, face: int, material: str) -> str:
    return (
        f'  def GeomSubset "{name}" {BOUND}\n  {{\n   uniform token elementType = "face"\n'
        '   uniform token familyName = "materialBind"\n'
        f"   int[] indices = [{face}]\n   rel material:binding = </World/{material}>\n  }}\n"
    )


RED, BLUE = material("Red", " = (1, 0, 0)"), material("Blue", " = (0, 0, 1)")
TEXTURED = material(
    "Textured",
    " = (1, 1, 1)\n   color3f inputs:diffuseColor.connect = </World/Map.outputs:rgb>",
) + (' def Shader "Map"\n {\n  uniform token info:id = "UsdUVTexture"\n  float3 outputs:rgb\n }\n')


@pytest.fixture
def scene() -> Scene:
    return Scene()


def opened(scene: Scene, folder: Path, body: str) -> None:
    body = HEAD + 'def Xform "World"\n{\n' + body + "}\n"
    scene.files.open(written(folder, "shot.usda", body))


def test_faces_with_materials_of_their_own_take_the_object_s_colour(
    scene: Scene, tmp_path: Path
) -> None:
    parts = part("a", 0, "Red") + part("b", 1, "Blue")
    opened(scene, tmp_path, RED + BLUE + f' def Mesh "Box"\n {{\n{MESH}{parts} }}\n')
    assert scene.read.get("Box")["color"] is None
    answer = scene.call("scene__set_material_color", {"name": "Box", "color": [0, 1, 0]})
    assert answer["object"]["color"] == [0, 1, 0]
    for name in ("a", "b"):
        face = scene.stage.GetPrimAtPath(f"/World/Box/{name}")
        bound = UsdShade.MaterialBindingAPI(face).ComputeBoundMaterial()[0]
        assert bound.GetPath() == "/World/Box/Look"


def test_faces_of_one_colour_are_an_object_of_that_colour(scene: Scene, tmp_path: Path) -> None:
    parts = part("a", 0, "Red") + part("b", 1, "Red")
    opened(scene, tmp_path, RED + f' def Mesh "Box"\n {{\n{MESH}{parts} }}\n')
    assert scene.read.get("Box")["color"] == [1, 0, 0]


@pytest.mark.parametrize("purpose", ["", ":full", ":preview"])
def test_a_textured_object_has_no_colour_until_it_gets_one(
    scene: Scene, tmp_path: Path, purpose: str
) -> None:
    box = (
        f' def Cube "Box" {BOUND}\n {{\n  color3f[] primvars:displayColor = [(1, 0, 0)]\n'
        f"  rel material:binding{purpose} = </World/Textured>\n }}\n"
    )
    opened(scene, tmp_path, TEXTURED + box)
    assert scene.read.get("Box")["color"] == (None if purpose == "" else [1, 0, 0])
    scene.call("scene__set_material_color", {"name": "Box", "color": [0, 1, 0]})
    box_prim = scene.stage.GetPrimAtPath("/World/Box")
    for used in UsdShade.Tokens.allPurpose, UsdShade.Tokens.full, UsdShade.Tokens.preview:
        bound = UsdShade.MaterialBindingAPI(box_prim).ComputeBoundMaterial(used)[0]
        assert bound.GetPath() == "/World/Box/Look"
    scene.files.save(str(tmp_path / "saved.usda"))
    assert as_saved(str(tmp_path / "saved.usda"))[0]["/World/Box"]["color"] == [0, 1, 0]


def test_a_material_below_the_object_that_others_use_is_left(scene: Scene, tmp_path: Path) -> None:
    inner = material("Red", " = (1, 0, 0)", "Box/")
    body = (
        f' def Cube "Box" {BOUND}\n {{\n  rel material:binding = </World/Box/Red>\n{inner} }}\n'
        f' def Cube "Other" {BOUND}\n {{\n  rel material:binding = </World/Box/Red>\n }}\n'
    )
    opened(scene, tmp_path, body)
    scene.edit.set_color("Box", [0, 1, 0])
    assert scene.read.get("Box")["color"] == [0, 1, 0]
    assert scene.read.get("Other")["color"] == [1, 0, 0]


def test_a_texture_in_the_object_s_own_material_gives_way(scene: Scene, tmp_path: Path) -> None:
    opened(scene, tmp_path, ' def Cube "Box" {}\n' + TEXTURED)
    scene.edit.set_color("Box", [1, 0, 0])
    surface = UsdShade.Shader(scene.stage.GetPrimAtPath("/World/Box/Look/Surface"))
    texture = UsdShade.Shader(scene.stage.GetPrimAtPath("/World/Map"))
    surface.GetInput("diffuseColor").ConnectToSource(texture.ConnectableAPI(), "rgb")
    scene.edit.set_color("Box", [0, 1, 0])
    assert scene.read.get("Box")["color"] == [0, 1, 0]
    assert not surface.GetInput("diffuseColor").HasConnectedSource()


def test_a_material_that_isn_t_linked_to_its_surface_is_linked(
    scene: Scene, tmp_path: Path
) -> None:
    opened(scene, tmp_path, ' def Cube "Box" {}\n')
    scene.edit.set_color("Box", [1, 0, 0])
    material = UsdShade.Material(scene.stage.GetPrimAtPath("/World/Box/Look"))
    material.GetSurfaceOutput().ClearSources()
    scene.edit.set_color("Box", [0, 1, 0])
    scene.files.save(str(tmp_path / "saved.usda"))
    assert as_saved(str(tmp_path / "saved.usda"))[0]["/World/Box"]["color"] == [0, 1, 0]


def test_a_binding_above_that_wins_is_named(scene: Scene, tmp_path: Path) -> None:
    body = (
        f' def Xform "Group" {BOUND}\n {{\n  rel material:binding = </World/Red> (\n'
        '   bindMaterialAs = "strongerThanDescendants"\n  )\n  def Cube "Box" {}\n }\n'
    )
    opened(scene, tmp_path, RED + body)
    before = scene.text()
    with pytest.raises(HostError, match=r"/World/Group\.material:binding"):
        scene.call("scene__set_material_color", {"name": "Box", "color": [0, 1, 0]})
    assert scene.text() == before


def test_an_animated_colour_is_left(scene: Scene, tmp_path: Path) -> None:
    samples = "color3f[] primvars:displayColor.timeSamples = { 1: [(1, 0, 0)], 9: [(0, 1, 0)] }"
    opened(scene, tmp_path, f' def Cube "Box"\n {{\n  {samples}\n }}\n')
    before = scene.text()
    with pytest.raises(HostError, match="animated"):
        scene.call("scene__set_material_color", {"name": "Box", "color": [0, 1, 0]})
    assert scene.text() == before


def test_a_group_takes_a_colour_only_where_what_is_below_it_shows_it(
    scene: Scene, tmp_path: Path
) -> None:
    bound = f'  def Cube "Own" {BOUND}\n  {{\n   rel material:binding = </World/Red>\n  }}\n'
    group = ' def Xform "{}"\n {{\n  def Cube "Plain" {{}}\n{} }}\n'
    opened(scene, tmp_path, RED + group.format("Mixed", bound) + group.format("Bare", ""))
    before = scene.text()
    with pytest.raises(HostError, match=r"1 of the 2 shapes .* instead: /World/Mixed/Own"):
        scene.call("scene__set_material_color", {"name": "Mixed", "color": [0, 1, 0]})
    assert scene.text() == before
    coloured = scene.call("scene__set_material_color", {"name": "Bare", "color": [0, 1, 0]})
    assert coloured["verified"]
    assert scene.read.get("/World/Bare/Plain")["color"] == [0, 1, 0]
