"""Reads the list of assets, and each asset's files, from Poly Haven's public API. Runs off the main
thread.

The server's answers aren't trusted, so every text, number, name and address in them is checked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import quote

from callboard.content import Json, json_object
from callboard.errors import HostError
from callboard.skill import SUFFIXES

from ._asset import HDRIS, PICTURES, Asset, numbers, plain, text

PROVIDER = "poly_haven"
CREDIT = "Powered by Poly Haven"
_API = "https://api.polyhaven.com"
_TYPES = {"hdri": "hdris", "textures": "textures", "model": "models"}
_KINDS = ("hdri", "textures", "model")
#: Our maps and Poly Haven's names for them. The first name that exists is used.
_MAPS = {
    "color": ("diffuse", "diff", "albedo", "color", "col_01", "col_1", "col1"),
    "normal": ("nor_gl",),
    "roughness": ("rough", "roughness"),
    "metalness": ("metal", "metallic", "metalness"),
    "opacity": ("opacity", "alpha", "mask"),
    "emission": ("emission", "emissive"),
}
_FORMATS = ("jpg", "png", "exr")
_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
#: Maximum number of bytes in a list and in a preview, maximum number of files of one asset, and
#: seconds until a list is outdated.
_MOST_JSON, MOST_PREVIEW, _MOST_FILES, _NEW = 32_000_000, 4_000_000, 300, 600.0
_lists: dict[str, tuple[float, Json]] = {}


@dataclass(frozen=True)
class Remote:
    """One file to fetch. ``name`` is relative to the asset's future folder."""

    name: str
    url: str
    size: int
    md5: str


def offered(port: Any, kind: str | None) -> list[Asset]:
    """Return all assets of one kind, or of every kind if ``kind`` is None."""
    assets: list[Asset] = []
    for one in _KINDS if kind is None else (kind,):
        listed = _list(port, _TYPES[one])
        each = (_asset(id, entry) for id, entry in listed.items())
        assets += [asset for asset in each if asset is not None and asset.kind == one]
    return assets


def info(port: Any, id: str) -> tuple[Asset, str | None]:
    """Return one asset, and the address of its preview. Raises HostError."""
    if not _ID.fullmatch(id):
        raise HostError(f"'{id[:100]}' isn't a Poly Haven id; assets__search_online lists them")
    entry = _json(port, f"{_API}/info/{id}")
    asset = _asset(id, entry)
    if asset is None:
        raise HostError(f"Poly Haven has no usable description of '{id}'")
    return asset, text(entry, "thumbnail_url")


def files_of(
    port: Any, asset: Asset, resolution: str, format: str
) -> tuple[dict[str, str], list[Remote]]:
    """Return the asset's files by purpose, and all files to fetch. ``format`` is for models. Raises
    HostError."""
    tree = _json(port, f"{_API}/files/{asset.id}")
    if asset.kind == "hdri":
        return _hdri(tree, resolution)
    if asset.kind == "model":
        return _model(tree, resolution, format)
    return _textures(tree, resolution)


def _hdri(tree: Json, resolution: str) -> tuple[dict[str, str], list[Remote]]:
    formats = _at(_resolutions(tree, "hdri"), resolution, "this asset")
    for format in ("hdr", "exr"):
        if format in formats:
            remote = _remote(formats[format], None, HDRIS)
            return {"hdri": remote.name}, [remote]
    raise HostError("Poly Haven has no HDR or EXR of this asset")


def _textures(tree: Json, resolution: str) -> tuple[dict[str, str], list[Remote]]:
    by_name = {str(name).lower(): name for name in tree}
    chosen = {
        ours: by_name[theirs[0]]
        for ours, names in _MAPS.items()
        if (theirs := [name for name in names if name in by_name])
    }
    if "arm" in by_name and not {"roughness", "metalness"} & {*chosen}:
        chosen["arm"] = by_name["arm"]
    remotes = {}
    for ours, name in chosen.items():
        formats = _at(_resolutions(tree, name), resolution, f"this asset's map {name}")
        format = next((one for one in _FORMATS if one in formats), None)
        if format is not None:
            remotes[ours] = _remote(formats[format], None, PICTURES)
    if not remotes:
        raise HostError("Poly Haven has no maps of this asset that a material can use")
    return {ours: one.name for ours, one in remotes.items()}, [*remotes.values()]


def _model(tree: Json, resolution: str, format: str) -> tuple[dict[str, str], list[Remote]]:
    entry = _at(_resolutions(tree, format), resolution, f"this asset as {format}").get(format)
    model = _remote(entry, None, frozenset(SUFFIXES[format]))
    included = entry.get("include") if isinstance(entry, dict) else None
    allowed = PICTURES | {".bin"}
    others = [
        _remote(each, name, allowed) for name, each in _mapping(included, "its files").items()
    ]
    return {"model": model.name}, [model, *others]


def _resolutions(tree: Json, name: str) -> Json:
    if name not in tree:
        raise HostError(f"Poly Haven has no '{name}' of this asset")
    return _mapping(tree[name], name)


def _at(resolutions: Json, resolution: str, what: str) -> Json:
    if resolution not in resolutions:
        there = ", ".join(str(one)[:20] for one in [*resolutions][:20])
        raise HostError(f"Poly Haven has {what} in {there}, not in {resolution}")
    return _mapping(resolutions[resolution], resolution)


def _mapping(value: object, what: str) -> Json:
    if value is None:
        return {}
    if not isinstance(value, dict) or len(value) > _MOST_FILES:
        raise HostError(f"Poly Haven's answer about {what[:100]} can't be read")
    return value


def _remote(entry: object, name: str | None, suffixes: frozenset[str]) -> Remote:
    """Return a file that may be written below a folder, with a name that can't lead out of it."""
    url = entry.get("url") if isinstance(entry, dict) else None
    size, md5 = (entry.get(key) if isinstance(entry, dict) else None for key in ("size", "md5"))
    right = (
        isinstance(url, str)
        and isinstance(size, int)
        and not isinstance(size, bool)
        and size > 0
        and isinstance(md5, str)
        and re.fullmatch(r"[0-9a-fA-F]{32}", md5)
    )
    if not right or not isinstance(url, str) or not isinstance(size, int):
        raise HostError("Poly Haven didn't give a valid address, size and MD5 for one of its files")
    own = name if name is not None else url.partition("?")[0].rsplit("/", 1)[-1]
    parts = own.split("/") if isinstance(own, str) else []
    if not 0 < len(parts) <= 4 or not all(map(plain, parts)) or not own.isascii():
        raise HostError(f"Poly Haven lists a file with an unsafe name: '{str(own)[:100]}'")
    if Path(own).suffix.lower() not in suffixes:
        raise HostError(
            f"Poly Haven lists a file of a kind that doesn't belong to the asset: '{own}'"
        )
    return Remote(own, url, size, str(md5).lower())


def _asset(id: object, entry: object) -> Asset | None:
    """Return the asset that the API describes, or None if the description isn't valid."""
    if not isinstance(id, str) or not _ID.fullmatch(id) or not isinstance(entry, dict):
        return None
    number = entry.get("type")
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(_KINDS):
        return None
    kind = _KINDS[number]
    authors = entry.get("authors")
    words = [entry.get(key) for key in ("tags", "categories")]
    tags = [one[:100] for each in words if isinstance(each, list) for one in each if _is_text(one)]
    size = numbers(entry, "dimensions")
    names = [one for one in authors if _is_text(one)] if isinstance(authors, Mapping) else []
    return Asset(
        id=id,
        name=text(entry, "name") or id,
        kind=kind,
        provider=PROVIDER,
        folder=Path(),
        files={},
        licence="CC0",
        author=", ".join(names)[:500] or None,
        source=f"https://polyhaven.com/a/{quote(id)}",
        tags=tuple(dict.fromkeys(tags))[:50],
        size=None if size is None else tuple(millimetres / 1000 for millimetres in size),
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 200


def _list(port: Any, type: str) -> Json:
    made, listed = _lists.get(type, (0.0, {}))
    if not listed or monotonic() - made > _NEW:
        listed = _json(port, f"{_API}/assets?type={type}")
        _lists[type] = (monotonic(), listed)
    return listed


def _json(port: Any, url: str) -> Json:
    value = json_object(b"".join(port.fetch(url, _MOST_JSON)))
    if value is None:
        raise HostError("Poly Haven's answer can't be read as a JSON object")
    return value
