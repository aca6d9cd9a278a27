"""The whole contents of a USD stage's layers, read with plain ``pxr``, without callboard.

    python benchmarks/corpus_openusd.py FILE

prints the values of each prim and property of the file's layer, as JSON.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from corpus import Refused, changes
from pxr import Sdf, Usd, UsdGeom, UsdLux, UsdShade

#: The purposes of tools: a pattern for their names, and a pattern for the paths that such tools may
#: remove.
MAY = {
    "scene__(delete|rename|set_parent)": "",
    "structure__.*": r".*\.collection:|.* prims$",
    "animation__.*|.*__bake": r".*xformOp",
    "scene__transform|cameras__.*|lights__.*": r".*xformOp",
    "geometry__.*|materials__.*|scene__set_material_color": "",
}


class Contents:
    """Each field of each spec: ``values[layer and path][field]``. ``linked`` are the keys for
    layers that aren't edited."""

    def __init__(self, root: Sdf.Layer, others: Sequence[Sdf.Layer] = ()) -> None:
        self.values: dict[str, dict[str, str]] = {}
        self.linked: set[str] = set()
        self.unused: set[str] = set()
        for number, layer in enumerate([root, *others]):

            def read(path: Sdf.Path, layer: Sdf.Layer = layer, number: int = number) -> None:
                spec = layer.GetObjectAtPath(path)
                if spec is None or path.IsTargetPath():
                    return
                key = f"{number} {path}"
                self.values[key] = {
                    name: str(spec.GetInfo(name))
                    for name in spec.ListInfoKeys()
                    if name not in ("timeSamples", "specifier", "subLayerOffsets")
                }
                if known := Sdf.ValueTypeNames.Find(self.values[key].get("typeName", "")):
                    self.values[key]["typeName"] = str(
                        known
                    )  # The file may use the type's old name.
                if samples := layer.ListTimeSamplesForPath(path):
                    told = [(time, layer.QueryTimeSample(path, time)) for time in samples]
                    self.values[key]["timeSamples"] = str(told)
                if number:
                    self.linked.add(key)

            layer.Traverse(Sdf.Path.absoluteRootPath, read)
        self.names = {key: key.partition(" ")[2] for key in self.values}


class Stage:
    """The file that a trial changes, in this process."""

    def __init__(self, folder: Path) -> None:
        from callboard_openusd.host import OpenUsdHost
        from callboard_testing.direct_calls import DirectCaller

        self._folder = folder
        self.host = OpenUsdHost(lambda fn: None)
        self._call = DirectCaller(self.host)
        self.undo_id: str | None = None
        self._steps: list[str] = []
        made = Usd.Stage.CreateNew(str(folder / "model.usda"))
        made.SetDefaultPrim(UsdGeom.Cube.Define(made, "/Corpus").GetPrim())
        made.Save()

    def open(self, file: str, without: Sequence[str]) -> None:
        self.call("scene__open_file", {"path": file, "discard_changes": True})
        self._steps.clear()
        for path in without:
            self.host.stage.RemovePrim(path)

    def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        from callboard.errors import CallboardBug, CallboardError

        self._call.undo_id = self.undo_id = None
        given = json.loads(json.dumps(arguments).replace("FOLDER", str(self._folder)))
        try:
            answer = self._call(tool, given)
        except CallboardError as error:
            if isinstance(error, CallboardBug) or type(error).__name__ == "NotVerified":
                raise
            raise Refused(str(error)) from None
        self.undo_id = self._call.undo_id
        if self.undo_id is not None:
            self._steps.append(self.undo_id)
        return answer

    def undo(self) -> bool:
        return bool(self.host.undo.undo(self._steps.pop()))

    def contents(self) -> Contents:
        stage = self.host.stage
        root, session = stage.GetRootLayer(), stage.GetSessionLayer()
        others = [layer for layer in stage.GetUsedLayers() if layer not in (root, session)]
        return Contents(root, sorted(others, key=lambda layer: layer.identifier))

    def pools(self) -> dict[str, list[Any]]:
        """Return the values from which arguments are drawn: object names by skill, and values by
        argument (``.argument``) or by tool and argument (``tool.argument``)."""
        stage = self.host.stage
        prims = [prim for prim in stage.Traverse() if prim.IsA(UsdGeom.Xformable)]
        return {
            "objects": [str(prim.GetPath()) for prim in prims],
            "cameras": [str(prim.GetPath()) for prim in prims if prim.IsA(UsdGeom.Camera)],
            "lights": [str(p.GetPath()) for p in prims if p.HasAPI(UsdLux.LightAPI)],
            "geometry": [str(prim.GetPath()) for prim in prims if prim.IsA(UsdGeom.Gprim)],
            "materials": [p.GetName() for p in stage.Traverse() if p.IsA(UsdShade.Material)],
            ".start": [0, 1],
            ".end": [5, 12],
            "exchange__import.path": ["FOLDER/model.usda"],
            "usd__import_usd.path": ["FOLDER/model.usda"],
            "usd__export_usd.path": ["FOLDER/out.usda"],
            "exchange__export.path": ["FOLDER/out.usda", "FOLDER/out.obj"],
            ".folder": ["FOLDER"],
            ".path": ["FOLDER/picture.png"],
        }

    def harm(
        self, tool: str, given: dict[str, Any], answer: Any, before: Contents, after: Contents
    ) -> Iterator[str]:
        """Yield everything that a call changed beyond the tool's purpose."""
        may = [MAY[each] for each in MAY if re.fullmatch(each, tool)]
        for key, field, old, new in changes(before, after):
            if key in before.linked:
                yield f"elsewhere: {key} {field}: {old} -> {new}"
            elif new is None and not any(re.match(each, f"{key} {field}") for each in may):
                yield f"lost: {key} {field}: {old}"

    def save(self, path: str) -> None:
        self.host.stage.GetRootLayer().Export(f"{path}.usda")

    def read_by_another(self) -> Iterator[str]:
        """Save, and yield every place whose value differs when a process without callboard reads
        the file."""
        self.save(str(self._folder / "saved"))
        here = Contents(self.host.stage.GetRootLayer()).values
        done = subprocess.run(
            [sys.executable, __file__, str(self._folder / "saved.usda")],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            yield done.stderr[-1000:]
            return
        there = json.loads(done.stdout.splitlines()[-1])
        for key in here.keys() | there.keys():
            if here.get(key) != there.get(key):
                yield f"{key}: {here.get(key)} here, {there.get(key)} there"


if __name__ == "__main__":
    print("\n" + json.dumps(Contents(Sdf.Layer.FindOrOpen(sys.argv[1])).values))
