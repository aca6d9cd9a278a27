"""The tools of the skill ``exchange``. Paths arrive resolved and checked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from callboard.content import Json
from callboard.errors import HostError
from callboard.hosting.exchange_files import check_file
from callboard.hosting.exchanging import UNTOLD, WITH_UVS, Axes, FileFormat, format_of, told

#: Names that an answer and an error list; counts are complete.
LISTED, SHOWN, NAMED = 200, 50, 5


def formats(ctx: Any) -> Json:
    return {"formats": [told(each) for each in ctx.port("exchange").formats()]}


def import_file(
    ctx: Any,
    path: str,
    parent: str | None = None,
    meters_per_unit: float | None = None,
    up_axis: str | None = None,
) -> Json:
    port, reader = ctx.port("exchange"), ctx.port("scene.read")
    ctx.port("scene.mutate")
    kind = format_of(path, port.formats(), write=False)
    axes = _axes(kind, meters_per_unit, up_axis)
    above = None if parent is None else reader.get(parent)["path"]
    if kind.name != "usd":  # whose port checks more than that
        check_file(path)
    before = set(reader.names())
    counted = port.import_file(path, above, axes)
    created = [each for each in reader.names() if each not in before]
    if not created:
        raise HostError(f"'{Path(path).name}' holds no objects; nothing was imported")
    entries = [reader.get(each) for each in created[:LISTED]]
    if above is not None and not any(reader.get(each)["parent"] == above for each in created):
        raise HostError(f"nothing of it is below '{parent}'. The change was taken back.")
    lacking = list(port.without_uvs(created)) if kind.name in WITH_UVS else []
    doubt = next((each["doubt"] for each in entries if each.get("doubt")), None)
    return {
        "path": path,
        "format": kind.name,
        "changed": [],
        "created": created[:LISTED],
        "created_count": len(created),
        **_counting(counted),
        **({} if counted.told else {"assumed": True}),
        **({"without_uvs": lacking[:SHOWN]} if lacking else {}),
        "verified": doubt is None,
        **({} if doubt is None else {"doubt": doubt}),
    }


def export_file(
    ctx: Any,
    path: str,
    objects: Sequence[str] | None = None,
    meters_per_unit: float | None = None,
    up_axis: str | None = None,
    allow_missing_uvs: bool = False,
) -> Json:
    port, reader = ctx.port("exchange"), ctx.port("scene.read")
    ctx.port("filesystem.write")
    kind = format_of(path, port.formats(), write=True)
    axes = _axes(kind, meters_per_unit, up_axis)
    wanted = None if objects is None else [reader.get(each)["path"] for each in objects]
    lacking = port.without_uvs(wanted) if kind.name in WITH_UVS else {}
    textured = [name for name, texture in lacking.items() if texture]
    if textured and not allow_missing_uvs:
        more = f" and {len(textured) - NAMED} more" if len(textured) > NAMED else ""
        raise HostError(
            f"textures are on meshes without UVs, so they would be lost:"
            f" {', '.join(textured[:NAMED])}{more}. Nothing was written. Unwrap them, with"
            " geometry__unwrap where that is offered, or pass allow_missing_uvs: true."
        )
    files, counted = port.export_file(path, wanted, axes)
    sizes = [Path(each).stat().st_size if Path(each).is_file() else 0 for each in files]
    if files[:1] != [path] or not all(sizes):
        raise HostError(f"'{Path(path).name}' was not written as asked")
    return {
        "path": path,
        "format": kind.name,
        "bytes": sum(sizes),
        "files": files,
        **_counting(counted),
        **({"without_uvs": [*lacking][:SHOWN]} if lacking else {}),
        "verified": True,
    }


def _axes(kind: FileFormat, meters_per_unit: float | None, up_axis: str | None) -> Axes | None:
    if kind.name in UNTOLD:
        unit = kind.meters_per_unit if meters_per_unit is None else meters_per_unit
        return Axes(unit, up_axis or kind.up_axis, meters_per_unit is not None)
    if meters_per_unit is not None or up_axis is not None:
        raise ValueError(
            f"a {kind.name} file says its units and its up axis itself; leave meters_per_unit and"
            " up_axis out"
        )
    return None


def _counting(axes: Axes) -> Json:
    return {"meters_per_unit": axes.meters_per_unit, "up_axis": axes.up_axis}
