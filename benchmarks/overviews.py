"""Checks that ``file__overview`` and ``file__references`` agree with plain ``bpy`` in another
process.

    python benchmarks/overviews.py FOLDER [--files N] [--objects N]

Each .blend file below FOLDER is opened in both processes. callboard's answers about the open file
and about the file on disk are compared with the data that ``bpy`` itself reports. Then a scene of
50,000 objects is made, and the time of both tools and of their longest slice of the main thread is
printed. Prints each difference, and exits with 1 if there was one. Needs the extra ``blender``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import thread_time
from typing import Any

#: Kinds of datablocks that Blender doesn't add when it converts an older file.
SAME_ON_DISK = ("objects", "meshes", "cameras", "lights", "armatures")
#: Seconds for one file.
DEADLINE = 120


def plain(path: str) -> Any:
    import bpy

    bpy.ops.wm.open_mainfile(filepath=path, load_ui=False)
    data = bpy.data
    own = f"{bpy.utils.resource_path('LOCAL')}{os.sep}datafiles"
    named = {os.path.normpath(p) for p in bpy.utils.blend_paths(absolute=True, local=True)}
    named = {each for each in named if each != "." and not each.startswith(own)}
    meshes = (len(o.data.polygons) for o in data.objects if o.type == "MESH")
    kinds = [each.identifier for each in data.bl_rna.properties if each.type == "COLLECTION"]
    held = {kind: getattr(data, kind) for kind in kinds}
    return {
        "counts": {kind: len(each) for kind, each in held.items() if len(each)},
        "own": {k: sum(one.library is None for one in held[k]) for k in SAME_ON_DISK},
        "types": Counter(each.type.lower() for each in data.objects),
        "faces": max(meshes, default=0),
        "scenes": [_scene(each) for each in data.scenes],
        "missing": sorted(each for each in named if not _exists(each)),
        "named": sorted(named),
        "libraries": len(data.libraries),
    }


def _scene(each: Any) -> Any:
    render = each.render
    return {
        "name": each.name,
        "frame_range": [each.frame_start, each.frame_end],
        "fps": round(render.fps / render.fps_base, 3),
        "engine": render.engine,
        "resolution": [render.resolution_x, render.resolution_y, render.resolution_percentage],
        "view_transform": each.view_settings.view_transform,
    }


def _exists(place: str) -> bool:
    file = Path(place)
    many = "<UDIM>" in file.name
    return any(file.parent.glob(file.name.replace("<UDIM>", "*"))) if many else file.exists()


class Ours:
    def __init__(self) -> None:
        from callboard_blender.host import BlenderHost
        from callboard_testing.direct_calls import DirectCaller

        self.host = BlenderHost(lambda fn: None)
        self.call = DirectCaller(self.host)

    def answers(self, path: str) -> Any:
        import bpy

        bpy.ops.wm.open_mainfile(filepath=path, load_ui=False)
        every = {"limit": 2000}
        return {
            "open": self.call("file__overview"),
            "disk": self.call("file__overview", {"path": path}),
            "named": self.call("file__references", every)["files"],
            "named_on_disk": self.call("file__references", {"path": path, **every})["files"],
        }

    def timed(self, tool: str) -> tuple[float, float]:
        """Return the processor time of a call on this thread, and of its longest slice, in seconds.
        The machine's other work doesn't count."""
        begun = at = thread_time()
        longest = 0.0

        def passed(_: object) -> None:
            nonlocal at, longest
            now = thread_time()
            longest, at = max(longest, now - at), now

        self.call(tool, {}, each_slice=passed)
        ended = thread_time()
        return ended - begun, max(longest, ended - at)


def differences(path: str, theirs: Any, ours: Any) -> Iterator[str]:
    here, disk = ours["open"], ours["disk"]
    for what, a, b in (
        ("counts", here["counts"], theirs["counts"]),
        ("types", here["types"], theirs["types"]),
        ("faces", max((e["faces"] for e in here["heaviest"]), default=0), theirs["faces"]),
        ("scenes", [_common(e, theirs["scenes"][0]) for e in here["scenes"]], theirs["scenes"]),
        ("on disk", {k: disk["counts"].get(k, 0) for k in SAME_ON_DISK}, theirs["own"]),
        ("scenes on disk", [e["name"] for e in disk["scenes"]], _names(theirs["scenes"])),
    ):
        if a != b:
            yield f"{what}: ours {a}, bpy {b}"
    for what, files in (("open", ours["named"]), ("disk", ours["named_on_disk"])):
        # In the open file, Blender also names the libraries of its libraries.
        own = [
            e
            for e in files
            if e["state"] != "packed" and ("named_in" not in e or e["kind"] == "library")
        ]
        named = {_place(e["path"], e.get("named_in", path)): e["state"] for e in own}
        absent = set(theirs["named"]).difference(named)
        missing = {each for each in theirs["missing"] if named.get(each) == "found"}
        there = {p for p, state in named.items() if state == "missing" and _exists(p)}
        for why, wrong in (("absent", absent), ("missing", missing), ("found", there)):
            if wrong:
                yield f"references, {what}: {why} {sorted(wrong)[:5]}"


def _names(scenes: Iterable[Any]) -> list[str]:
    return [each["name"] for each in scenes]


def _common(entry: Any, like: Any) -> Any:
    return {key: entry[key] for key in like}


def _place(path: str, file: str) -> str:
    """Return the path that Blender opens for a path in the given file. Outside Windows, a drive
    becomes a folder."""
    if path.startswith("//"):
        path = f"{Path(file).parent}/{path[2:]}".replace("\\", "/")
    elif os.name != "nt" and path[1:2] == ":":
        path = f"/{path[0].lower()}{path[2:]}".replace("\\", "/")
    return os.path.normpath(path)


def _worker(side: str) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    ask = plain if side == "plain" else Ours().answers
    for line in sys.stdin:
        try:
            told = ask(line.strip())
        except Exception as error:
            told = {"failed": repr(error)}
        print(json.dumps(told), file=answers, flush=True)
    os._exit(0)


def _ask(side: str, paths: list[str]) -> dict[str, Any]:
    """Return the answers by file path. A file that makes the process crash has no answer."""
    told: dict[str, Any] = {}
    while paths:
        done = subprocess.run(
            [sys.executable, __file__, "--side", side],
            input="\n".join(paths),
            capture_output=True,
            text=True,
            timeout=DEADLINE * len(paths),
        )
        lines = done.stdout.splitlines()
        told.update(zip(paths, map(json.loads, lines), strict=False))
        paths = paths[len(lines) + 1 :]
    return told


def _large(count: int) -> None:
    import bpy

    ours = Ours()
    bpy.ops.wm.read_homefile(use_empty=True)
    for tool in ("file__overview", "file__references"):
        ours.timed(tool)  # The first call loads the tool's script.
    images = [bpy.data.images.new(f"i{n}", 1, 1) for n in range(100)]
    meshes = []
    for n, image in enumerate(images):
        image.source, image.filepath = "FILE", f"//t{n}.png"
        material = bpy.data.materials.new(f"m{n}")
        material.use_nodes = True
        material.node_tree.nodes.new("ShaderNodeTexImage").image = image
        meshes.append(bpy.data.meshes.new(f"d{n}"))
        meshes[-1].from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
        meshes[-1].materials.append(material)
    for n in range(count):
        obj = bpy.data.objects.new(f"o{n}", meshes[n % 100])
        bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.update()
    for tool in ("file__overview", "file__references"):
        for _ in range(2):
            whole, longest = ours.timed(tool)
            print(f"{count} objects, {tool}: {whole:.3f} s, longest slice {longest * 1000:.1f} ms")
    sys.stdout.flush()
    os._exit(0)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", nargs="?")
    options.add_argument("--files", type=int, default=60)
    options.add_argument("--objects", type=int, default=50_000)
    options.add_argument("--side", choices=["plain", "ours", "large"])
    chosen = options.parse_args()
    if chosen.side == "large":
        _large(chosen.objects)
    elif chosen.side:
        _worker(chosen.side)
    if chosen.folder is None:
        options.error("name a folder with .blend files")
    paths = sorted(str(each.resolve()) for each in Path(chosen.folder).rglob("*.blend"))
    step = max(1, len(paths) // chosen.files)
    paths = paths[::step][: chosen.files]
    theirs, ours = _ask("plain", paths), _ask("ours", paths)
    agreeing = wrong = 0
    for path in paths:
        if "failed" in theirs.get(path, {"failed": ""}):
            print(f"{path}: bpy can't open it")
            continue
        if "failed" in ours.get(path, {"failed": "the process died"}):
            problems = [str(ours.get(path))]
        else:
            problems = list(differences(path, theirs[path], ours[path]))
        for each in problems:
            print(f"{path}: {each}")
        wrong, agreeing = wrong + bool(problems), agreeing + (not problems)
    print(f"{agreeing} files agree, {wrong} don't", flush=True)
    large = [sys.executable, __file__, "--side", "large", "--objects", str(chosen.objects)]
    subprocess.run(large, check=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
