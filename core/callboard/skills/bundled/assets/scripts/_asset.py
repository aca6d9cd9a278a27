"""An asset from any source, and the ``asset.json`` that describes it."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callboard.content import Json, json_object
from callboard.errors import HostError
from callboard.skill import SUFFIXES

MANIFEST = "asset.json"
KINDS = ("model", "textures", "hdri")
MODELS = frozenset(suffix for suffixes in SUFFIXES.values() for suffix in suffixes)
PICTURES = frozenset({".png", ".jpg", ".jpeg", ".exr", ".tif", ".tiff", ".webp", ".tga"})
HDRIS = frozenset({".hdr", ".exr"})
PREVIEWS = frozenset({".png", ".jpg", ".jpeg", ".webp"})
#: The words in file names that identify each map of a material. They precede the resolution.
MAPS: Mapping[str, tuple[str, ...]] = {
    "color": ("diff", "diffuse", "albedo", "basecolor", "base_color", "col", "color", "colour"),
    "normal": ("nor_gl", "normalgl", "normal_gl", "normal_opengl", "normal", "nor", "nrm"),
    "normal_dx": ("nor_dx", "normaldx", "normal_dx", "normal_directx"),
    "roughness": ("rough", "roughness"),
    "metalness": ("metal", "metalness", "metallic"),
    "arm": ("arm", "orm"),
    "opacity": ("opacity", "alpha"),
    "emission": ("emission", "emissive"),
    "specular": ("spec", "specular"),
    "ao": ("ao", "ambientocclusion", "occlusion"),
    "displacement": ("disp", "displacement", "height"),
}
_MOST_MANIFEST = 256 * 1024
#: The largest number accepted, because JSON's whole numbers have no limit.
_LARGEST = sys.float_info.max
#: Characters with a special meaning in some application's paths.
_ODD = re.compile(r"[\x00-\x1f\x7f\\$<>%*?\"|:#~`]|^[.\s]|[.\s]$")


@dataclass(frozen=True)
class Asset:
    """One asset. ``files`` are relative to ``folder``: ``model``, ``hdri``, or the maps by their
    names in ``MAPS``. ``size`` is in meters. None and empty strings mean unknown."""

    id: str
    name: str
    kind: str
    provider: str
    folder: Path
    files: Mapping[str, str]
    licence: str | None = None
    author: str | None = None
    source: str | None = None
    tags: tuple[str, ...] = ()
    size: tuple[float, ...] | None = None
    meters_per_unit: float | None = None
    up_axis: str | None = None
    preview: str | None = None

    def as_json(self) -> Json:
        """Return the asset as tools report it."""
        return {
            "id": self.id,
            "name": self.name,
            "kind": self.kind,
            "provider": self.provider,
            "licence": self.licence,
            "author": self.author,
            "source": self.source,
            "tags": [*self.tags],
            "size": None if self.size is None else [*self.size],
            "meters_per_unit": self.meters_per_unit,
            "up_axis": self.up_axis,
        }

    def path(self, key: str) -> Path:
        """Return the path of ``files[key]`` without resolving links. Raises HostError if the file
        is missing or outside the asset's folder."""
        return inside(self.folder, self.files[key])

    def matches(self, words: str) -> bool:
        reported = " ".join((self.id, self.name, self.author or "", *self.tags)).lower()
        return all(word in reported for word in words.lower().split())


def plain(name: str) -> bool:
    """Return whether every application treats this file or folder name literally."""
    return 0 < len(name) <= 255 and not _ODD.search(name)


def inside(folder: Path, name: str) -> Path:
    """Return the path of an existing file without resolving links. Raises HostError if the file is
    outside the folder once links are followed."""
    parts = name.split("/")
    if not all(map(plain, parts)):
        raise HostError(f"rename '{name[:200]}': some applications treat its characters specially")
    path = folder.joinpath(*parts)
    if not path.resolve().is_relative_to(folder.resolve()):
        raise HostError(f"'{name[:200]}' leads out of its folder")
    if not path.is_file():
        raise HostError(f"there is no file '{name[:200]}'")
    return path


def read_manifest(file: Path, id: str, provider: str = "folder") -> Asset:
    """Return the asset that ``asset.json`` describes. Raises HostError for a mistake in it."""
    try:
        with inside(file.parent, file.name).open("rb") as stream:
            data = stream.read(_MOST_MANIFEST + 1)
    except (OSError, ValueError):
        data = b""
    manifest = json_object(data) if len(data) <= _MOST_MANIFEST else None
    if manifest is None:
        raise HostError(f"'{id}': its {MANIFEST} can't be read as a JSON object")
    kind = manifest.get("kind")
    if kind not in KINDS:
        raise HostError(f"'{id}': kind must be one of {', '.join(KINDS)} in its {MANIFEST}")
    files = _files(manifest, kind)
    for name in files.values():
        _require(inside(file.parent, name), kind, id)
    preview = text(manifest, "preview")
    return Asset(
        id=id,
        name=text(manifest, "name") or id.rsplit("/", 1)[-1],
        kind=kind,
        provider=text(manifest, "provider") or provider,
        folder=file.parent,
        files=files,
        licence=text(manifest, "licence"),
        author=text(manifest, "author"),
        source=text(manifest, "source"),
        tags=tuple(tag[:100] for tag in _list(manifest, "tags") if isinstance(tag, str))[:50],
        size=numbers(manifest, "size"),
        meters_per_unit=next(iter(numbers(manifest, "meters_per_unit") or ()), None),
        up_axis=manifest["up_axis"] if manifest.get("up_axis") in ("Y", "Z") else None,
        preview=preview if preview and preview.count("/") < 8 else None,
    )


def _files(manifest: Json, kind: str) -> dict[str, str]:
    if kind != "textures":
        name = manifest.get(kind)
        if not isinstance(name, str):
            raise HostError(
                f"{MANIFEST} must name the file under '{kind}', because its kind is '{kind}'"
            )
        return {kind: name}
    maps = manifest.get("maps")
    if not isinstance(maps, dict) or not maps:
        raise HostError(
            f"{MANIFEST} must name the files under 'maps', because its kind is 'textures'"
        )
    known = {key: name for key, name in maps.items() if key in MAPS and isinstance(name, str)}
    if len(known) != len(maps):
        raise HostError(
            f"'maps' in {MANIFEST} must hold file names, each under one of {', '.join(MAPS)}"
        )
    return known


def _require(path: Path, kind: str, id: str) -> None:
    suffixes = {"model": MODELS, "textures": PICTURES, "hdri": HDRIS}[kind]
    if path.suffix.lower() not in suffixes:
        raise HostError(f"'{id}': '{path.name}' doesn't have a suffix for the kind {kind}")


def text(manifest: Json, key: str) -> str | None:
    """Return the string under ``key``, or None if there isn't one."""
    value = manifest.get(key)
    return value[:500] if isinstance(value, str) and value.strip() else None


def _list(manifest: Json, key: str) -> list[Any]:
    value = manifest.get(key)
    return value if isinstance(value, list) else []


def numbers(manifest: Json, key: str) -> tuple[float, ...] | None:
    """Return the one to three numbers above zero under ``key``, or None for anything else."""
    value = manifest.get(key)
    values = value if isinstance(value, list) else [value]
    right = 0 < len(values) <= 3 and all(
        isinstance(one, (int, float)) and not isinstance(one, bool) and 0 < one <= _LARGEST
        for one in values
    )
    return tuple(map(float, values)) if right else None
