"""Changes to datablocks that aren't objects: their names, their replacements, and the files that
they name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import bpy

from callboard.errors import HostError, WrongArgument
from callboard.host import nearest_names, refuse_outside
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.names import forget, scene, view_layer
from callboard_blender.application.unique_names import refuse_miscounted
from callboard_blender.parts.curves import drivers_of

#: The collections of ``bpy.data`` whose datablocks name files, with the kind of file.
NAMING = {
    "libraries": "library",
    "images": "image",
    "sounds": "sound",
    "fonts": "font",
    "cache_files": "cache",
    "volumes": "volume",
    "movieclips": "movie",
}
#: Collections whose datablocks belong to Blender's window, or don't have their own names.
_NOT_NAMED = ("window_managers", "screens", "libraries", "shape_keys")

#: A name that Blender made from another one that was taken.
NUMBERED = re.compile(r"(.+)\.\d{3,}")


class DataBlocks:
    def __init__(self, changes: SceneChanges) -> None:
        self._changes = changes

    def of(self, kind: str) -> Any:
        """Return the collection of ``bpy.data`` with that name. Raises WrongArgument if there is
        none."""
        kinds = dict(collections())
        if kind not in kinds or kind in _NOT_NAMED:
            known = sorted(set(kinds).difference(_NOT_NAMED))
            raise WrongArgument(f"there is no kind '{kind}'; the kinds are {', '.join(known)}")
        return kinds[kind]

    def find(self, kind: str, name: str) -> Any:
        data = self.of(kind)
        named = [each for each in data if each.name_full == name]
        named = named or [each for each in data if each.name == name]
        if len(named) > 1:
            raise HostError(
                f"several {kind} have the name '{name}': {', '.join(o.name_full for o in named)}"
            )
        if not named:
            there = [each.name_full for each in data]
            shown = nearest_names(name, there) or there[:5]
            some = f"some of them are {', '.join(shown)}" if shown else "there are none"
            raise HostError(f"there is no '{name}' among the {kind}; {some}")
        return named[0]

    def matching(self, kind: str, name: str) -> list[Any]:
        """Return the datablock with that name or, if there is none, those that fit the name as a
        pattern. Raises HostError if there are none either."""
        data = self.of(kind)
        exact = [each for each in data if each.name_full == name]
        fitting = exact or [each for each in data if fnmatchcase(each.name_full, name)]
        return fitting or [self.find(kind, name)]

    def original(self, kind: str, block: Any) -> Any:
        """Return the datablock of the same library with the block's name, but without its number,
        as Metal is for Metal.001, or None."""
        name, library = block.name, block.library.filepath if block.library else None
        while match := NUMBERED.fullmatch(name):
            name = match[1]
            if (original := self.of(kind).get((name, library))) is not None:
                return original
        return None

    def rename(self, kind: str, name: str, new_name: str) -> str:
        if kind == "objects":
            raise WrongArgument("rename objects with scene__rename")
        block = self.find(kind, name)
        _refuse_linked(block)
        taken = self.of(kind).get((new_name, None))
        if taken not in (None, block):
            raise HostError(f"'{new_name}' is taken; use another name, or blender_data__replace")
        refuse_miscounted(new_name)
        self._changes.touch()
        block.name = new_name
        forget()
        return str(block.name_full)

    def replace(self, kind: str, by: Mapping[str, str]) -> tuple[list[str], list[str]]:
        """Wherever the datablocks that are the keys of ``by`` are used, use those that it names
        instead. Then remove the replaced datablocks that belong to this file. Return their names,
        and the names of what used them."""
        kept = {self.find(kind, name): self.find(kind, other) for name, other in by.items()}
        for each, other in kept.items():
            if other in kept:
                raise WrongArgument(f"'{other.name_full}' can't replace itself")
            if kind == "node_groups":
                _refuse_group(each, other)
        using = bpy.data.user_map(subset=set(kept))
        users = {one for each in using.values() for one in each} - kept.keys()
        self._changes.touch()
        for each, other in kept.items():
            each.user_remap(other)
        still = bpy.data.user_map(subset=set(kept))
        for each in kept:
            if left := still.get(each):
                who = ", ".join(sorted(one.name_full for one in left)[:5])
                raise HostError(
                    f"'{each.name_full}' is still used by {who}, which is in another file"
                )
        now = bpy.data.user_map(subset=set(kept.values()))
        changed = sorted({one.name_full for each in now.values() for one in users & each})
        removed = [each for each in kept if each.library is None]
        gone = [each.name_full for each in removed]
        bpy.data.batch_remove(removed)
        self._changed()
        return gone, changed

    def set_file(self, path: str, to: str | None) -> tuple[list[str], str]:
        """Replace this path with ``to`` wherever a datablock names it. If ``to`` is None, make the
        path relative to the open file. Return the names of the changed datablocks, and the new
        path."""
        naming = [
            each
            for kind in NAMING
            for each in getattr(bpy.data, kind)
            if each.library is None and each.filepath == path
        ]
        if not naming:
            raise HostError(f"nothing in this file names '{path}'; see file__references")
        if to is not None and any(isinstance(each, bpy.types.Library) for each in naming):
            raise HostError("relocate a linked library in Blender's outliner instead")
        wanted = _relative(bpy.path.abspath(path)) if to is None else to
        if to is not None:
            refuse_outside([to], to, "used")
            if (path.startswith("//") and bpy.data.filepath) or _is_below_file(to):
                wanted = _relative(to)
        self._changes.touch()
        for each in naming:
            each.filepath = wanted
            if each.filepath != wanted:
                raise HostError(f"Blender changed '{wanted}' to '{each.filepath}'")
        self._changed()
        return [each.name_full for each in naming], wanted

    def show_scene(self, name: str) -> str:
        """Show the scene in the artist's window, so that all tools read and change that scene.
        Return the full name of the scene shown before. An undo shows that one again."""
        wanted, before = self.find("scenes", name), str(scene().name_full)
        windows = bpy.context.window_manager.windows
        window = bpy.context.window or next(iter(windows), None)
        if window is None:
            raise HostError("this Blender has no window that could show another scene")
        if wanted != scene():
            self._changes.touch()
            window.scene = wanted
            self._changed()
        return before

    def set_output(self, path: str) -> str:
        """Set where the shown scene's renders are saved. Return the path as Blender keeps it, which
        is relative if it is in the open file's folder or below."""
        render = scene().render
        wanted = _relative(path) if _is_below_file(path) else path
        self._changes.touch()
        render.filepath = wanted
        if render.filepath != wanted:
            raise HostError(f"Blender changed '{wanted}' to '{render.filepath}'")
        return wanted

    def _changed(self) -> None:
        view_layer().update()
        forget()


def collections() -> Iterator[tuple[str, Any]]:
    """Yield the collections of ``bpy.data``, with their names."""
    for prop in bpy.data.bl_rna.properties:
        # In Blender 5.2, `all_ids` has all datablocks again.
        if prop.type == "COLLECTION" and prop.fixed_type.identifier != "ID":
            yield prop.identifier, getattr(bpy.data, prop.identifier)


def kind_named(kind: str) -> str:
    """Return the name of the collection of ``bpy.data`` that is meant, such as ``meshes`` for
    ``mesh``. What names none stays as it is."""
    known = dict(collections())
    word = kind.strip().lower().replace(" ", "_")
    return next((each for each in (word, f"{word}s", f"{word}es") if each in known), kind)


def full_names(name: str) -> list[str]:
    """Return the full names of the file's data with that full or bare name, of any kind. Of each
    kind, the full name comes before a bare one of linked data, and the exact spelling before other
    letters. Raises HostError when nothing has the name, or data of one kind in several libraries.
    """
    kinds = [data for _, data in collections()]
    # The full name of linked data ends with its library's. Looking up the bare one is quick.
    bare = {name, name.rpartition(" [")[0]}
    holding = [data for data in kinds if any(each and data.get(each) for each in bare)]
    named: set[str] = set()
    for data in holding or kinds:
        known = {each.name_full: each.name for each in data}
        fitting = [name] if name in known else [full for full in known if known[full] == name]
        if not (holding or fitting):
            fitting = [full for full in known if _same(name, full, known[full])]
        if len(fitting) > 1:
            raise HostError(f"'{name}' names several: {', '.join(fitting)}; use a full name")
        named.update(fitting)
    if not named:
        every = (each.name for data in kinds for each in data)
        near = ", ".join(nearest_names(name.partition(" [")[0], every))
        raise HostError(f"nothing in this file is named '{name}'; nearest: {near}")
    return sorted(named)


def _same(name: str, *others: str) -> bool:
    return name.casefold() in map(str.casefold, others)


def drivers() -> Iterator[tuple[Any, Any] | None]:
    """Yield each driver of the file with its datablock, and None after each datablock."""
    for _, data in collections():
        for block in [*data]:
            with suppress(ReferenceError):  # The datablock may have been removed by now.
                for each in (block, getattr(block, "node_tree", None)):
                    yield from ((curve, block) for curve in drivers_of(each))
            yield None


def _refuse_linked(block: bpy.types.ID) -> None:
    if block.library is not None:
        raise HostError(f"'{block.name_full}' is linked from another file; rename it there")


def _refuse_group(each: Any, by: Any) -> None:
    """Raise HostError if one node group can't replace another."""
    if each.bl_idname != by.bl_idname:
        raise HostError(f"'{each.name}' and '{by.name}' are node groups of different kinds")
    if each in nested(by):
        raise HostError(f"'{each.name}' is inside '{by.name}', so '{by.name}' can't replace it")


def nested(tree: Any) -> set[Any]:
    """Return the node groups inside a node tree, at any depth."""
    waiting, seen = [tree], set()
    while waiting:
        for node in waiting.pop().nodes:
            inner = getattr(node, "node_tree", None)
            if inner is not None and inner not in seen:
                seen.add(inner)
                waiting.append(inner)
    return seen


def _is_below_file(place: str) -> bool:
    """Return whether the path is in the open file's folder, or below it."""
    file = bpy.data.filepath
    return bool(file) and Path(place).is_relative_to(Path(file).parent)


def _relative(place: str) -> str:
    if not bpy.data.filepath:
        raise HostError("save this file first: a path is relative to its folder")
    try:
        return str(bpy.path.relpath(os.path.normpath(place)))
    except ValueError as error:
        raise HostError(f"'{place}' can't be relative to this file: {error}") from None
