"""Tests specific to Blender: the end of its process, and exports that other programs read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from needed import need
from python_path import python_path

pytestmark = pytest.mark.slow

need("bpy")

HOST = """
import sys
from pathlib import Path
import bpy
from callboard.host import RENDER, SCENE_MUTATE, SCENE_READ, USD
from callboard_blender.host import BlenderHost
host = BlenderHost(lambda fn: None)
read, edit = host.ports[SCENE_READ], host.ports[SCENE_MUTATE]
folder = Path(sys.argv[1])
"""


def in_blender(script: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", HOST + script, str(folder)],
        capture_output=True,
        text=True,
        timeout=90,
        env={**os.environ, "PYTHONPATH": python_path()},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stderr


def test_the_process_ends_after_rendering(tmp_path: Path) -> None:
    """A handler left behind used to keep the process waiting forever."""
    in_blender('host.ports[RENDER].still(str(folder / "a.png"), 32, 32, None)\n', tmp_path)
    assert (tmp_path / "a.png").stat().st_size > 0


def test_an_export_holds_what_was_asked(tmp_path: Path) -> None:
    need("pxr")
    from pxr import Gf, Usd, UsdGeom, UsdShade

    script = """
edit.delete(read.names())
edit.create("sphere", "Ball", {"radius": 2})
edit.create("cube", "Group", {"size": 1})
edit.set_parent("Ball", "Group", True)
edit.set_transform("Ball", [1, 2, 3], [10, 20, 30], [1, 1, 2])
edit.set_color("Ball", [1, 0.5, 0.25])
host.ports[USD].export_usd(str(folder / "out.usda"), False)
"""
    in_blender(script, tmp_path)
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    placed = [prim for prim in stage.Traverse() if prim.GetTypeName() == "Xform"]
    assert [prim.GetName() for prim in placed] == ["root", "Group", "Ball"]
    lights = [prim for prim in stage.Traverse() if "Light" in str(prim.GetTypeName())]
    assert lights == []
    matrix = UsdGeom.Xformable(placed[2]).GetLocalTransformation()
    assert Gf.IsClose(matrix.ExtractTranslation(), Gf.Vec3d(1, 2, 3), 1e-5)
    assert [matrix.GetRow3(i).GetLength() for i in range(3)] == pytest.approx([1, 1, 2], abs=1e-5)
    mesh = placed[2].GetChildren()[0]
    surface = UsdShade.MaterialBindingAPI(mesh).ComputeBoundMaterial()[0].ComputeSurfaceSource()[0]
    color = surface.GetInput("diffuseColor").Get()
    assert list(color) == pytest.approx([1, 0.5, 0.25], abs=1e-4)


def test_scripts_inside_a_file_are_not_run(tmp_path: Path) -> None:
    script = """
text = bpy.data.texts.new("trap.py")
text.write(f"open(r'{folder / 'sprung'}', 'w').close()")
text.use_module = True
from callboard.host import FILESYSTEM_WRITE
files = host.ports[FILESYSTEM_WRITE]
files.save(str(folder / "trap.blend"))
files.open(str(folder / "trap.blend"))
assert bpy.data.texts
"""
    in_blender(script, tmp_path)
    assert (tmp_path / "trap.blend").exists()
    assert not (tmp_path / "sprung").exists()


def test_an_import_leaves_frame_range_and_world(tmp_path: Path) -> None:
    (tmp_path / "in.usda").write_text(
        "#usda 1.0\n(\n startTimeCode = 7\n endTimeCode = 9\n)\n"
        'def Cube "Box" {}\ndef DomeLight "Sky" {}\n',
        encoding="utf-8",
    )
    script = """
before = read.info()["frame_range"], bpy.context.scene.world
host.ports[USD].import_usd(str(folder / "in.usda"), None)
assert (read.info()["frame_range"], bpy.context.scene.world) == before
"""
    in_blender(script, tmp_path)


def test_an_object_with_a_quaternion_and_a_parent_inverse(tmp_path: Path) -> None:
    script = """
from mathutils import Matrix
edit.delete(read.names())
edit.create("cube", "Parent", {"size": 1})
edit.create("cube", "Child", {"size": 1})
edit.set_parent("Child", "Parent", True)
child = bpy.data.objects["Child"]
child.rotation_mode = "QUATERNION"
child.matrix_parent_inverse = Matrix.Translation((5, 0, 0))
edit.set_transform("Child", [1, 2, 3], [10, 20, 30], [1, 2, 3])
found = read.get("Child")
def near(a, b): return all(abs(x - y) < 1e-3 for x, y in zip(a, b))
assert near(found["translate"], [1, 2, 3]), found
assert near(found["rotate"], [10, 20, 30]), found
assert near(found["scale"], [1, 2, 3]), found
"""
    in_blender(script, tmp_path)


def test_a_stage_s_objects_arrive_where_they_are_in_metres(tmp_path: Path) -> None:
    """The stage has centimeters and Y up. Blender's scene has meters and Z up."""
    need("pxr")
    from hosts.openusd_rig import Scene

    stage = Scene()
    box = stage.edit.create("cube", "Box", {"size": 200})
    stage.edit.set_transform(box, [100, 200, 300], None, None)
    stage.edit.set_parent(stage.edit.create("cube", "Hat", {"size": 20}), box, False)
    stage.usd.export_usd(str(tmp_path / "stage.usda"), False)
    script = """
edit.delete(read.names())
host.ports[USD].import_usd(str(folder / "stage.usda"), None)
assert sorted(read.names()) == ["Box", "Hat"], read.names()
for name, half in (("Box", 1), ("Hat", 0.1)):
    box = read.get(name)["bounds"]
    for place, low, high in zip((1, -3, 2), box["min"], box["max"]):
        assert abs(low - place + half) + abs(high - place - half) < 1e-4, (name, box)
"""
    in_blender(script, tmp_path)
