"""The tools of the ``exchange`` skill. Paths arrive resolved and checked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from callboard.content import Json
from callboard.errors import HostError, WrongArgument
from callboard.skill import (
    SHOWN,
    WITH_UVS,
    Axes,
    FileFormat,
    asked_axes,
    axes_as_json,
    format_json,
    format_of,
    import_checked,
)

#: Maximum number of names that an error lists.
NAMED = 5


def formats(ctx: Any) -> Json:
    return {"formats": [format_json(each) for each in ctx.port("exchange").formats()]}


def import_file(
    ctx: Any,
    path: str,
    parent: str | None = None,
    meters_per_unit: float | None = None,
    up_axis: str | None = None,
) -> Json:
    port, reader = ctx.port("exchange"), ctx.port("scene.read")
    ctx.port("scene.mutate")
    return import_checked(port, reader, path, parent, meters_per_unit, up_axis)


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
    axes = asked_axes(kind, meters_per_unit, up_axis)
    if kind.fixed and axes is not None:
        _refuse_others(kind, axes)
    wanted = None if objects is None else [reader.get(each)["path"] for each in objects]
    missing = port.without_uvs(wanted) if kind.name in WITH_UVS else {}
    textured = [name for name, texture in missing.items() if texture]
    if textured and not allow_missing_uvs:
        more = f" and {len(textured) - NAMED} more" if len(textured) > NAMED else ""
        raise HostError(
            "these meshes have textures but no UVs, so the textures would be lost:"
            f" {', '.join(textured[:NAMED])}{more}. Nothing was written. Unwrap them, with"
            " geometry__unwrap if that is offered, or pass allow_missing_uvs: true."
        )
    files, counted = port.export_file(path, wanted, axes)
    sizes = [Path(each).stat().st_size if Path(each).is_file() else 0 for each in files]
    if files[:1] != [path] or not all(sizes):
        raise HostError(f"'{Path(path).name}' was not written as requested")
    return {
        "path": path,
        "format": kind.name,
        "bytes": sum(sizes),
        "files": files,
        **axes_as_json(counted),
        **({"without_uvs": [*missing][:SHOWN]} if missing else {}),
        "verified": True,
    }


def _refuse_others(kind: FileFormat, axes: Axes) -> None:
    if (axes.meters_per_unit, axes.up_axis) != (kind.meters_per_unit, kind.up_axis):
        raise WrongArgument(
            f"a {kind.name} file written here always has {kind.meters_per_unit:g} meters per unit "
            f"and {kind.up_axis} up; leave meters_per_unit and up_axis out"
        )
