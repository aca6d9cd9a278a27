"""Tests scenes like those of a studio, case by case, in one headless Blender process.

Run as ``python blender_scenes.py FOLDER``; prints a JSON object for each case. The cases are the
functions of the modules named in ``MODULES`` whose names begin with ``test_``. Each gets a
:class:`Rig` with an empty scene.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

MODULES = (
    "blender_scenes_names",
    "blender_scenes_places",
    "blender_scenes_turned",
    "blender_scenes_motion",
    "blender_scenes_output",
    "blender_scenes_looks",
    "blender_scenes_values",
    "blender_scenes_checks",
    "blender_scenes_file",
    "blender_scenes_exchange",
    "blender_scenes_geometry",
    "blender_scenes_undo",
    "blender_scenes_assets",
    "blender_scenes_tidying",
    "blender_scenes_several",
    "blender_scenes_repairs",
    "blender_scenes_nodes",
    "blender_scenes_settings",
    "blender_scenes_handover",
    "blender_scenes_curves",
    "blender_scenes_instances",
    "blender_scenes_datablocks",
    "blender_scenes_compared",
)

Case = Callable[["Rig"], None]

#: The content of a saved file, as another process reads it.
_READER = """
import json, sys
import bpy
from callboard.host import SCENE_READ, ANIMATION
from callboard_blender.host import BlenderHost
from callboard_blender.application.names import find
host = BlenderHost(lambda fn: None)
read = host.ports[SCENE_READ]
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
found = {path: read.get(path) for path in read.names()}
for path, each in found.items():
    each["keys"] = host.ports[ANIMATION].keys(path)
    obj = find(path)
    each["modifiers"] = [one.name for one in obj.modifiers]
    each["selected"] = obj.select_get()
    faces = obj.data.polygons if obj.type == "MESH" else []
    each["faces"], each["smooth"] = len(faces), any(face.use_smooth for face in faces)
    each["timeline"] = host.ports[ANIMATION].timeline()
    for kind in ("lights", "cameras"):
        if path in host.ports[kind].names():
            each[kind] = host.ports[kind].get(path)
    each["materials"] = {
        one: host.ports["materials"].get(one)
        for one in (slot.material.name for slot in obj.material_slots if slot.material)
    }
open(sys.argv[2], "w").write(json.dumps(found))
host.leave(0)
"""


class Rig:
    """The tools that a case uses."""

    def __init__(self, host: Any, folder: Path) -> None:
        from callboard_testing.direct_calls import DirectCaller

        self.host = host
        self.folder = folder
        self.call = DirectCaller(host)

    def port(self, capability: str) -> Any:
        return self.host.ports[capability]

    @property
    def read(self) -> Any:
        return self.port("scene.read")

    @property
    def edit(self) -> Any:
        return self.port("scene.mutate")

    def tool(self, called: str, /, **arguments: Any) -> Any:
        return self.call(called, arguments)

    def cube(self, name: str, **place: Any) -> Any:
        """Create a cube, and return its Blender object."""
        import bpy

        path = self.tool("scene__create_primitive", kind="cube", name=name, **place)["object"]
        return bpy.data.objects[path["path"]]

    def library(self, name: str, make: Callable[[], None]) -> str:
        """Save a file with the objects that ``make`` makes, and return its path. The scene is empty
        again afterwards."""
        import bpy

        make()
        path = str(self.folder / name)
        bpy.ops.wm.save_as_mainfile(filepath=path, check_existing=False)
        empty()
        return path

    def reopened(self) -> dict[str, Any]:
        """Save the file. Return the objects that another process reads from it, keyed by path."""
        saved = self.tool("scene__save_file", path=str(self.folder / "saved.blend"))["path"]
        answer = self.folder / "answer.json"
        subprocess.run(
            [sys.executable, "-c", _READER, saved, str(answer)],
            check=True,
            timeout=90,
            stdout=subprocess.DEVNULL,
        )
        objects: dict[str, Any] = json.loads(answer.read_text())
        return objects


def armature(name: str, *bones: str, tail: Sequence[float] = (0, 0, 1)) -> Any:
    """Return a new armature in the shown scene, whose bones go from its origin to ``tail``."""
    import bpy

    obj = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(obj)
    add_bones(obj, *bones, tail=tail)
    return obj


def add_bones(obj: Any, *bones: str, tail: Sequence[float] = (0, 0, 1)) -> None:
    """Give an armature of the shown scene bones from its origin to ``tail``."""
    import bpy

    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in bones:
        obj.data.edit_bones.new(bone).tail = tail
    bpy.ops.object.mode_set(mode="OBJECT")


def refused(do: Callable[[], object]) -> str:
    """Return the reason why the host or the tool refuses."""
    from callboard.errors import HostError, WrongArgument

    try:
        do()
    except (HostError, WrongArgument) as error:
        return str(error)
    raise AssertionError("the host did not refuse")


def near(a: Any, b: Any, tolerance: float = 1e-3) -> bool:
    return len(a) == len(b) and all(
        abs(x - y) <= tolerance * max(1, abs(x)) for x, y in zip(a, b, strict=True)
    )


def empty() -> None:
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True)


def cases() -> Iterator[tuple[str, Case]]:
    for module in MODULES:
        # A warning adds a name to its module, so a copy of the names is read.
        for name, function in list(vars(importlib.import_module(f"hosts.{module}")).items()):
            if name.startswith("test_"):
                yield name, function


def main(folder: Path, only: str) -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    from callboard_blender.host import BlenderHost

    for number, (name, case) in enumerate(cases()):
        if only not in f"{case.__module__}.{name}":
            continue
        why = ""
        empty()
        own = folder / str(number)
        own.mkdir()
        host = BlenderHost(lambda fn: None)
        try:
            case(Rig(host, own))
        except Exception:
            why = traceback.format_exc()
        finally:
            host.close()
        print(json.dumps({"name": name, "why": why}), file=answers, flush=True)
    host.leave(0)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    main(Path(sys.argv[1]), "".join(sys.argv[2:]))
