"""The ``file`` port: the contents of stages and the files that their layers name."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator, Iterator
from heapq import nlargest
from pathlib import Path
from typing import Any

from pxr import Ar, Sdf, Tf, Usd, UsdGeom, UsdLux, UsdShade, UsdSkel

from callboard.host import Json, NamedFile, of_many, outside
from callboard_openusd.application.document import Document
from callboard_openusd.parts.transforms import TIME
from callboard_openusd.ports.files import read_layer
from callboard_openusd.ports.usd import open_file

#: Maximum number of objects that an overview names as the heaviest.
_MOST_HEAVY = 10
#: Number of prims read between two pauses.
_STRETCH = 100
_KINDS = {
    "image": (".png", ".jpg", ".jpeg", ".exr", ".hdr", ".tif", ".tiff", ".tx", ".tga", ".webp"),
    "sound": (".wav", ".mp3", ".ogg", ".m4a", ".flac"),
    "cache": (".abc",),
    "volume": (".vdb",),
    "font": (".ttf", ".otf"),
}
_ASSETS = (Sdf.ValueTypeNames.Asset, Sdf.ValueTypeNames.AssetArray)
#: A path that a layer names, its kind, and the path of the prim that names it.
_Named = tuple[str, str, str]


class UsdFile:
    def __init__(self, document: Document) -> None:
        self._document = document

    def overview(self, path: str | None) -> Generator[None, None, Json]:
        stage = self._document.stage if path is None else open_file(path)
        facts = yield from _counted(stage)
        start, end = stage.GetStartTimeCode(), stage.GetEndTimeCode()
        default = stage.GetDefaultPrim()
        return {
            "file": path or self._document.opened.file,
            "version": f"OpenUSD {stage.GetRootLayer().GetFileFormat().formatId}",
            "scenes": [
                {
                    "name": default.GetName() if default else "",
                    "frame_range": [start, end] if stage.HasAuthoredTimeCodeRange() else None,
                    "fps": stage.GetTimeCodesPerSecond(),
                    "units_per_meter": 1 / UsdGeom.GetStageMetersPerUnit(stage),
                    "up_axis": str(UsdGeom.GetStageUpAxis(stage)),
                    "color_configuration": stage.GetColorConfiguration().path,
                }
            ],
            **facts,
        }

    def references(self, path: str | None) -> Generator[None, None, list[NamedFile]]:
        if path is None:
            opened = self._document.opened
            return (yield from _named(opened.layer, opened.folder))
        with read_layer(path) as layer:
            return (yield from _named(layer, Path(path).parent))

    def autosaves(self) -> list[str]:
        """Return an empty list, because OpenUSD doesn't autosave."""
        return []


def _counted(stage: Usd.Stage) -> Generator[None, None, Json]:
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    purposes: Counter[str] = Counter()
    faces: dict[str, int] = {}
    number = 0
    for path in _paths(stage):
        prim = stage.GetPrimAtPath(path)
        if not prim:  # removed meanwhile
            continue
        counts[prim.GetTypeName() or "untyped"] += 1
        kinds.update(_kinds_of(prim))
        if (own := UsdGeom.Imageable(prim)) and own.GetPurposeAttr().HasAuthoredValue():
            purposes[str(own.GetPurposeAttr().Get(TIME))] += 1
        if prim.IsA(UsdGeom.Mesh):
            faces[str(path)] = len(UsdGeom.Mesh(prim).GetFaceVertexCountsAttr().Get(TIME) or ())
        number += 1
        if number % _STRETCH == 0:
            yield
    kinds["libraries"] = len([one for one in stage.GetUsedLayers() if not one.anonymous]) - 1
    heaviest = nlargest(_MOST_HEAVY, faces.items(), key=lambda pair: pair[1])
    return {
        "counts": dict(sorted(counts.items())),
        "types": dict(sorted(counts.items())),
        "kinds": {kind: count for kind, count in sorted(kinds.items()) if count > 0},
        "purposes": dict(sorted(purposes.items())),
        "heaviest": [{"name": name, "faces": count} for name, count in heaviest],
    }


def _paths(stage: Usd.Stage) -> Iterator[Sdf.Path]:
    """Yield every prim's path, parents first. Only paths are kept during a pause."""
    waiting = [Sdf.Path.absoluteRootPath]
    while waiting:
        path = waiting.pop()
        prim = stage.GetPrimAtPath(path)
        if prim:
            waiting += [each.GetPath() for each in reversed(prim.GetAllChildren())]
            if path != Sdf.Path.absoluteRootPath:
                yield path


def _kinds_of(prim: Usd.Prim) -> Iterator[str]:
    for schema, kind in (
        (UsdGeom.Gprim, "meshes"),
        (UsdGeom.Camera, "cameras"),
        (UsdShade.Material, "materials"),
        (UsdSkel.Root, "rigs"),
        (UsdSkel.Animation, "animations"),
    ):
        if prim.IsA(schema):
            yield kind
    if prim.HasAPI(UsdLux.LightAPI):
        yield "lights"
    if prim.HasVariantSets():
        yield "variants"
    if prim.HasPayload():
        yield "payloads"
    if prim.IsA(UsdGeom.Xformable) and UsdGeom.Xformable(prim).TransformMightBeTimeVarying():
        yield "animations"


def _named(root: Sdf.Layer, folder: Path | None) -> Generator[None, None, list[NamedFile]]:
    """Return the files that the layer names, and the files named by the layers that it is composed
    of."""
    reported: list[NamedFile] = []
    seen = {root.realPath}
    waiting: list[tuple[Sdf.Layer, Path | None, str]] = [(root, folder, "")]
    while waiting:
        layer, base, named_in = waiting.pop(0)
        named: dict[tuple[str, str], list[str]] = {}
        for number, (path, kind, user) in enumerate(_in_layer(layer)):
            if path:
                named.setdefault((path, kind), []).append(user)
            if number % _STRETCH == 0:
                yield
        for (path, kind), users in named.items():
            place = _place(path, base)
            state = _state(path, place)
            absolute = Path(path).is_absolute() or "://" in path
            unique = tuple(sorted(set(filter(None, users))))
            reported.append(NamedFile(path, place, kind, state, absolute, unique, named_in))
            composed = kind in ("sublayer", "reference", "payload") and state == "found"
            if composed and place not in seen and not outside([place]):
                seen.add(place)
                if (opened := _opened(place)) is not None:
                    waiting.append((opened, Path(place).parent, place))
    return reported


def _in_layer(layer: Sdf.Layer) -> Iterator[_Named]:
    """Yield each path with its kind and the prim that names it. Also yield an empty path for each
    prim, so that the caller can pause."""
    for path in layer.subLayerPaths:
        yield path, "sublayer", ""
    waiting = [each.path for each in layer.rootPrims]
    while waiting:
        prim = layer.GetPrimAtPath(waiting.pop())
        if prim is None:  # removed meanwhile
            continue
        yield "", "", ""
        yield from _in_prim(prim)
        waiting += [each.path for each in prim.nameChildren]
        for variants in prim.variantSets.values():
            waiting += [variant.primSpec.path for variant in variants.variants.values()]


def _in_prim(prim: Sdf.PrimSpec) -> Iterator[_Named]:
    place = str(prim.path.StripAllVariantSelections())
    for listed, kind in ((prim.referenceList, "reference"), (prim.payloadList, "payload")):
        for each in listed.GetAddedOrExplicitItems():
            yield each.assetPath, kind, place
    for attribute in prim.attributes:
        if attribute.typeName in _ASSETS:
            values = [attribute.default]
            times = attribute.layer.ListTimeSamplesForPath(attribute.path)
            values += [attribute.layer.QueryTimeSample(attribute.path, time) for time in times]
            for path in _asset_paths(values):
                yield path, _kind(path), place


def _asset_paths(values: list[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, Sdf.AssetPath):
            yield value.path
        elif isinstance(value, Sdf.AssetPathArray):
            yield from (each.path for each in value)


def _kind(path: str) -> str:
    suffix = Path(path).suffix.lower()
    return next((kind for kind, suffixes in _KINDS.items() if suffix in suffixes), "file")


def _place(path: str, folder: Path | None) -> str:
    outer = path.split("[", 1)[0]
    if "://" in outer or folder is None:
        return outer
    return os.path.normpath(folder / outer)


def _state(path: str, place: str) -> str:
    if any(Path(each).exists() for each in of_many(place)):
        return "found"
    searched = not path.startswith(("./", "../")) and Ar.GetResolver().Resolve(path)
    return "found" if searched else "missing"


def _opened(place: str) -> Sdf.Layer | None:
    try:
        return Sdf.Layer.FindOrOpen(place)
    except Tf.ErrorException:
        return None
