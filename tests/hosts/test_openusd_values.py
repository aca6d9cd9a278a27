"""Values of lights, cameras and materials on an OpenUSD stage, as another process reads them from
the saved file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from needed import need

need("pxr")

from callboard.host import CAMERAS, LIGHTS, MATERIALS
from callboard_testing.checks import cameras as check_cameras
from callboard_testing.checks import lights as check_lights
from callboard_testing.checks import materials as check_materials
from hosts.openusd_rig import Scene

_READER = """
import json, sys
from callboard.host import CAMERAS, FILESYSTEM_READ, LIGHTS, MATERIALS, SCENE_READ
from callboard_openusd.host import OpenUsdHost
host = OpenUsdHost(lambda fn: None)
host.ports[FILESYSTEM_READ].open(sys.argv[1])
ports = {name: host.ports[name] for name in (LIGHTS, CAMERAS, MATERIALS)}
told = {name: {one: port.get(one) for one in port.names()} for name, port in ports.items()}
read = host.ports[SCENE_READ]
print(json.dumps({"told": told, "places": {path: read.get(path) for path in read.names()}}))
"""


def _state(scene: Scene) -> dict[str, Any]:
    ports = {name: scene.host.ports[name] for name in (LIGHTS, CAMERAS, MATERIALS)}
    told = {name: {one: port.get(one) for one in port.names()} for name, port in ports.items()}
    return {"told": told, "places": {path: scene.read.get(path) for path in scene.read.names()}}


def test_what_was_set_is_in_the_saved_file(tmp_path: Path) -> None:
    scene, saved = Scene(), str(tmp_path / "saved.usda")
    scene.call("scene__create_primitive", {"kind": "cube", "name": "Box"})
    answers = []
    for kind, own in check_lights.KINDS.items():
        (path,) = scene.call("lights__create", {"kind": kind, "name": f"My{kind}"})["created"]
        asked = {"name": path, "color": [1, 0.5, 0.25], "power": 50, **own}
        answers.append(scene.call("lights__set", asked))
    where = {"name": "Hero", "translate": [5, 5, 5]}
    (path,) = scene.call("cameras__create", where)["created"]
    answers.append(scene.call("cameras__set", {"name": path, **check_cameras.VALUES}))
    answers.append(scene.call("cameras__look_at", {"name": path, "target": "Box"}))
    (path,) = scene.call("materials__create", {"name": "Paint"})["created"]
    answers.append(scene.call("materials__set", {"name": path, **check_materials.VALUES}))
    texture = {"slot": "roughness", "path": check_materials.picture(tmp_path)}
    answers.append(scene.call("materials__set_texture", {"name": path, **texture}))
    answers.append(scene.call("materials__assign", {"name": path, "objects": ["Box"]}))
    assert all(answer["verified"] is True for answer in answers)
    before = _state(scene)
    scene.call("scene__save_file", {"path": saved})
    done = subprocess.run(
        [sys.executable, "-c", _READER, saved],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1]) == json.loads(json.dumps(before))
