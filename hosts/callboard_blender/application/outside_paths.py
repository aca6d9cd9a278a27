"""Finds files outside a call's roots that the open scene would read or write, for calls that are
restricted to their roots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import bpy

from callboard.host import beginning, held_to_roots, of_many, outside, refuse_outside
from callboard_blender.application.blend_named import is_own
from callboard_blender.application.names import scene


def own_folders() -> list[str]:
    """Return the folders of files that come with Blender."""
    folders = (bpy.utils.resource_path(kind) for kind in ("LOCAL", "SYSTEM"))
    return [str(Path(each, "datafiles")) for each in folders if each]


def refuse_used_outside(done: str) -> None:
    """Raise HostError when the scene uses a file that the call may not read. ``done`` is the verb
    in the error's text, such as ``rendered``. Files packed into the scene aren't read."""
    if not held_to_roots():
        return
    own = own_folders()
    used = bpy.utils.blend_paths(absolute=True, packed=False, local=False)
    reads = [path for path in used if path and not is_own(path, own)]
    reads = [each for path in reads for each in of_many(path, sequences=True)]
    refuse_outside(reads, bpy.path.basename(bpy.data.filepath) or "the scene", done)


@contextmanager
def outputs_inside() -> Iterator[list[str]]:
    """Mute the nodes that would write outside the roots during compositing, and yield their names.
    Unmute the nodes afterwards."""
    muted = outputs_outside()
    try:
        for node in muted:
            node.mute = True
        yield [node.label or node.name for node in muted]
    finally:
        for node in muted:
            node.mute = False


def outputs_outside() -> list[Any]:
    """Return the nodes that would write outside the roots during compositing."""
    return [node for node in _writing() if not node.mute and _leaves(node)]


def _writing() -> Sequence[Any]:
    """Return the File Output nodes of the scene, including nodes in groups, or none if this call
    isn't restricted to its roots."""
    shown: Any = scene()
    if not held_to_roots():
        return ()
    if hasattr(shown, "compositing_node_group"):  # This exists in 5.0 and later.
        tree = shown.compositing_node_group
    else:
        tree = shown.node_tree if shown.use_nodes else None
    waiting, seen, writers = [tree], set(), []
    while waiting:
        tree = waiting.pop()
        if tree is None or tree in seen:
            continue
        seen.add(tree)
        writers += [node for node in tree.nodes if node.type == "OUTPUT_FILE"]
        waiting += [node.node_tree for node in tree.nodes if node.type == "GROUP"]
    return writers


def _leaves(node: Any) -> bool:
    starts = _starts(node)
    if any("{" in start for start in starts):
        return True  # Blender 5 fills in placeholders only when it writes.
    # If a link has the name of a numbered file, Blender writes to the link's target.
    there = (beginning(start.split("#", 1)[0]) for start in starts)
    return bool(outside([*starts, *chain.from_iterable(there)], write=True))


def _starts(node: Any) -> list[str]:
    """Return the beginning of each path that the node writes to. Blender adds a number and a
    suffix."""
    since_5 = hasattr(node, "directory")
    # Without a folder, Blender writes to the working folder.
    folder = Path(bpy.path.abspath(node.directory if since_5 else node.base_path)).absolute()
    if since_5:
        names = [node.file_name, *(node.file_name + item.name for item in node.file_output_items)]
    elif node.format.file_format == "OPEN_EXR_MULTILAYER":
        return [str(folder)]
    else:
        names = [slot.path for slot in node.file_slots]
    return [f"{folder}/{name}" for name in names]
