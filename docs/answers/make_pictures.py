"""Makes the pictures in this folder: the overview of a file and the answer to a checklist, as a
client shows them to a person, from the answers of the tools in a Blender without a window.

    python docs/answers/make_pictures.py

Needs the extra ``blender``, and Chromium.
"""

from __future__ import annotations

import html
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
for source in ("core", "hosts"):
    sys.path.insert(0, str(PROJECT / source))

from callboard_blender.host import BlenderHost  # noqa: E402
from callboard_testing.direct_calls import DirectCaller  # noqa: E402

HERE = Path(__file__).resolve().parent
RULES = ["open_edges", "no_material", "absolute_paths"]
PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; padding: 18px; font: 14px/1.45 "DejaVu Sans", sans-serif; color: #22252a;
  background: #fff; }}
.asked {{ margin: 0 0 14px auto; width: fit-content; max-width: 80%; padding: 8px 14px;
  border-radius: 14px; background: #e8eef7; }}
.called {{ margin: 0 0 10px; font: 12px "DejaVu Sans Mono", monospace; color: #56606c; }}
table {{ border-collapse: collapse; width: 100%; }}
td, th {{ padding: 4px 10px 4px 0; border-bottom: 1px solid #e3e6ea; text-align: left;
  vertical-align: top; }}
th {{ color: #56606c; font-weight: normal; white-space: nowrap; }}
code {{ font: 12px "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }}
</style><p class="asked">{asked}</p><p class="called">{called}</p><table>{rows}</table>"""


def made(folder: Path) -> DirectCaller:
    """Return a caller for a file as artists inherit them."""
    import bpy

    call = DirectCaller(BlenderHost(lambda fn: None))
    bpy.ops.wm.read_homefile(use_empty=True)
    # Saving for the first time makes paths relative.
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "yard.blend"))
    for name, kind, at in (
        ("Crate", "cube", [0, 0, 1]),
        ("Barrel", "cylinder", [3, 0, 1]),
        ("Lantern", "sphere", [6, 0, 1]),
        ("Wagon", "cube", [9, 0, 1]),
    ):
        call("scene__create_primitive", {"kind": kind, "name": name, "translate": at})
    for name, objects in (("Wood", ["Crate", "Barrel"]), ("Dirt", ["Wagon"])):
        call("materials__create", {"name": name, "objects": objects})
    for material, path in (("Wood", "//tex/wood.png"), ("Dirt", "/srv/old_job/dirt.png")):
        image = bpy.data.images.new(Path(path).name, 4, 4)
        image.source, image.filepath = "FILE", path
        tree = bpy.data.materials[material].node_tree
        tree.nodes.new("ShaderNodeTexImage").image = image
    faces = bpy.data.objects["Barrel"].data
    import bmesh

    building = bmesh.new()
    building.from_mesh(faces)
    building.faces.ensure_lookup_table()
    bmesh.ops.delete(building, geom=[building.faces[-1]], context="FACES_ONLY")
    building.to_mesh(faces)
    call("cameras__create", {"name": "Shot"})
    call("lights__create", {"kind": "sun", "name": "Sun"})
    call("cameras__set_resolution", {"width": 1280, "height": 720})
    call("animation__set_timeline", {"start": 1, "end": 48})
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(folder / "yard.blend"))
    return call


def overview(answer: Any) -> Iterable[tuple[str, str]]:
    (scene,) = answer["scenes"]
    first, last = scene["frame_range"]
    wide, high, percent = scene["resolution"]
    kinds = ("objects", "meshes", "materials", "images", "cameras", "lights")
    yield "File", f"{Path(answer['file']).name}, Blender {answer['version']}"
    guess = answer["purpose"][0]
    yield "Probably", guess["guess"]
    held = {each: answer["counts"].get(each, 0) for each in kinds}
    yield "Holds", ", ".join(f"{n} {each if n > 1 else each[:-1]}" for each, n in held.items())
    yield (
        "Scene",
        f"frames {first} to {last} at {scene['fps']:g} a second, {wide} × {high} at {percent} %, "
        f"{scene['engine']}, {scene['view_transform']}",
    )
    heaviest = (f"{each['name']} {each['faces']:,} faces" for each in answer["heaviest"][:3])
    yield "Heaviest", ", ".join(heaviest)
    yield "Missing files", str(answer["missing"])


def checklist(answer: Any) -> Iterable[tuple[str, str]]:
    fixes = {each["object"]: each["fix"] for each in answer["findings"] if each.get("fix")}
    why: dict[str, list[str]] = {}
    for each in answer["findings"]:
        why.setdefault(each["object"], []).append(f"{each['rule']}: {each['why']}")
    for name, reasons in why.items():
        text = "<br>".join(map(html.escape, reasons))
        if fix := fixes.get(name):
            text += f"<br>fixed by <code>{html.escape(fix['tool'])}</code>"
        yield name, text
    yield "To select", ", ".join(answer["objects"])


def page(asked: str, called: str, rows: Iterable[tuple[str, str]]) -> str:
    cells = "".join(f"<tr><th>{html.escape(name)}</th><td>{text}</td></tr>" for name, text in rows)
    return PAGE.format(asked=html.escape(asked), called=html.escape(called), rows=cells)


def save(name: str, content: str, height: int, folder: Path) -> None:
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        raise SystemExit("this program needs Chromium")
    (folder / "page.html").write_text(content, "utf-8")
    options: Sequence[str] = (
        *("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
        *(f"--user-data-dir={folder / 'profile'}", f"--window-size=760,{height}"),
        *(f"--screenshot={HERE / name}.png", (folder / "page.html").as_uri()),
    )
    subprocess.run([program, *options], check=True, capture_output=True, timeout=120)


def main() -> None:
    with tempfile.TemporaryDirectory() as made_in:
        folder = Path(made_in)
        call = made(folder)
        told = call("file__overview")
        asked = "What is in this file, and what is it for?"
        save("overview", page(asked, "file__overview {}", overview(told)), 290, folder)
        found = call("check__run", {"rules": RULES})
        asked = (
            "Check every object: meshes are closed, all have a material, and no texture has an"
            " absolute path. Which fail?"
        )
        named = ", ".join(f'"{rule}"' for rule in RULES)
        called = f'check__run {{"rules": [{named}]}}'
        save("checklist", page(asked, called, checklist(found)), 262, folder)
        for name in ("overview", "checklist"):
            print(f"{name}.png: {(HERE / f'{name}.png').stat().st_size:,} bytes")
        sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
