"""An OpenUSD host and its ports, the files it is tried with, and a look at what it saved by a
process that knows nothing of callboard."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from pxr import Usd

from callboard.content import Json
from callboard.host import FILESYSTEM_READ, SCENE_MUTATE, SCENE_READ, USD
from callboard.testing.direct import DirectCaller
from callboard_openusd.host import OpenUsdHost

HEAD = '#usda 1.0\n(\n    defaultPrim = "World"\n    metersPerUnit = 0.01\n    upAxis = "Y"\n)\n'


class Scene:
    def __init__(self) -> None:
        self.host = OpenUsdHost(lambda fn: None)
        self.read: Any = self.host.ports[SCENE_READ]
        self.edit: Any = self.host.ports[SCENE_MUTATE]
        self.files: Any = self.host.ports[FILESYSTEM_READ]
        self.usd: Any = self.host.ports[USD]
        self.undo: Any = self.host.undo
        self.call = DirectCaller(self.host)

    @property
    def stage(self) -> Usd.Stage:
        return self.host.stage

    def text(self) -> str:
        text: str = self.stage.GetRootLayer().ExportToString()
        return text


def written(folder: Path, name: str, body: str) -> str:
    (folder / name).write_text(body, encoding="utf-8")
    return str(folder / name)


#: Prints what files hold, as a reader without callboard sees it.
_LOOK = """
import json, sys
from pxr import Usd, UsdGeom, UsdShade

def look(path):
    stage, first = Usd.Stage.Open(path), Usd.TimeCode.EarliestTime()
    cache = UsdGeom.XformCache(first)
    boxes = UsdGeom.BBoxCache(first, ["default", "render", "proxy", "guide"], False, True)
    found = {}
    for prim in Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies()):
        if not prim.IsA(UsdGeom.Xformable):
            continue
        box = boxes.ComputeWorldBound(prim).ComputeAlignedRange()
        material = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()[0]
        surface = material.ComputeSurfaceSource()[0] if material else None
        diffuse = surface.GetInput("diffuseColor") if surface else None
        sourced = diffuse and diffuse.HasConnectedSource()
        color = diffuse.Get(first) if diffuse and not sourced else None
        matrix = cache.GetLocalToWorldTransform(prim)
        found[str(prim.GetPath())] = {
            "type": str(prim.GetTypeName()),
            "world": [value for row in range(4) for value in matrix.GetRow(row)],
            "bounds": None if box.IsEmpty() else [*box.GetMin(), *box.GetMax()],
            "color": None if color is None else list(color),
        }
    return found

print(json.dumps([look(path) for path in sys.argv[1:]]))
"""


def as_saved(*paths: str) -> list[dict[str, Json]]:
    """Of each file, every transformable prim by its path, instances' content included: ``{type,
    world, bounds, color}``, read by another process."""
    done = subprocess.run(
        [sys.executable, "-c", _LOOK, *paths],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: list[dict[str, Json]] = json.loads(done.stdout)
    return found
