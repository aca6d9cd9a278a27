"""Stages whose objects are root prims, because there is no ``/World`` or it moves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from needed import need

need("pxr")

from hosts.openusd_rig import Scene, as_saved, written

SHOT = """#usda 1.0
(
    defaultPrim = "hero"
    metersPerUnit = 0.01
    startTimeCode = 1
    upAxis = "Y"
)

def Xform "hero" (
    kind = "component"
)
{
    def Cube "box"
    {
        rel watches = </prop/ball>
    }
}

def Xform "prop"
{
    def Sphere "ball"
    {
    }
}

def Camera "cam"
{
}
"""


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    scene = Scene()
    scene.files.open(written(tmp_path, "shot.usda", SHOT))
    return scene


def imported(scene: Scene) -> None:
    path = str(Path(scene.read.info()["file"]).with_name("asset.usda"))
    Path(path).write_text('#usda 1.0\ndef Xform "A"\n{\n def Cube "Inner" {}\n}\n')
    scene.usd.import_usd(path, None)


CHANGES: dict[str, Callable[[Scene], object]] = {
    "create": lambda scene: scene.edit.create("cube", "New", {"size": 1}),
    "rename": lambda scene: scene.edit.rename("hero", "villain"),
    "delete the first": lambda scene: scene.edit.delete(["hero"]),
    "delete the middle": lambda scene: scene.edit.delete(["prop"]),
    "parent": lambda scene: scene.edit.set_parent("prop", "hero", True),
    "unparent": lambda scene: scene.edit.set_parent("ball", None, True),
    "duplicate": lambda scene: scene.edit.duplicate("hero", None),
    "colour": lambda scene: scene.edit.set_color("hero", [1, 0, 0]),
    "transform": lambda scene: scene.edit.set_transform("hero", [1, 2, 3], None, None),
    "import": imported,
    "layer metadata": lambda scene: scene.stage.SetStartTimeCode(5),
    "order": lambda scene: scene.stage.GetPseudoRoot().SetChildrenReorder(["cam", "hero"]),
}


@pytest.mark.sweep
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_of_a_root_prim_is_undone_exactly(
    scene: Scene, tmp_path: Path, change: Callable[[Scene], object]
) -> None:
    before = scene.text()
    token = scene.undo.begin("fails")
    change(scene)
    assert scene.undo.rollback(token)
    assert scene.text() == before
    token = scene.undo.begin("change")
    change(scene)
    after, undo_id = scene.text(), scene.undo.commit(token)
    assert after != before
    token = scene.undo.begin("next")
    scene.edit.create("cube", "Next", {"size": 1})
    assert scene.undo.undo(scene.undo.commit(token))
    assert scene.text() == after
    scene.files.save(str(tmp_path / "saved.usda"))
    (saved,) = as_saved(str(tmp_path / "saved.usda"))
    assert list(saved) == scene.read.names()
    assert scene.undo.undo(undo_id)
    assert scene.text() == before


def test_a_file_is_opened_after_changes_and_the_changes_come_back(
    scene: Scene, tmp_path: Path
) -> None:
    token = scene.undo.begin("create")
    assert scene.edit.create("cube", "New", {"size": 1}) == "/New"
    scene.undo.commit(token)
    changed = scene.text()
    token = scene.undo.begin("open")
    scene.files.open(written(tmp_path, "other.usda", '#usda 1.0\ndef Cube "other" {}\n'))
    assert scene.read.names() == ["/other"]
    assert scene.undo.undo(scene.undo.commit(token))
    assert scene.text() == changed


def test_the_default_prim_follows_its_name(scene: Scene) -> None:
    scene.edit.rename("hero", "villain")
    assert scene.stage.GetDefaultPrim().GetPath() == "/villain"
