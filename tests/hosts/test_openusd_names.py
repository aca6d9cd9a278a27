"""The list of objects always equals the result of walking the stage, after any kind of change."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from needed import need

need("pxr")

from pxr import Gf, Sdf, Tf, Usd, UsdGeom

from callboard.errors import HostError
from callboard_testing.direct_calls import DirectContext
from hosts.openusd_rig import HEAD, Scene, written

BODY = (
    HEAD
    + 'def Xform "World"\n{\n'
    + "".join(
        f' def Scope "Part{part}"\n {{\n  def Xform "Group"\n  {{\n   def Cube "A" {{}}\n'
        '   def Scope "Looks" { def Material "M" {} }\n   def Sphere "B" {}\n  }\n }\n'
        for part in range(4)
    )
    .replace("{ def Material", "{\n def Material")
    .replace('"M" {} }', '"M" {}\n}')
    + '}\ndef Xform "Loose"\n{\n def Cube "C" {}\n}\nclass Xform "Kind"\n{\n def Cube "D" {}\n}\n'
)


def walked(stage: Usd.Stage) -> list[str]:
    objects = [prim for prim in stage.Traverse() if prim.IsA(UsdGeom.Xformable)]
    return [str(prim.GetPath()) for prim in objects if not is_scene_itself(prim)]


def is_scene_itself(prim: Usd.Prim) -> bool:
    moved = UsdGeom.Xformable(prim).GetOrderedXformOps()
    return prim.GetPath() == "/World" and prim.GetTypeName() == "Xform" and not moved


def by_script(scene: Scene, dice: random.Random) -> None:
    """Change the stage itself, as a skill may."""
    stage = scene.stage
    prims = list(Usd.PrimRange(stage.GetPseudoRoot(), Usd.PrimAllPrimsPredicate))[1:]
    prim = dice.choice(prims)
    kind = dice.randrange(8)
    if kind == 0:
        prim.SetActive(not prim.IsActive())
    elif kind == 1:
        prim.SetTypeName(dice.choice(["Xform", "Scope", "Cube"]))
    elif kind == 2:
        stage.DefinePrim(prim.GetPath().AppendChild(f"N{dice.randrange(30)}"), "Cube")
    elif kind == 3:
        stage.RemovePrim(prim.GetPath())
    elif kind == 4:
        prim.SetSpecifier(dice.choice([Sdf.SpecifierDef, Sdf.SpecifierClass, Sdf.SpecifierOver]))
    elif kind == 5:
        names = list(prim.GetParent().GetAllChildrenNames())
        dice.shuffle(names)
        prim.GetParent().SetChildrenReorder(names)
    elif kind == 6:
        world = UsdGeom.Xformable(stage.GetPrimAtPath("/World"))
        if world and dice.random() < 0.5:
            UsdGeom.XformCommonAPI(world).SetTranslate(Gf.Vec3d(1, 2, dice.random()))
        elif world:
            world.ClearXformOpOrder()
    else:
        with Sdf.ChangeBlock():
            for number in range(3):
                Sdf.CreatePrimInLayer(scene.stage.GetRootLayer(), f"/Loose/S{number}/Deep")


def by_tool(scene: Scene, dice: random.Random) -> None:
    names = scene.read.names()
    if not names:
        scene.edit.create("cube", None, {"size": 1})
        return
    name, other = dice.choice(names), dice.choice([*names, None])
    kind = dice.randrange(6)
    if kind == 0:
        scene.edit.create("cube", None, {"size": 1})
    elif kind == 1:
        scene.edit.rename(name, f"R{dice.randrange(10**6)}")
    elif kind == 2:
        scene.edit.set_parent(name, other, False)
    elif kind == 3:
        scene.edit.duplicate(name, None)
    elif kind == 4:
        scene.edit.delete([name])
    else:
        scene.edit.set_color(name, [1, 0, 0])


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.sweep) for seed in range(1, 6))]
)
def test_names_and_order_are_the_stage_s(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    scene = Scene()
    scene.files.open(written(tmp_path, "shot.usda", BODY))
    for _ in range(60):
        before, text = walked(scene.stage), scene.text()
        token = scene.undo.begin("change")
        for _ in range(dice.randrange(1, 4)):
            try:
                dice.choice([by_script, by_tool])(scene, dice)
            except (HostError, Tf.ErrorException):
                continue
            if dice.random() < 0.5:
                assert scene.read.names() == walked(scene.stage)
        if dice.random() < 0.3:
            scene.undo.rollback(token)
            assert (scene.read.names(), scene.text()) == (before, text)
        else:
            undo_id = scene.undo.commit(token)
            if undo_id is not None and dice.random() < 0.3:
                assert scene.undo.undo(undo_id)
                assert (scene.read.names(), scene.text()) == (before, text)
        paths = walked(scene.stage)
        assert scene.read.names() == paths
        assert [summary["path"] for summary in scene.read.summaries()] == paths
        bare = [path.rsplit("/", 1)[1] for path in paths]
        for path, name in zip(paths, bare, strict=True):
            if bare.count(name) == 1:
                assert scene.read.get(name)["path"] == path


def test_a_page_of_the_list_is_what_was_there_when_it_was_asked_for(scene: Scene) -> None:
    for _ in range(5):
        scene.edit.create("cube", None, {"size": 1})
    listed = scene.read.summaries()
    scene.edit.delete(["Cube_2"])
    assert len(listed) == 5
    assert [summary["name"] for summary in listed[1:3]] == ["Cube_1", "Cube_2"]
    assert len(scene.read.summaries()) == 4


def test_a_scene_is_looked_through_in_slices_that_let_it_change(
    scene: Scene, tmp_path: Path
) -> None:
    cubes = "".join(f'def Cube "C{number}" {{}}\n' for number in range(3000))
    scene.files.open(written(tmp_path, "many.usda", HEAD + cubes))
    made = [f"/C{number}" for number in range(3000)]
    slices = []

    def between(ctx: DirectContext) -> None:
        if not slices:
            scene.edit.delete(made[-10:])
        slices.append(ctx.steps[-1])

    answer = scene.call(
        "scene__list_objects", {"pattern": "c*", "type": "cube"}, each_slice=between
    )
    assert (answer["total"], answer["next_offset"]) == (2990, 100)
    assert [each["path"] for each in answer["objects"]] == made[:100]
    assert slices
    assert slices == sorted(slices)
    assert all(done < total == 3000 and "of 3000 objects" in told for done, total, told in slices)


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_a_file_that_changes_after_it_was_opened_spoils_no_undo(
    scene: Scene, tmp_path: Path
) -> None:
    path = written(tmp_path, "shot.usda", BODY)
    scene.files.open(path)
    written(tmp_path, "shot.usda", HEAD)
    before = scene.text()
    token = scene.undo.begin("rename")
    scene.edit.rename("C", "Other")
    assert scene.undo.rollback(token)
    assert scene.text() == before


def test_a_used_file_that_changed_is_read_anew(scene: Scene, tmp_path: Path) -> None:
    written(tmp_path, "asset.usda", '#usda 1.0\n(\ndefaultPrim = "A"\n)\ndef Xform "A" {}\n')
    shot = written(tmp_path, "shot.usda", HEAD + 'def "Ref" (references = @asset.usda@) {}\n')
    scene.files.open(shot)
    assert scene.read.names() == ["/Ref"]
    longer = '#usda 1.0\n(\ndefaultPrim = "A"\n)\ndef Xform "A"\n{\n def Cube "New" {}\n}\n'
    written(tmp_path, "asset.usda", longer)
    scene.files.open(shot)
    assert scene.read.names() == ["/Ref", "/Ref/New"]
