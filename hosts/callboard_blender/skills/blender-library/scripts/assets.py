"""Finds and imports the data that .blend files mark as assets. Runs on the main thread."""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import bpy

from callboard.content import Block, Image, Json, Result
from callboard.errors import HostError
from callboard.skill import Picture, encode, held_to_roots, outside, refuse_outside, shrunk
from callboard_blender.application.names import scene
from callboard_blender.ports.files import checked_blend

#: Blender's lists by asset type.
TYPES = {"object": "objects", "collection": "collections", "material": "materials"}
PROVIDER = "blender_library"
#: Maximum number of paths in an answer, files opened, and problems reported.
LISTED, _MOST_FILES, _MOST_PROBLEMS = 200, 500, 20
#: Maximum number of folders searched, each in one slice of the main thread's time.
_MOST_FOLDERS = 5000
#: Maximum number of pixels in any preview read, and on the longer side of the preview returned.
_MOST_PIXELS, _LONGEST = 1024 * 1024, 256


def list_assets(
    ctx: Any, folder: str | None = None, words: str = "", offset: int = 0, limit: int = 50
) -> Generator[None, None, Json]:
    ctx.port("filesystem.read")
    problems: list[str] = []
    assets: list[Json] = []
    for file in _files(_folders(folder), problems):
        if file is None:
            yield
            continue
        try:
            assets += _marked(file)
        except (HostError, OSError, RuntimeError) as error:
            problems.append(f"'{file.name}': {error}")
        yield
    asked = words.lower().split()
    matches = [
        one
        for one in assets
        if all(word in f"{one['name']} {one['path']}".lower() for word in asked)
    ]
    end = offset + limit
    answer: Json = {"assets": matches[offset:end], "total": len(matches)}
    if offset < end < len(matches):
        answer["next_offset"] = end
    return {**answer, "problems": problems[:_MOST_PROBLEMS]} if problems else answer


def append_asset(ctx: Any, path: str, type: str, name: str, link: bool = False) -> Result:
    ctx.port("filesystem.read")
    reader = ctx.port("scene.read")
    ctx.port("scene.mutate")
    file = checked_blend(path)
    before = set(reader.names())
    made = _load(file, TYPES[type], name, link)
    if type == "collection":
        scene().collection.children.link(made)
    elif type == "object":
        for obj in _with_parents(made):
            scene().collection.objects.link(obj)
    bpy.context.view_layer.update()
    created = [each for each in reader.names() if each not in before]
    if type == "material":
        created = [made.name_full]
    if not created:
        raise HostError(f"the {type} '{name}' from '{file.name}' added nothing to the scene")
    reported: Json = {
        "asset": _described(made, type, file),
        "changed": [],
        "created": created[:LISTED],
        "created_count": len(created),
        "verified": True,
    }
    blocks: list[Block | str] = [json.dumps(reported, ensure_ascii=False)]
    image = _preview(made)
    return Result([*blocks, image] if image is not None else blocks, reported)


def _folders(folder: str | None) -> list[str]:
    if folder is not None:
        if not Path(folder).is_dir():
            raise HostError(f"there is no folder '{Path(folder).name}' at that path")
        return [folder]
    libraries = [each.path for each in bpy.context.preferences.filepaths.asset_libraries]
    folders = [path for path in map(bpy.path.abspath, libraries) if Path(path).is_dir()]
    if held_to_roots():
        leaving = set(outside(folders))
        folders = [path for path in folders if path not in leaving]
    if not folders:
        raise HostError("Blender has no asset library that may be read here; give a folder")
    return folders


def _files(folders: list[str], problems: list[str]) -> Iterator[Path | None]:
    """Yield the .blend files, and None for each folder, even an empty one."""
    left, unseen = _MOST_FILES, _MOST_FOLDERS
    for folder in folders:
        for where, inner, names in os.walk(folder):
            yield None
            unseen -= 1
            if unseen < 0:
                problems.append(f"more than {_MOST_FOLDERS} folders; give a folder further down")
                return
            inner.sort()
            for name in sorted(names):
                if not name.lower().endswith(".blend"):
                    continue
                left -= 1
                if left < 0:
                    problems.append(f"more than {_MOST_FILES} files; give a folder further down")
                    return
                yield Path(where, name)


def _marked(file: Path) -> list[Json]:
    if held_to_roots():
        refuse_outside([str(file)], file.name, "searched")
    checked_blend(str(file))
    with bpy.data.libraries.load(str(file), link=True, assets_only=True) as (there, _):
        return [
            {"path": str(file), "type": type, "name": name, "provider": PROVIDER}
            for type, names in TYPES.items()
            for name in getattr(there, names)
        ]


def _load(file: Path, names: str, name: str, link: bool) -> Any:
    with bpy.data.libraries.load(str(file), link=link) as (there, wanted):
        held = list(getattr(there, names))
        if name in held:
            setattr(wanted, names, [name])
    if name not in held:
        shown = ", ".join(held[:5]) or "none"
        raise HostError(f"'{file.name}' has no {names[:-1]} '{name}'; it has {shown}")
    (made,) = getattr(wanted, names)
    if made is None or (made.library is not None) != link:
        raise HostError(f"Blender did not import '{name}' from '{file.name}'")
    return made


def _with_parents(obj: Any) -> Iterator[Any]:
    """Yield the object and those of its parents that were imported with it."""
    while obj is not None:
        if scene().collection.objects.get(obj.name) is not obj:
            yield obj
        obj = obj.parent


def _described(made: Any, type: str, file: Path) -> Json:
    data = made.asset_data
    own = {"author": "author", "licence": "license", "description": "description"}
    texts = {key: (getattr(data, theirs, "") or None) for key, theirs in own.items()}
    return {
        "name": made.name,
        "type": type,
        "provider": PROVIDER,
        "path": str(file),
        **texts,
        "tags": [tag.name for tag in data.tags] if data is not None else [],
    }


def _preview(made: Any) -> Image | None:
    preview = made.preview
    width, height = (0, 0) if preview is None else preview.image_size
    # Each pixel becomes four Python numbers.
    if not 0 < width * height <= _MOST_PIXELS:
        return None
    values = list(preview.image_pixels_float)
    channels = [
        bytes(round(255 * min(max(value, 0.0), 1.0)) for value in values[n::4]) for n in range(3)
    ]
    rgb = bytearray(width * height * 3)
    for n, channel in enumerate(channels):
        rgb[n::3] = channel
    stride = width * 3
    # Blender's rows begin at the bottom.
    rows = [bytes(rgb[at : at + stride]) for at in range(0, len(rgb), stride)]
    return Image(encode(shrunk(Picture(width, height, b"".join(reversed(rows))), _LONGEST)))
