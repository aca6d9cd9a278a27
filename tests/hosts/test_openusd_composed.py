"""Scenes composed of several layers: instances, sublayers, references, time, and shared prims that
can't be changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from needed import need

need("pxr")

from pxr import Usd

from callboard.content import Json
from callboard.errors import HostError
from hosts.openusd_rig import HEAD, Scene, as_saved, written

PLACED = (
    'double3 xformOp:translate = (5, 0, 0)\nuniform token[] xformOpOrder = ["xformOp:translate"]\n'
)
#: An instance in an instance: two trees, each with a leaf that is shared too.
FOREST = (
    HEAD
    + """
def Xform "World"
{
    def Xform "Tree" (
        instanceable = true
        references = </_Tree>
    )
    {
    """
    + PLACED
    + """
    }
    def Xform "Other" (
        instanceable = true
        references = </_Tree>
    )
    {
    }
    def Cube "Box"
    {
    }
}

class Xform "_Tree"
{
    def Cube "Trunk"
    {
    }
    def Xform "Twig" (
        instanceable = true
        references = </_Leaf>
    )
    {
    """
    + PLACED
    + """
    }
}

class Xform "_Leaf"
{
    def Sphere "Blade"
    {
    }
}
"""
)


@pytest.fixture
def scene() -> Scene:
    return Scene()


@pytest.fixture
def forest(scene: Scene, tmp_path: Path) -> Scene:
    scene.files.open(written(tmp_path, "forest.usda", FOREST))
    return scene


def saved(scene: Scene, folder: Path) -> dict[str, Json]:
    path = str(folder / "saved.usda")
    scene.files.save(path)
    return as_saved(path)[0]


def test_an_import_keeps_what_its_instances_share(scene: Scene, tmp_path: Path) -> None:
    path = written(tmp_path, "forest.usda", FOREST)
    (before,) = as_saved(path)
    made = scene.usd.import_usd(path, None)["created"][0]
    after = saved(scene, tmp_path)
    for leaf in ("Tree/Trunk", "Tree/Twig/Blade", "Other/Trunk", "Other/Twig/Blade"):
        assert after[f"{made}/World/{leaf}"] == before[f"/World/{leaf}"]
    renamed = scene.edit.rename(made, "wood")
    assert saved(scene, tmp_path)[f"{renamed}/World/Tree/Twig/Blade"]["bounds"]


def test_a_copy_of_an_instance_has_its_geometry(forest: Scene, tmp_path: Path) -> None:
    copy = forest.edit.duplicate("Tree", "Copy")
    after = saved(forest, tmp_path)
    assert after[f"{copy}/Twig/Blade"] == after["/World/Tree/Twig/Blade"]
    assert after[copy]["world"] == after["/World/Tree"]["world"]


def test_a_copy_of_referenced_instances_has_their_geometry(scene: Scene, tmp_path: Path) -> None:
    written(tmp_path, "forest.usda", FOREST)
    body = HEAD + 'def Xform "World"\n{\n def "Set" (references = @./forest.usda@) {}\n}\n'
    scene.files.open(written(tmp_path, "shot.usda", body))
    copy = scene.edit.duplicate("/World/Set/Tree", "Copy")
    after = saved(scene, tmp_path)
    assert after[f"{copy}/Twig/Blade"]["world"] == after["/World/Set/Tree/Twig/Blade"]["world"]


def test_an_instance_is_moved_and_coloured_as_a_whole(forest: Scene, tmp_path: Path) -> None:
    before = forest.read.get("Tree")["bounds"]
    path = forest.edit.set_parent("Tree", "Box", True)
    forest.edit.set_color(path, [1, 0, 0])
    assert forest.read.get(path)["color"] == [1, 0, 0]
    assert forest.read.get("Other")["color"] is None
    copy = forest.edit.duplicate(path, None)
    forest.edit.set_color(copy, [0, 1, 0])
    after = saved(forest, tmp_path)
    assert after[path]["bounds"] == [*before["min"], *before["max"]]
    assert after[f"{path}/Twig/Blade"]["color"] == [1, 0, 0]
    assert after[f"{copy}/Twig/Blade"]["color"] == [0, 1, 0]
    assert after["/World/Other/Trunk"]["color"] is None


def test_what_instances_share_is_not_changed_and_takes_nothing_in(forest: Scene) -> None:
    before = forest.text()
    inner = "/World/Tree/Twig"
    assert forest.read.get(inner)["translate"] == [5, 0, 0]
    for change in (
        lambda: forest.edit.set_transform(inner, [1, 2, 3], None, None),
        lambda: forest.edit.set_color("/World/Tree/Trunk", [1, 0, 0]),
        lambda: forest.edit.rename(inner, "Twig2"),
        lambda: forest.edit.delete([inner]),
        lambda: forest.edit.duplicate(inner, None),
        lambda: forest.edit.set_parent(inner, None, True),
        lambda: forest.edit.set_parent("Box", inner, True),
    ):
        with pytest.raises(HostError, match="change 'Tree' as a whole"):
            change()
    with pytest.raises(HostError, match="choose another parent"):
        forest.edit.set_parent("Box", "Tree", True)
    with pytest.raises(HostError, match="choose another parent"):
        forest.usd.import_usd(forest.read.info()["file"], "Tree")
    assert forest.text() == before


def test_a_copy_has_the_values_of_each_sublayer(scene: Scene, tmp_path: Path) -> None:
    """The animation department's layer has the hat. The layout department's layer, which is offset
    by ten frames, has the hero's transform."""
    (tmp_path / "anim").mkdir()
    written(tmp_path / "anim", "prop.usda", '#usda 1.0\n(defaultPrim="P")\ndef Sphere "P" {}\n')
    layers = {
        "anim/hat.usda": 'over "World"\n{\n over "Hero"\n {\n  def Cube "Hat" {}\n'
        '  def "Ball" (references = @prop.usda@) {}\n }\n}\n',
        "place.usda": 'over "World"\n{\n over "Hero"\n {\n'
        "  double3 xformOp:translate.timeSamples = { 1: (7, 0, 0) }\n"
        '  uniform token[] xformOpOrder = ["xformOp:translate"]\n }\n}\n',
    }
    for name, body in layers.items():
        written(tmp_path, name, "#usda 1.0\n" + body)
    head = HEAD.replace(
        "(\n", "(\n    subLayers = [@./anim/hat.usda@, @./place.usda@ (offset = 10)]\n", 1
    )
    body = head + 'def Xform "World"\n{\n def Xform "Hero"\n {\n  def Cube "Body" {}\n }\n}\n'
    scene.files.open(written(tmp_path, "shot.usda", body))
    copy = scene.edit.duplicate("Hero", "Twin")
    after = saved(scene, tmp_path)
    for below in ("", "/Body", "/Hat", "/Ball"):
        assert after[copy + below] == after["/World/Hero" + below], below
    stage = Usd.Stage.Open(str(tmp_path / "saved.usda"))
    samples = stage.GetAttributeAtPath(f"{copy}.xformOp:translate").GetTimeSamples()
    assert samples == [11]
    assert after[copy]["world"][12] == 7


def test_a_copy_keeps_its_references(scene: Scene, tmp_path: Path) -> None:
    written(tmp_path, "asset.usda", '#usda 1.0\n(defaultPrim="A")\ndef Xform "A"\n{\n}\n')
    body = HEAD + 'def Xform "World"\n{\n def "Ref" (references = @./asset.usda@) {}\n}\n'
    scene.files.open(written(tmp_path, "shot.usda", body))
    copy = scene.edit.duplicate("Ref", None)
    assert scene.stage.GetPrimAtPath(copy).HasAuthoredReferences()


def test_what_a_relocation_places_is_copied_or_refused_with_why(
    scene: Scene, tmp_path: Path
) -> None:
    rig = '#usda 1.0\n(defaultPrim="Rig")\ndef Xform "Rig"\n{\n def Xform "Arm"\n {\n  '
    written(tmp_path, "rig.usda", rig + 'def Cube "Hand" {}\n }\n}\n')
    body = (
        "#usda 1.0\n(\n relocates = { </Hero/Arm/Hand>: </Hero/Hand> }\n)\n"
        'def "Hero" (references = @./rig.usda@) {}\n'
    )
    scene.files.open(written(tmp_path, "shot.usda", body))
    before = scene.text()
    with pytest.raises(HostError, match="a relocation, determines what is there"):
        scene.call("scene__rename", {"name": "/Hero/Arm", "new_name": "Leg"})
    assert scene.text() == before
    assert scene.call("scene__transform", {"name": "Hand", "translate": [1, 2, 3]})["verified"]
    copy = scene.call("scene__duplicate", {"name": "Hand"})["object"]
    assert (copy["type"], copy["translate"]) == ("cube", [1, 2, 3])
    assert saved(scene, tmp_path)[copy["path"]]["world"][12:15] == [1, 2, 3]


def test_imported_animation_plays_at_the_same_speed(scene: Scene, tmp_path: Path) -> None:
    body = (
        '#usda 1.0\n(\n timeCodesPerSecond = 48\n metersPerUnit = 0.01\n upAxis = "Y"\n)\n'
        'def Cube "Box"\n{\n double3 xformOp:translate.timeSamples = '
        "{ 0: (0, 0, 0), 48: (9, 0, 0) }\n"
        ' uniform token[] xformOpOrder = ["xformOp:translate"]\n}\n'
    )
    assert scene.read.info()["fps"] == 24
    scene.usd.import_usd(written(tmp_path, "fast.usda", body), None)
    samples = scene.stage.GetAttributeAtPath("/World/fast/Box.xformOp:translate").GetTimeSamples()
    assert samples == [0, 24]


def test_saving_twice_elsewhere_keeps_relative_references(scene: Scene, tmp_path: Path) -> None:
    """References without a leading dot are also kept. USD looks for such files next to the layer
    first."""
    written(tmp_path, "asset.usda", '#usda 1.0\n(defaultPrim="A")\ndef Xform "A"\n{\n}\n')
    body = HEAD + 'def "Ref" (references = @asset.usda@) {}\n'
    scene.files.open(written(tmp_path, "shot.usda", body))
    (tmp_path / "down").mkdir()
    path = str(tmp_path / "down" / "copy.usda")
    scene.files.save(path)
    assert [list(objects) for objects in as_saved(path)] == [["/Ref"]]
    scene.edit.create("cube", "More", {"size": 1})
    scene.files.save(None)
    assert [list(objects) for objects in as_saved(path)] == [["/Ref", "/More"]]


def test_an_opinion_that_nobody_saves_is_not_verified(scene: Scene, tmp_path: Path) -> None:
    scene.edit.create("cube", "Box", {"size": 1})
    scene.edit.create("cube", "Plain", {"size": 1})
    with Usd.EditContext(scene.stage, scene.stage.GetSessionLayer()):
        scene.edit.set_transform("Box", [1, 2, 3], None, None)
    answer = scene.call("scene__set_material_color", {"name": "Box", "color": [1, 0, 0]})
    assert answer["verified"] is False
    assert "session layer" in answer["doubt"]
    answer = scene.call("scene__set_material_color", {"name": "Plain", "color": [1, 0, 0]})
    assert (answer["verified"], answer.get("doubt")) == (True, None)


SEASONS = """def Xform "Garden" (
    variants = { string season = "winter" }
    prepend variantSets = "season"
)
{
    variantSet "season" = {
        "summer" {
            def Sphere "Leaves" {}
        }
        "winter" {
            def Cube "Snow" {}
        }
    }
}
"""


def test_another_variant_is_chosen_and_undone(scene: Scene, tmp_path: Path) -> None:
    written(tmp_path, "garden.usda", HEAD + SEASONS)
    body = (
        HEAD + 'def Xform "World"\n{\n def "Garden" (references = @./garden.usda@</Garden>) {}\n}\n'
    )
    scene.files.open(written(tmp_path, "shot.usda", body))
    named = {"name": "/World/Garden", "attribute": "variants:season"}
    (listed,) = scene.call("attributes__list", {"name": "/World/Garden", "pattern": "variants:*"})[
        "attributes"
    ]
    assert (listed["value"], listed["writable"]) == ("winter", True)
    assert scene.call("attributes__get", named)["allowed"] == ["summer", "winter"]
    before = scene.text()
    scene.call("attributes__set", {**named, "value": "summer"})
    step = scene.call.undo_id
    assert scene.read.names() == ["/World/Garden", "/World/Garden/Leaves"]
    assert "/World/Garden/Leaves" in saved(scene, tmp_path)
    assert scene.undo.undo(step)
    assert (scene.read.names(), scene.text()) == (["/World/Garden", "/World/Garden/Snow"], before)
    for wrong in ("spring", "", 1):
        with pytest.raises(HostError, match="one of its variants: summer, winter"):
            scene.call("attributes__set", {**named, "value": wrong})
    with pytest.raises(HostError, match="it has variants:season"):
        scene.call("attributes__set", {**named, "attribute": "variants:year", "value": "2026"})


LAYERED_LOOK = """#usda 1.0
def Material "Glass"
{
    token outputs:surface.connect = </Glass/Surface.outputs:surface>
    def Shader "Surface"
    {
        uniform token info:id = "UsdPreviewSurface"
        float inputs:opacity.connect = </Glass/Picture.outputs:a>
        color3f inputs:emissiveColor.connect = </Glass/Picture.outputs:rgb>
        token outputs:surface
    }
    def Shader "Picture"
    {
        uniform token info:id = "UsdUVTexture"
        asset inputs:file = @picture.png@
        float outputs:a
        float3 outputs:rgb
    }
}
"""


def test_a_number_takes_the_place_of_a_picture_in_a_layer_below(
    scene: Scene, tmp_path: Path
) -> None:
    written(tmp_path, "looks.usda", LAYERED_LOOK)
    scene.files.open(written(tmp_path, "shot.usda", "#usda 1.0\n(subLayers = [@looks.usda@])\n"))
    values = {"name": "Glass", "transmission": 0.75}
    assert scene.call("materials__set", values)["material"]["transmission"] == 0.75
    saved(scene, tmp_path)
    stage = Usd.Stage.Open(str(tmp_path / "saved.usda"))
    assert stage.GetAttributeAtPath("/Glass/Surface.inputs:opacity").GetConnections() == []


def test_a_picture_that_glows_has_no_strength_and_is_kept(scene: Scene, tmp_path: Path) -> None:
    scene.files.open(written(tmp_path, "looks.usda", LAYERED_LOOK))
    before = scene.text()
    with pytest.raises(HostError, match="to replace the picture"):
        scene.call("materials__set", {"name": "Glass", "emission_strength": 2})
    assert scene.text() == before
