"""An OpenUSD host and its ports, test files, and a reader of saved files in a process without
callboard."""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from pxr import Usd, UsdGeom

from callboard.content import Json
from callboard.host import FILESYSTEM_READ, SCENE_MUTATE, SCENE_READ, USD
from callboard_openusd.host import OpenUsdHost
from callboard_testing.checks.samples import LAYERED, LOCKED, OBJECT, REFERENCED
from callboard_testing.compliance import Bench
from callboard_testing.direct_calls import DirectCaller

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


def _opened(bench: Bench, name: str, files: dict[str, str], path: str) -> str:
    for file, body in files.items():
        written(bench.folder, file, body)
    with bench.step():
        bench.port(FILESYSTEM_READ).open(str(bench.folder / name))
    return path


def _capsule(bench: Bench) -> str:
    """Define a capsule, which isn't one of callboard's primitives."""
    prim = UsdGeom.Capsule.Define(bench.host.stage, f"/Capsule{len(bench.reader.names())}")
    return str(prim.GetPath())


_PROP = (
    '#usda 1.0\n(\n    defaultPrim = "Prop"\n)\ndef Xform "Prop"\n{\n    def Cube "Box"\n    {\n'
    "    }\n}\n"
)
_SHOT = HEAD + (
    'def Xform "World"\n{\n    def "Prop" (\n        instanceable = %s\n'
    "        references = @prop.usda@\n    )\n    {\n    }\n}\n"
)
_LAYERS = {
    "hat.usda": '#usda 1.0\nover "World"\n{\n    over "Hero"\n    {\n        def Cube "Hat"\n'
    "        {\n        }\n    }\n}\n",
    "hero.usda": HEAD.replace("(\n", "(\n    subLayers = [@hat.usda@]\n", 1)
    + 'def Xform "World"\n{\n    def Xform "Hero"\n    {\n        def Sphere "Body"\n'
    "        {\n        }\n    }\n}\n",
}
#: The samples for the compliance suite.
SAMPLES: dict[str, Callable[[Bench], str]] = {
    LOCKED: lambda bench: _opened(
        bench,
        "set.usda",
        {"prop.usda": _PROP, "set.usda": _SHOT % "true"},
        "/World/Prop/Box",
    ),
    REFERENCED: lambda bench: _opened(
        bench, "shot.usda", {"prop.usda": _PROP, "shot.usda": _SHOT % "false"}, "/World/Prop"
    ),
    LAYERED: lambda bench: _opened(bench, "hero.usda", _LAYERS, "/World/Hero"),
    OBJECT: _capsule,
}

#: Prints the content of the files that each line names, as a reader without callboard sees it.
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

for line in sys.stdin:
    print(json.dumps([look(path) for path in json.loads(line)]), flush=True)
"""


@cache
def _reader() -> subprocess.Popen[str]:
    """Return the process that reads the files of every test. A single process is used, because
    importing OpenUSD takes longer than reading."""
    reader = subprocess.Popen(
        [sys.executable, "-c", _LOOK],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(reader.communicate)
    return reader


def as_saved(*paths: str) -> list[dict[str, Json]]:
    """Return, for each file, every transformable prim by path, as read by another process. Each
    is ``{type, world, bounds, color}``. The contents of instances are included."""
    reader = _reader()
    assert reader.stdin is not None
    assert reader.stdout is not None
    print(json.dumps(paths), file=reader.stdin, flush=True)
    files_read: list[dict[str, Json]] = json.loads(reader.stdout.readline())
    return files_read
