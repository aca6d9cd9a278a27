"""Objects keep unique names in this machine's Blender, when it runs headless. Up to 4.4 Blender
sometimes gives a copy exactly its original's name, and an undo then loses one of the two."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from blender_program import blender_environment
from needed import need

need("blender")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

#: Pairs of names. The object with the first name is removed, and Blender takes that name's number
#: for the second's.
PAIRS = (
    ("Renamed 0.4405491248890", "Renamed 0.8811277298137"),
    ("a.1", "a.001"),
    ("Cube", "Cube.000"),
    ("x" * 61 + ".1", "x" * 59 + ".001"),
)
_CASES = """
import json, sys
out, pairs, *paths = json.loads(sys.argv[-1])
sys.path[:0] = paths
import bpy
from callboard.errors import HostError
from callboard.host import CAMERAS, LIGHTS, MODELLING, SCENE_MUTATE
from callboard_blender.host import BlenderHost

host = BlenderHost(lambda fn: None)
editor = host.ports[SCENE_MUTATE]
told = {"counts well": bpy.app.version >= (4, 5, 0), "copies": [], "refused": []}
for pair in pairs:
    bpy.ops.wm.read_homefile(use_empty=True)
    for name in pair:
        made = bpy.data.objects.new("Made", None)
        bpy.context.scene.collection.objects.link(made)
        made.name = name
    bpy.data.objects.remove(bpy.data.objects[pair[0]])
    last = bpy.data.objects[0].name
    for _ in range(3):
        editor.duplicate(last, None)
    told["copies"].append([each.name for each in bpy.data.objects])
    bpy.ops.ed.undo_push(message="copied")
    for each in bpy.data.objects:
        each.select_set(True)
    bpy.ops.ed.undo_push(message="selected")
    bpy.ops.ed.undo()
    told["copies"].append([each.name for each in bpy.context.scene.objects])

def tried(work):
    try:
        work()
    except HostError as error:
        told["refused"].append(str(error))

bpy.ops.wm.read_homefile(use_empty=True)
editor.create("cube", "Plain", {"size": 1.0})
tried(lambda: editor.rename("Plain", "Plain 0.8811277298137"))
tried(lambda: editor.duplicate("Plain", "a.1"))
tried(lambda: editor.create("cube", "a.000", {"size": 1.0}))
tried(lambda: host.ports[CAMERAS].create("a.0002"))
tried(lambda: host.ports[LIGHTS].create("point", "a.01"))
tried(lambda: host.ports[MODELLING].create_text("a.03", "words", {}))
tried(lambda: host.ports[MODELLING].create_curve("a.4", [[0, 0, 0], [1, 0, 0]], {}))
tried(lambda: editor.rename("Plain", "Plain.012"))
told["names"] = [each.name for each in bpy.data.objects]
with open(out, "w") as file:
    json.dump(told, file)
host.leave(0)
"""


def test_copies_and_names_that_are_asked_for_leave_every_object_its_own(tmp_path: Path) -> None:
    cases, out = tmp_path / "cases.py", tmp_path / "told.json"
    cases.write_text(_CASES, "utf-8")
    words = json.dumps([str(out), PAIRS, *sys.path])
    done = subprocess.run(
        ["blender", "-b", "--factory-startup", "--python", str(cases), "--", words],
        env={**os.environ, **blender_environment(), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert out.exists(), done.stdout + done.stderr
    told = json.loads(out.read_text("utf-8"))
    for names in told["copies"]:
        assert len(set(names)) == len(names) == 4, names
    if told["counts well"]:
        assert not told["refused"]
        return
    assert [why.rsplit("use ", 1)[1] for why in told["refused"]] == [
        "'Plain 0_8811277298137'",
        "'a.001'",
        "'a_000'",
        "'a.002'",
        "'a.001'",
        "'a.003'",
        "'a.004'",
    ]
    assert told["names"] == ["Plain.012"]
