"""Packs files into the open file, writes them out again, and makes paths relative or absolute."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import bpy

from callboard.errors import HostError
from callboard.host import Json, outside, refuse_outside
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.names import forget, view_layer
from callboard_blender.parts.data_blocks import NAMING

#: The kinds of data whose files can be packed, with the folder that Blender unpacks them to.
_FOLDERS = {"images": "textures", "fonts": "fonts", "sounds": "sounds"}


class PackedFiles:
    def __init__(self, changes: SceneChanges) -> None:
        self._changes = changes

    def pack(self, names: Sequence[str]) -> tuple[list[Any], list[Json]]:
        """Pack the files of these images, fonts and sounds, or of all. Return the datablocks, and
        ``{name, path, why}`` for each whose file can't be packed."""
        chosen = [(each, _place(each)) for _, each in _naming(names) if not _packed(each)]
        refused = [
            {"name": each.name_full, "path": each.filepath, "why": why}
            for each, place in chosen
            if (why := _why_not(each, place))
        ]
        fitting = [(each, place) for each, place in chosen if not _why_not(each, place)]
        refuse_outside([place for _, place in fitting], "this file", "packed")
        if fitting:
            self._changes.touch()
        for each, _ in fitting:
            try:
                each.pack()
            except RuntimeError as error:
                raise HostError(f"Blender can't pack '{each.name_full}': {error}") from None
            if not _packed(each):
                raise HostError(f"Blender didn't pack '{each.name_full}'")
        self._changed()
        return [each for each, _ in fitting], refused

    def unpack(self, names: Sequence[str], original: bool) -> tuple[list[Any], list[Json]]:
        """Write the packed files of these images, fonts and sounds, or of all, to the folders
        textures, fonts and sounds beside the open file, or with ``original`` to where they came
        from. A file that is there is used if it has the same content, and never replaced. Return as
        :meth:`pack` does."""
        if not original and not bpy.data.filepath:
            raise HostError("save this file first: unpacked files go to folders beside it")
        chosen = [(kind, each) for kind, each in _naming(names) if _packed(each)]
        several = [each for _, each in chosen if len(getattr(each, "packed_files", ())) > 1]
        refused = [
            {"name": each.name_full, "path": each.filepath, "why": "it has several packed tiles"}
            for each in several
        ]
        targets = [
            (each, _place(each) if original else _beside(kind, each))
            for kind, each in chosen
            if each not in several
        ]
        if leaving := outside([place for _, place in targets], write=True):
            raise HostError(f"'{leaving[0]}' is outside of the workspace, so nothing was unpacked")
        for each, place in targets:
            if Path(place).exists() and Path(place).read_bytes() != each.packed_file.data:
                raise HostError(
                    f"'{place}' has other content than what '{each.name_full}' packs; move it away,"
                    " or choose the other place"
                )
        if targets:
            self._changes.touch()
        for each, place in targets:
            # What is there has the same content.
            does = "USE" if Path(place).exists() else "WRITE"
            try:
                each.unpack(method=f"{does}_{'ORIGINAL' if original else 'LOCAL'}")
            except RuntimeError as error:
                raise HostError(f"Blender can't unpack '{each.name_full}': {error}") from None
            if _packed(each) or not Path(_place(each)).exists():
                raise HostError(f"Blender didn't unpack '{each.name_full}'")
        self._changed()
        return [each for each, _ in targets], refused

    def set_paths(self, relative: bool) -> tuple[list[Json], list[Json]]:
        """Make all paths of the open file relative to its folder, or absolute. Return ``{name, was,
        now}`` for each path that changed, and ``{name, path}`` for each that isn't so."""
        if not bpy.data.filepath:
            raise HostError("save this file first: a path is relative to its folder")
        before = _paths()
        self._changes.touch()
        run = bpy.ops.file.make_paths_relative if relative else bpy.ops.file.make_paths_absolute
        try:
            run()
        except RuntimeError as error:
            raise HostError(f"Blender can't change the paths: {error}") from None
        after = _paths()
        self._changed()
        changed = [
            {"name": name, "was": before[key], "now": now}
            for key, now in after.items()
            if (name := key[1]) is not None and before.get(key) != now
        ]
        left = [
            {"name": key[1], "path": now}
            for key, now in after.items()
            if now.startswith("//") is not relative
        ]
        return changed, left

    def _changed(self) -> None:
        view_layer().update()
        forget()


def _naming(names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield these images, fonts and sounds with their kinds, or all of them. Raises HostError when
    a name fits none."""
    there = [
        (kind, each)
        for kind in _FOLDERS
        for each in getattr(bpy.data, kind)
        if each.library is None
        and each.filepath
        and not each.filepath.startswith("<")
        and getattr(each, "source", "FILE") != "GENERATED"
    ]
    for name in names:
        if not any(fnmatchcase(each.name, name) for _, each in there):
            known = ", ".join(each.name for _, each in there[:20]) or "none"
            raise HostError(f"no image, font or sound with a file is named '{name}'; {known}")
    fits = names or ["*"]
    return (pair for pair in there if any(fnmatchcase(pair[1].name, name) for name in fits))


def _packed(each: Any) -> bool:
    return each.packed_file is not None


def _place(each: Any) -> str:
    return str(os.path.normpath(bpy.path.abspath(each.filepath)))


def _beside(kind: str, each: Any) -> str:
    name = Path(each.filepath.replace("\\", "/")).name or each.name
    return str(os.path.normpath(bpy.path.abspath(f"//{_FOLDERS[kind]}/{name}")))


def _why_not(each: Any, place: str) -> str | None:
    """Return why the file can't be packed, or None."""
    source = getattr(each, "source", "FILE")
    if source in ("SEQUENCE", "MOVIE"):
        return f"Blender can't pack a {source.lower()}"
    if source != "TILED" and not Path(place).is_file():
        return "the file is missing"
    return None


def _paths() -> dict[tuple[str, str], str]:
    return {
        (kind, each.name_full): each.filepath
        for kind in NAMING
        for each in getattr(bpy.data, kind)
        if each.library is None
        and each.filepath
        and not each.filepath.startswith("<")
        # The library that a library is linked from keeps the path.
        and getattr(each, "parent", None) is None
    }
