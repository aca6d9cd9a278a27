"""Makes .blend files that name other files. Run it in a separate process, as ``leading_blends.py
ROOT``. Files outside the root are saved in the folder ``out`` next to it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import bpy

ROOT = Path(sys.argv[1])
OUT = ROOT.parent / "out"


def empty() -> Any:
    bpy.ops.wm.read_factory_settings(use_empty=False)
    return bpy.context.scene


def save(path: Path, **options: Any) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, **options)


def link(library: Path, relative: bool) -> None:
    with bpy.data.libraries.load(str(library), link=True, relative=relative) as (there, wanted):
        wanted.objects = list(there.objects)[:1]
    bpy.context.scene.collection.objects.link(wanted.objects[0])


def library(at: Path) -> Path:
    empty()
    bpy.context.object.name = "TopSecret"
    save(at)
    return at


def linking(name: str, library: Path, **options: Any) -> None:
    """Save two files: one links by an absolute path, the other by a path relative to the file."""
    for relative in (False, True):
        empty()
        path = ROOT / (f"relative-{name}" if relative else name)
        # Relative paths begin at the saved file.
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
        link(library, relative)
        save(path, relative_remap=False, **options)


def textured(name: str, image: Path, packed: bool = False) -> None:
    empty()
    made = bpy.data.images.load(str(image))
    made.use_fake_user = True
    if packed:
        made.pack()
    save(ROOT / name, relative_remap=False)


def with_output(name: str, *folders: str) -> None:
    scene = empty()
    scene.render.engine = "CYCLES"
    tree = compositing(scene)
    layers = tree.nodes.new("CompositorNodeRLayers")
    for number, folder in enumerate(folders):
        node = tree.nodes.new("CompositorNodeOutputFile")
        node.label = f"output {number}"
        if hasattr(node, "directory"):
            node.directory, node.file_name = folder, "Image"
            node.format.media_type, node.format.file_format = "IMAGE", "PNG"
            node.file_output_items.new("RGBA", "")
        else:
            node.base_path = folder
        tree.links.new(layers.outputs[0], node.inputs[0])
    save(ROOT / name)


def compositing(scene: Any) -> Any:
    """Return the scene's nodes, which have been a group since 5.0."""
    if hasattr(scene, "compositing_node_group"):
        scene.compositing_node_group = bpy.data.node_groups.new("output", "CompositorNodeTree")
        return scene.compositing_node_group
    scene.use_nodes = True
    return scene.node_tree


secret = library(OUT / "secret.blend")
inside = library(ROOT / "inside.blend")
picture = bpy.data.images.new("TopSecret", 4, 4)
for folder in (OUT, ROOT):
    picture.filepath_raw, picture.file_format = str(folder / "picture.png"), "PNG"
    picture.save()

linking("out-linked.blend", secret)
linking("out-packed-up.blend", secret, compress=True)
linking("out-through.blend", ROOT / "out-linked.blend")
linking("out-by-link.blend", ROOT / "link" / "secret.blend")
linking("in-linked.blend", inside)
linking("in-packed-up.blend", inside, compress=True)
textured("out-textured.blend", OUT / "picture.png")
textured("in-textured.blend", ROOT / "picture.png")
textured("in-packed.blend", OUT / "picture.png", packed=True)
# The first picture of a sequence, and the first tile of a texture. One later picture and one later
# tile lead out of the root.
for first, other in (("seq0001.png", "seq0002.png"), ("tile.1001.png", "tile.1002.png")):
    (ROOT / first).write_bytes((ROOT / "picture.png").read_bytes())
    (ROOT / other).symlink_to(OUT / "picture.png")
textured("out-sequence.blend", ROOT / "seq0001.png")
textured("out-tiles.blend", ROOT / "tile.1001.png")
with_output("in-outputs.blend", str(OUT), "//../out/", "//inside/", "//link/deep/")

sequenced = empty()
editor = sequenced.sequence_editor_create()
strips = editor.strips if hasattr(editor, "strips") else editor.sequences
strips.new_image("x", str(OUT / "picture.png"), 1, 1)
save(ROOT / "out-sequenced.blend", relative_remap=False)
